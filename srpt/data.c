// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data: moved between the initiator's memory and the target core's pages.
 *
 * Copyright the ib_srpt authors
 *
 * A command's transfer is cut into pieces (&struct srpt_rw), each between one stretch of remote
 * memory and a list of local pages. Mostly there is one remote stretch and the core's own
 * scatterlist serves as it is. Else slices of it are made such that each piece ends where its
 * remote descriptor ends, or where a send queue would be overrun by more.
 *
 * No more than the command's real length is moved, which the core may have cut by then.
 *
 * A descriptor table that did not come with the command (or not all of it) is fetched when the data
 * is to move, and not before: the command is with the target core by then, which so has it in order
 * with the others and can abort it.
 *
 * Immediate data is already here. If it lies on a sector boundary the back end gets it in place,
 * else it is copied.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "ib_srpt.h"

/**
 * struct srpt_cutter - where the cutting of a scatterlist has got to
 * @sg: next local entry to cut from
 * @off: bytes of it that are used up
 * @left: bytes of the transfer that are not yet cut
 * @out: next free entry for slices
 */
struct srpt_cutter {
	struct scatterlist	*sg;
	u32			off;
	u32			left;
	struct scatterlist	*out;
};

/* Local entries that one piece may have without outgrowing the send queue. */
static u32 srpt_rw_limit(struct srpt_rdma_ch *ch, enum dma_data_direction dir)
{
	u32 sge = dir == DMA_TO_DEVICE ? ch->qp->max_write_sge : ch->qp->max_read_sge;

	return max(1U, ch->sq_size / 4U * max(1U, sge));
}

static u32 srpt_sg_len(struct scatterlist *sg, u32 nents)
{
	u32 len = 0;

	for (; nents; nents--, sg = sg_next(sg))
		len += sg->length;
	return len;
}

/* Cuts at most @max bytes and @limit entries; returns the number of entries, bytes in @bytes. */
static u32 srpt_cut(struct srpt_cutter *cut, u32 max, u32 limit, u32 *bytes)
{
	u32 nents = 0, len;

	*bytes = 0;
	max = min(max, cut->left);
	while (*bytes < max && nents < limit) {
		len = min(cut->sg->length - cut->off, max - *bytes);
		sg_set_page(cut->out++, sg_page(cut->sg), len, cut->sg->offset + cut->off);
		*bytes += len;
		nents++;
		cut->off += len;
		if (cut->off == cut->sg->length) {
			cut->sg = sg_next(cut->sg);
			cut->off = 0;
		}
	}
	cut->left -= *bytes;
	return nents;
}

static int srpt_init_rw(struct srpt_send_ioctx *ctx, struct srpt_rw *rw, u64 va, u32 key)
{
	struct srpt_rdma_ch *ch = ctx->ch;
	int ret;

	ret = rdma_rw_ctx_init(&rw->ctx, ch->qp, ch->sport->port, rw->sg, rw->nents, 0, va, key,
			       ctx->rw_dir);
	if (ret < 0)
		return ret;
	rw->sqe = ret;
	ctx->nr_rw++;
	return 0;
}

/* One remote stretch, in as many pieces as the send queue needs. */
static int srpt_map_desc(struct srpt_send_ioctx *ctx, struct srpt_cutter *cut,
			 const struct srp_direct_buf *desc)
{
	u32 limit = srpt_rw_limit(ctx->ch, ctx->rw_dir);
	u32 left = get_unaligned_be32(&desc->len);
	u32 key = get_unaligned_be32(&desc->key);
	u64 va = get_unaligned_be64(&desc->va);
	u32 bytes;
	int ret;

	while (left && cut->left) {
		struct srpt_rw *rw = &ctx->rw[ctx->nr_rw];

		rw->sg = cut->out;
		rw->nents = srpt_cut(cut, left, limit, &bytes);
		ret = srpt_init_rw(ctx, rw, va, key);
		if (ret)
			return ret;
		va += bytes;
		left -= bytes;
	}
	return 0;
}

