// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: from the information unit to the target core, and the end of each.
 *
 * Copyright the ib_srpt authors
 *
 * A request context is taken from the channel's free list when a request is handled and returns
 * to it when nobody needs it any more; in between it holds a reference to the channel. Who ends
 * it depends on whether the target core knows it:
 *
 * - a command or task management function in the core has two references (SCF_ACK_KREF): the
 *   core drops one when it is done (srpt_check_stop_free), we drop the other when the response
 *   has left (srpt_send_done), or the core does so for us when the command was aborted. The last
 *   one calls srpt_release_cmd().
 * - a request that is refused before the core sees it ends with its response.
 *
 * A request that ends without a response has its credit owed to the initiator; the next response
 * pays it, or an SRP_CRED_REQ if there is none to come.
 */
#include <linux/unaligned.h>
#include <scsi/scsi_common.h>
#include <scsi/scsi_proto.h>
#include <target/target_core_backend.h>

#include "ib_srpt.h"
#include "trace.h"

/* Contexts beyond the request limit: requests whose response is out but not completed yet. */
#define SRPT_EXTRA_CTX	32U

/**
 * srpt_alloc_send_ring - allocate the request contexts of a channel
 * @ch: channel, with its request limit and response length set
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int srpt_alloc_send_ring(struct srpt_rdma_ch *ch)
{
	struct srpt_ring_shape shape = {
		.count		= ch->req_lim + SRPT_EXTRA_CTX,
		.ctx_size	= sizeof(struct srpt_send_ioctx),
		.buf_size	= ch->rsp_len,
		.align		= L1_CACHE_BYTES,
		.dir		= DMA_TO_DEVICE,
	};
	struct srpt_send_ioctx *ctx;
	u32 i;

	ch->send_ring = srpt_alloc_ioctx_ring(ch->sdev->device, &shape);
	if (!ch->send_ring)
		return -ENOMEM;
	for (i = 0; i < shape.count; i++) {
		ctx = srpt_ring_ctx(ch->send_ring, i);
		ctx->ch = ch;
		ctx->rsp_sge.addr = ctx->ioctx.dma;
		ctx->rsp_sge.lkey = ch->sdev->pd->local_dma_lkey;
		ctx->send_cqe.done = srpt_send_done;
		INIT_WORK(&ctx->map_work, srpt_map_work);
		list_add_tail(&ctx->entry, &ch->free_ctx);
	}
	return 0;
}

/**
 * srpt_get_send_ioctx - take a request context
 * @ch: channel; its lock is held
 *
 * Context: any.
 * Return: the context, which holds a reference to the channel, or NULL if all are busy.
 */
struct srpt_send_ioctx *srpt_get_send_ioctx(struct srpt_rdma_ch *ch)
{
	struct srpt_send_ioctx *ctx;

	lockdep_assert_held(&ch->lock);
	ctx = list_first_entry_or_null(&ch->free_ctx, struct srpt_send_ioctx, entry);
	if (!ctx)
		return NULL;
	list_del(&ctx->entry);
	srpt_get_ch(ch);
	ctx->in_core = false;
	ctx->respond = false;
	atomic_set(&ctx->cmd_state, SRPT_STATE_NEW);
	return ctx;
}

/**
 * srpt_put_send_ioctx - give a request context back
 * @ctx: the context; its request is over
 *
 * Returns its receive buffer if it still has it. Without a response sent, the credit is owed.
 *
 * Context: any.
 */
void srpt_put_send_ioctx(struct srpt_send_ioctx *ctx)
{
	enum srpt_command_state last = srpt_set_cmd_state(ctx, SRPT_STATE_DONE);
	bool silent = last != SRPT_STATE_CMD_RSP_SENT && last != SRPT_STATE_MGMT_RSP_SENT &&
		      last != SRPT_STATE_OWN_REQ;
	struct srpt_rdma_ch *ch = ctx->ch;
	unsigned long flags;
	bool more, offer;

	srpt_unmap_data(ctx);
	srpt_put_data_buf(ctx);
	if (ctx->recv)
		srpt_post_recv(ch, ctx->recv);
	ctx->recv = NULL;
	spin_lock_irqsave(&ch->lock, flags);
	if (unlikely(silent)) {
		ch->owed++;
		ch->counters.silent++;
	}
	offer = ch->owed;
	list_add(&ctx->entry, &ch->free_ctx);
	more = !list_empty(&ch->parked) && ch->state == SRPT_CH_LIVE;
	spin_unlock_irqrestore(&ch->lock, flags);
	if (unlikely(more))
		queue_work(srpt_wq, &ch->parked_work);
	if (unlikely(offer))
		srpt_offer_credits(ch);
	srpt_put_ch(ch);
}

/**
 * srpt_set_cmd_state - change the state of a request
 * @ctx: its context
 * @new: new state
 *
 * Context: any.
 * Return: the state before.
 */
enum srpt_command_state srpt_set_cmd_state(struct srpt_send_ioctx *ctx,
					   enum srpt_command_state new)
{
	return atomic_xchg(&ctx->cmd_state, new);
}

/**
 * srpt_test_and_set_cmd_state - change the state of a request, if it is the expected one
 * @ctx: its context
 * @old: expected state
 * @new: new state
 *
 * Context: any.
 * Return: true if the state was @old and now is @new; false if it was another and is unchanged.
 */
bool srpt_test_and_set_cmd_state(struct srpt_send_ioctx *ctx, enum srpt_command_state old,
				 enum srpt_command_state new)
{
	return atomic_cmpxchg(&ctx->cmd_state, old, new) == old;
}

static int srpt_task_attr(u8 attr)
{
	switch (attr) {
	case 1:
		return TCM_HEAD_TAG;
	case 2:
		return TCM_ORDERED_TAG;
	case 4:
		return TCM_ACA_TAG;
	default:
		return TCM_SIMPLE_TAG;
	}
}

/*
 * A CDB that claims more bytes than came must not reach the core, which would read them; the core
 * itself takes the %SCSI_MAX_VARLEN_CDB_SIZE of SPC. Those that are not of variable length have at
 * most the 16 bytes that are always there.
 */
static bool srpt_cdb_fits(const struct srpt_iu *iu)
{
	return iu->cdb[0] != VARIABLE_LENGTH_CMD ||
	       scsi_varlen_cdb_length(iu->cdb) <= min_t(u32, iu->cdb_len, SCSI_MAX_VARLEN_CDB_SIZE);
}

/* Whether the data would go the other way than the CDB of a block device wants. */
static bool srpt_turned(u8 opcode, enum dma_data_direction dir)
{
	switch (opcode) {
	case READ_6:
	case READ_10:
	case READ_12:
	case READ_16:
		return dir == DMA_TO_DEVICE;
	case WRITE_6:
	case WRITE_10:
	case WRITE_12:
	case WRITE_16:
	case WRITE_VERIFY:
	case WRITE_VERIFY_12:
	case WRITE_VERIFY_16:
	case COMPARE_AND_WRITE:
	case UNMAP:
		return dir == DMA_FROM_DEVICE;
	case WRITE_SAME:
	case WRITE_SAME_16:
		return dir != DMA_TO_DEVICE;
	default:
		return false;
	}
}

/*
 * Whether a command that the core has parsed must not be carried out. Where the core itself is the
 * device it goes by the direction of the data: it would have a READ write to the medium, past
 * reservations, and a WRITE SAME without data-out write where the initiator may only read.
 */
static bool srpt_wrong_way(const struct se_cmd *cmd)
{
	return srpt_turned(cmd->t_task_cdb[0], cmd->data_direction) &&
	       !(cmd->se_dev->transport_flags & TRANSPORT_FLAG_PASSTHROUGH);
}

static void srpt_refuse_field(struct srpt_send_ioctx *ctx, const char *error)
{
	ctx->iu.asc = SRPT_ASC_IU_INVALID_FIELD;
	ctx->iu.error = error;
	srpt_refuse_iu(ctx);
}

/**
 * srpt_get_desc_tbl - find direction and size of a command's data
 * @iu: the command
 * @dir: set to the direction as the target core sees it
 * @len: set to the size of the initiator's buffer, bytes
 *
 * No back end of the core's own has a command with data in both directions: XDWRITEREAD, the only
 * one there was, is gone from all kernels that this module is built for, and pSCSI refuses them. To
 * hand one on regardless would have the initiator sent pages that nobody filled.
 *
 * Context: any.
 * Return: 0, or -EOPNOTSUPP for data in both directions.
 */
static int srpt_get_desc_tbl(const struct srpt_iu *iu, enum dma_data_direction *dir, u32 *len)
{
	if (iu->out.kind != SRPT_BUF_NONE && iu->in.kind != SRPT_BUF_NONE)
		return -EOPNOTSUPP;
	if (iu->out.kind != SRPT_BUF_NONE) {
		*dir = DMA_TO_DEVICE;
		*len = iu->out.len;
	} else if (iu->in.kind != SRPT_BUF_NONE) {
		*dir = DMA_FROM_DEVICE;
		*len = iu->in.len;
	} else {
		*dir = DMA_NONE;
		*len = 0;
	}
	return 0;
}

/**
 * srpt_handle_cmd - hand an SRP_CMD to the target core
 * @ctx: the request, parsed and valid
 *
 * Whatever happens, a response follows (or the channel closes).
 *
 * Context: process; may sleep.
 */