static int srpt_map_slices(struct srpt_send_ioctx *ctx, const struct srpt_buf *buf, u32 len)
{
	const struct srp_direct_buf *desc = buf->desc;
	u32 nents = ctx->cmd.t_data_nents;
	u32 pieces = buf->count + nents / srpt_rw_limit(ctx->ch, ctx->rw_dir) + 1;
	struct srpt_cutter cut = { .sg = ctx->cmd.t_data_sg, .left = len };
	u32 i;
	int ret = 0;

	/* Not by kvmalloc(): these may be freed where vfree() must not be called. */
	ctx->rw = kcalloc(pieces, sizeof(*ctx->rw), GFP_KERNEL | __GFP_NOWARN);
	ctx->rw_sg = kmalloc_array(nents + pieces, sizeof(*ctx->rw_sg),
				   GFP_KERNEL | __GFP_NOWARN);
	if (!ctx->rw || !ctx->rw_sg)
		return -ENOMEM;
	sg_init_table(ctx->rw_sg, nents + pieces);
	cut.out = ctx->rw_sg;
	for (i = 0; i < buf->count && cut.left && !ret; i++)
		ret = srpt_map_desc(ctx, &cut, desc + i);
	return ret;
}

static int srpt_map_whole(struct srpt_send_ioctx *ctx, const struct srp_direct_buf *desc)
{
	ctx->rw = &ctx->one_rw;
	ctx->rw->sg = ctx->cmd.t_data_sg;
	ctx->rw->nents = ctx->cmd.t_data_nents;
	return srpt_init_rw(ctx, ctx->rw, get_unaligned_be64(&desc->va),
			    get_unaligned_be32(&desc->key));
}

/**
 * srpt_map_data - prepare the RDMA transfers of a command
 * @ctx: request, in the target core, with its pages allocated
 * @buf: the initiator's buffer
 * @dir: %DMA_TO_DEVICE to write to the initiator, %DMA_FROM_DEVICE to read from it
 *
 * Context: process; may sleep.
 * Return: 0, or a negative error; then nothing is mapped. -ENOMEM and -EAGAIN may pass.
 */
int srpt_map_data(struct srpt_send_ioctx *ctx, const struct srpt_buf *buf,
		  enum dma_data_direction dir)
{
	u32 len = min(ctx->cmd.data_length, buf->len);
	u32 nents = ctx->cmd.t_data_nents;
	int ret;

	ctx->rw_dir = dir;
	ctx->rw_len = len;
	ctx->next_rw = 0;
	if (!len)
		return 0;
	if (buf->count == 1 && nents <= srpt_rw_limit(ctx->ch, dir) &&
	    srpt_sg_len(ctx->cmd.t_data_sg, nents) == len)
		ret = srpt_map_whole(ctx, buf->desc);
	else
		ret = srpt_map_slices(ctx, buf, len);
	if (ret)
		srpt_unmap_data(ctx);
	return ret;
}

/**
 * srpt_unmap_data - undo srpt_map_data()
 * @ctx: request; one without transfers is left alone
 *
 * Context: any. None of the transfers may be under way.
 */
void srpt_unmap_data(struct srpt_send_ioctx *ctx)
{
	struct srpt_rdma_ch *ch = ctx->ch;
	u32 i;

	for (i = 0; i < ctx->nr_rw; i++)
		rdma_rw_ctx_destroy(&ctx->rw[i].ctx, ch->qp, ch->sport->port, ctx->rw[i].sg,
				    ctx->rw[i].nents, ctx->rw_dir);
	if (ctx->rw != &ctx->one_rw)
		kfree(ctx->rw);
	kfree(ctx->rw_sg);
	ctx->rw = NULL;
	ctx->rw_sg = NULL;
	ctx->nr_rw = 0;
	ctx->next_rw = 0;
	ctx->rw_len = 0;
}

/* Whether a transfer can be mapped where nothing may sleep: without any allocation. */
static bool srpt_maps_at_once(struct srpt_send_ioctx *ctx)
{
	struct srpt_rdma_ch *ch = ctx->ch;

	return ctx->iu.in.count == 1 && ctx->cmd.t_data_nents == 1 && !ch->may_use_mr &&
	       ctx->cmd.t_data_sg->length == min(ctx->cmd.data_length, ctx->iu.in.len);
}

/**
 * srpt_data_ready - see that the transfer of a completed read is mapped, without sleeping
 * @ctx: request, completed by the target core
 *
 * Mostly it was mapped before the core had the command. Not if the core allocated the pages, and
 * in vain if there are fewer data than was foreseen.
 *
 * Context: any.
 * Return: true if it is mapped; false if srpt_map_data() has to be called where it may sleep.
 */
bool srpt_data_ready(struct srpt_send_ioctx *ctx)
{
	u32 len = min(ctx->cmd.data_length, ctx->iu.in.len);

	if (ctx->nr_rw && ctx->rw_len == len)
		return true;
	srpt_unmap_data(ctx);
	if (!len)
		return true;
	return srpt_maps_at_once(ctx) && !srpt_map_data(ctx, &ctx->iu.in, DMA_TO_DEVICE);
}

/**
 * srpt_sync_data - make what the back end wrote visible to the RDMA device
 * @ctx: request with its transfer mapped, perhaps before the back end wrote
 *
 * Context: any.
 */
void srpt_sync_data(struct srpt_send_ioctx *ctx)
{
	struct ib_device *dev = ctx->ch->sdev->device;
	u32 i;

	if (ib_uses_virt_dma(dev))
		return;
	for (i = 0; i < ctx->nr_rw; i++)
		dma_sync_sg_for_device(dev->dma_device, ctx->rw[i].sg, ctx->rw[i].nents,
				       DMA_TO_DEVICE);
}

/* Immediate data can be used where it lies if all of it is wanted, at a sector boundary. */
static bool srpt_imm_in_place(const struct srpt_send_ioctx *ctx)
{
	const struct srpt_buf *out = &ctx->iu.out;

	return ctx->cmd.data_length == out->len &&
	       IS_ALIGNED((unsigned long)out->desc | out->len, SECTOR_SIZE);
}

/**
 * srpt_give_data_buf - hand the target core the data buffer of a command, where we have one
 * @ctx: request that the core has parsed and not started yet
 *
 * For medium accesses, where the core would allocate pages and not clear them: the immediate data
 * itself, or a buffer from the pool.
 *
 * Context: process; may sleep.
 */
void srpt_give_data_buf(struct srpt_send_ioctx *ctx)
{
	struct se_cmd *cmd = &ctx->cmd;
	u32 nents;

	if (!(cmd->se_cmd_flags & SCF_SCSI_DATA_CDB) || !cmd->data_length ||
	    cmd->se_cmd_flags & (SCF_COMPARE_AND_WRITE | SCF_BIDI))
		return;
	if (ctx->iu.out.kind == SRPT_BUF_IMM && srpt_imm_in_place(ctx)) {
		sg_init_one(ctx->inline_sg, ctx->iu.out.desc, ctx->iu.out.len);
		ctx->data_sg = ctx->inline_sg;
		nents = 1;
	} else {
		nents = srpt_get_data_buf(ctx, cmd->data_length);
	}
	if (!nents)
		return;
	cmd->t_data_sg = ctx->data_sg;
	cmd->t_data_nents = nents;
	cmd->se_cmd_flags |= SCF_PASSTHROUGH_SG_TO_MEM_NOALLOC;
	/* Read data are mapped ahead, since nothing may sleep where the back end completes. */
	if (ctx->iu.in.count)
		srpt_map_data(ctx, &ctx->iu.in, DMA_TO_DEVICE);
}

static void srpt_take_imm_data(struct srpt_send_ioctx *ctx)
{
	struct srpt_counters *count = &ctx->ch->counters;
	struct se_cmd *cmd = &ctx->cmd;

	count->imm_cmds++;
	count->bytes_out += ctx->iu.out.len;
	if (sg_virt(cmd->t_data_sg) != ctx->iu.out.desc)
		sg_copy_from_buffer(cmd->t_data_sg, cmd->t_data_nents, ctx->iu.out.desc,
				    min(cmd->data_length, ctx->iu.out.len));
	srpt_set_cmd_state(ctx, SRPT_STATE_DATA_IN);
	target_execute_cmd(cmd);
}