static void srpt_handle_cmd(struct srpt_send_ioctx *ctx)
{
	struct se_session *sess = ctx->ch->nexus->sess;
	struct srpt_iu *iu = &ctx->iu;
	struct se_cmd *cmd = &ctx->cmd;
	enum dma_data_direction dir;
	u32 len;

	if (srpt_get_desc_tbl(iu, &dir, &len)) {
		srpt_refuse_field(ctx, "data in both directions");
		return;
	}
	if (!srpt_cdb_fits(iu)) {
		srpt_refuse_field(ctx, "CDB longer than the IU, or than the target core takes");
		return;
	}
	memset(cmd, 0, sizeof(*cmd));
	cmd->tag = get_unaligned_be64(&iu->tag);
	if (target_init_cmd(cmd, sess, ctx->sense, scsilun_to_int(&iu->lun), len,
			    srpt_task_attr(iu->task_attr), dir, TARGET_SCF_ACK_KREF)) {
		/* Its session is being shut down. */
		srpt_refuse_cmd(ctx, SAM_STAT_BUSY);
		return;
	}
	ctx->in_core = true;
	if (target_submit_prep(cmd, (u8 *)iu->cdb, NULL, 0, NULL, 0, NULL, 0, GFP_KERNEL))
		return;
	if (unlikely(srpt_wrong_way(cmd))) {
		ctx->ch->counters.bad_cmds++;
		transport_generic_request_failure(cmd, TCM_INVALID_FIELD_IN_COMMAND_IU);
		return;
	}
	srpt_give_data_buf(ctx);
	target_submit(cmd);
}

/**
 * srpt_end_bad_iu - end a channel because of an information unit that cannot be answered
 * @ch: channel
 * @iu: the information unit, with what is wrong
 *
 * Context: any.
 */
void srpt_end_bad_iu(struct srpt_rdma_ch *ch, const struct srpt_iu *iu)
{
	pr_warn_ratelimited("%s: bad information unit: %s\n", ch->name, iu->error);
	ch->counters.bad_ius++;
	srpt_end_ch(ch, "bad information unit", iu->logout);
}

/**
 * srpt_handle_new_iu - act on a request
 * @ctx: a free context for it
 * @recv: the receive buffer it came in; belongs to @ctx from here on
 *
 * Context: process; may sleep.
 */
void srpt_handle_new_iu(struct srpt_send_ioctx *ctx, struct srpt_recv_ioctx *recv)
{
	struct srpt_rdma_ch *ch = ctx->ch;
	enum srpt_iu_end end;

	ctx->recv = recv;
	srpt_note_arrival(ctx);
	end = srpt_parse_iu(recv->ioctx.buf, recv->len, &ch->rules, &ctx->iu);
	if (unlikely(end == SRPT_IU_SENSE)) {
		srpt_refuse_iu(ctx);
		return;
	}
	if (unlikely(end == SRPT_IU_DISCONNECT)) {
		srpt_end_bad_iu(ch, &ctx->iu);
		srpt_put_send_ioctx(ctx);
		return;
	}
	switch (ctx->iu.opcode) {
	case SRP_CMD:
		trace_srpt_command(ctx);
		srpt_handle_cmd(ctx);
		break;
	case SRP_TSK_MGMT:
		ch->counters.tsk_mgmt++;
		srpt_handle_tsk_mgmt(ctx);
		break;
	default:
		srpt_close_ch(ch, "initiator logged out");
		srpt_put_send_ioctx(ctx);
	}
}

/**
 * srpt_check_stop_free - the target core is done with a command
 * @cmd: the command
 *
 * Return: 1 if that was the last reference.
 */
int srpt_check_stop_free(struct se_cmd *cmd)
{
	return target_put_sess_cmd(cmd);
}

/**
 * srpt_release_cmd - the last reference to a command is gone
 * @cmd: the command
 *
 * Context: any.
 */
void srpt_release_cmd(struct se_cmd *cmd)
{
	struct srpt_send_ioctx *ctx = srpt_cmd_ctx(cmd);

	if (unlikely(ctx->task_set))
		srpt_task_set_next(ctx);
	else
		srpt_put_send_ioctx(ctx);
}

/**
 * srpt_aborted_task - the target core aborted a command and will not have it answered
 * @cmd: the command
 *
 * Nothing of it is on the wire: the core waits for RDMA reads before it gets here. What it holds
 * goes with srpt_release_cmd().
 */
void srpt_aborted_task(struct se_cmd *cmd)
{
	pr_debug("%s: command %#llx aborted\n", srpt_cmd_ctx(cmd)->ch->name, cmd->tag);
}

/**
 * srpt_get_cmd_state - state of a command, for the target core's messages
 * @cmd: the command
 *
 * Return: an enum srpt_command_state.
 */
int srpt_get_cmd_state(struct se_cmd *cmd)
{
	return atomic_read(&srpt_cmd_ctx(cmd)->cmd_state);
}