/* Maps the buffer of a write and has it read. */
static int srpt_map_and_read(struct srpt_send_ioctx *ctx)
{
	int ret = srpt_map_data(ctx, &ctx->iu.out, DMA_FROM_DEVICE);

	if (ret)
		return ret;
	srpt_set_cmd_state(ctx, SRPT_STATE_NEED_DATA);
	ctx->rdma_cqe.done = srpt_rdma_read_done;
	srpt_post_next(ctx);
	return 0;
}

/**
 * srpt_write_pending - the target core wants the data of a write
 * @cmd: the command
 *
 * Context: process; may sleep.
 * Return: 0, or a negative error; the core tries again after -ENOMEM and -EAGAIN.
 */
int srpt_write_pending(struct se_cmd *cmd)
{
	struct srpt_send_ioctx *ctx = srpt_cmd_ctx(cmd);

	if (ctx->iu.out.count)
		return srpt_map_and_read(ctx);
	if (ctx->iu.out.kind == SRPT_BUF_INDIRECT)
		return srpt_fetch_table(ctx, &ctx->iu.out);
	srpt_take_imm_data(ctx);
	return 0;
}

static void srpt_data_arrived(struct srpt_send_ioctx *ctx)
{
	ctx->ch->counters.bytes_out += ctx->rw_len;
	srpt_unmap_data(ctx);
	if (srpt_test_and_set_cmd_state(ctx, SRPT_STATE_NEED_DATA, SRPT_STATE_DATA_IN))
		target_execute_cmd(&ctx->cmd);
}

/**
 * srpt_abort_cmd - end a command whose data could not be fetched
 * @ctx: request in state %SRPT_STATE_NEED_DATA
 * @reason: what the core is to say of it
 *
 * The core completes it with a status that says so, or as aborted if it was being aborted anyway.
 *
 * Context: process.
 */
static void srpt_abort_cmd(struct srpt_send_ioctx *ctx, sense_reason_t reason)
{
	srpt_unmap_data(ctx);
	if (srpt_test_and_set_cmd_state(ctx, SRPT_STATE_NEED_DATA, SRPT_STATE_NEW))
		transport_generic_request_failure(&ctx->cmd, reason);
}

/**
 * srpt_rdma_read_done - a batch of RDMA reads completed
 * @cq: completion queue
 * @wc: the completion; the last one of the batch, or an error
 *
 * Context: process (completion work queue).
 */
void srpt_rdma_read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct srpt_send_ioctx *ctx = container_of(wc->wr_cqe, struct srpt_send_ioctx, rdma_cqe);
	struct srpt_rdma_ch *ch = ctx->ch;

	/* Afterwards the request may be gone, and the channel with it. */
	srpt_sq_return(ch, ctx->sqe);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		srpt_send_failed(ch, "RDMA read", wc->status);
		srpt_abort_cmd(ctx, TCM_CHECK_CONDITION_ABORT_CMD);
	} else if (ctx->next_rw < ctx->nr_rw) {
		srpt_post_next(ctx);
	} else {
		srpt_data_arrived(ctx);
	}
}

/* A write goes on with its descriptors at hand, or ends if they are not good. */
static void srpt_table_of_write(struct srpt_send_ioctx *ctx, enum ib_wc_status status, bool good)
{
	if (status != IB_WC_SUCCESS)
		srpt_abort_cmd(ctx, TCM_CHECK_CONDITION_ABORT_CMD);
	else if (!good)
		srpt_abort_cmd(ctx, TCM_INVALID_FIELD_IN_COMMAND_IU);
	else if (srpt_map_and_read(ctx))
		srpt_abort_cmd(ctx, TCM_OUT_OF_RESOURCES);
}

/* The same for a read, which the back end has done by then. */
static void srpt_table_of_read(struct srpt_send_ioctx *ctx, enum ib_wc_status status, bool good)
{
	if (status != IB_WC_SUCCESS) {
		srpt_refuse_cmd(ctx, SAM_STAT_BUSY);
	} else if (!good) {
		ctx->iu.asc = SRPT_ASC_IU_INVALID_FIELD;
		srpt_refuse_iu(ctx);
	} else {
		srpt_map_and_send(ctx);
	}
}

/* Makes the fetched table that of the command, if it is what it has to be. */
static bool srpt_use_table(struct srpt_send_ioctx *ctx, struct srpt_buf *buf, const void *table)
{
	if (srpt_check_table(table, buf->table_count, buf->len)) {
		ctx->iu.error = "descriptors of a table in memory do not add up";
		return false;
	}
	buf->desc = table;
	buf->count = buf->table_count;
	return true;
}

/* A descriptor table has come. It is not needed any more once the transfers are mapped. */
static void srpt_table_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct srpt_send_ioctx *ctx = container_of(wc->wr_cqe, struct srpt_send_ioctx, rdma_cqe);
	bool write = ctx->cmd.data_direction == DMA_TO_DEVICE;
	struct srpt_buf *buf = write ? &ctx->iu.out : &ctx->iu.in;
	struct srpt_rdma_ch *ch = ctx->ch;
	void *table = ctx->table;
	bool good = false;

	ctx->table = NULL;
	srpt_unmap_data(ctx);
	if (unlikely(wc->status != IB_WC_SUCCESS))
		srpt_send_failed(ch, "RDMA read of descriptors", wc->status);
	else
		good = srpt_use_table(ctx, buf, table);
	srpt_sq_return(ch, ctx->sqe);
	if (write)
		srpt_table_of_write(ctx, wc->status, good);
	else
		srpt_table_of_read(ctx, wc->status, good);
	kfree(table);
}

/* Memory for the table, and a scatterlist of one entry for it. */
static int srpt_alloc_table(struct srpt_send_ioctx *ctx, u32 len)
{
	ctx->table = kmalloc(len, GFP_KERNEL | __GFP_NOWARN);
	ctx->rw_sg = kmalloc(sizeof(*ctx->rw_sg), GFP_KERNEL | __GFP_NOWARN);
	if (!ctx->table || !ctx->rw_sg)
		return -ENOMEM;
	sg_init_one(ctx->rw_sg, ctx->table, len);
	ctx->rw = &ctx->one_rw;
	ctx->rw->sg = ctx->rw_sg;
	ctx->rw->nents = 1;
	ctx->rw_dir = DMA_FROM_DEVICE;
	return 0;
}

/**
 * srpt_fetch_table - fetch the descriptor table of a command from the initiator's memory
 * @ctx: request in the target core, which waits for its data or has it ready
 * @buf: the initiator's buffer, one without descriptors yet
 *
 * What follows happens when the table has come. SRP r16a clause 6.8.
 *
 * Context: process; may sleep.
 * Return: 0, or a negative error; then nothing is left behind. -ENOMEM and -EAGAIN may pass.
 */
int srpt_fetch_table(struct srpt_send_ioctx *ctx, const struct srpt_buf *buf)
{
	const struct srp_direct_buf *desc = &buf->table;
	int ret;

	ret = srpt_alloc_table(ctx, be32_to_cpu(desc->len));
	if (!ret)
		ret = srpt_init_rw(ctx, ctx->rw, be64_to_cpu(desc->va), be32_to_cpu(desc->key));
	if (ret) {
		srpt_unmap_data(ctx);
		kfree(ctx->table);
		ctx->table = NULL;
		return ret;
	}
	if (buf == &ctx->iu.out)
		srpt_set_cmd_state(ctx, SRPT_STATE_NEED_DATA);
	ctx->ch->counters.ext_tables++;
	ctx->rdma_cqe.done = srpt_table_done;
	srpt_post_next(ctx);
	return 0;
}
