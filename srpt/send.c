// SPDX-License-Identifier: GPL-2.0-only
/*
 * The send queue: transfers and responses, credits, and what happens when it is full.
 *
 * Copyright the ib_srpt authors
 *
 * Every work request is accounted for. A request prepares a chain of them (its RDMA transfers,
 * its response, or both in one), takes as many entries of the send queue as the chain has, or
 * waits in line until they are free; the one completion that the chain asks for gives them back.
 * A transfer that is larger than the queue goes in several chains.
 *
 * A chain that the queue pair does not take may have been posted in part, so that the device may
 * still read or write its memory. Its request waits in limbo until the queue has been drained and
 * is completed then, as if flushed.
 *
 * The few requests of our own (SRP_CRED_REQ, SRP_T_LOGOUT) borrow a request context for its buffer
 * and its work request. There is no SRP_AER_REQ among them, since the target core has no call for
 * a fabric to learn of a unit attention by: it waits for the next command and goes out as its
 * sense data. (fabric_post_link() and fabric_pre_unlink() come before an initiator's own logical
 * units change, when there is nothing to report yet.)
 *
 * Lock order: none of these locks is held while something is posted or completed.
 */
#include <scsi/scsi_common.h>
#include <scsi/scsi_proto.h>

#include "ib_srpt.h"
#include "trace.h"

/* Completes what is not, and never will be, with the device. */
static void srpt_complete_flushed(struct srpt_send_ioctx *ctx)
{
	struct ib_wc wc = { .wr_cqe = ctx->done, .status = IB_WC_WR_FLUSH_ERR };

	ctx->done->done(ctx->ch->cq, &wc);
}

static void srpt_post_failed(struct srpt_send_ioctx *ctx)
{
	struct srpt_rdma_ch *ch = ctx->ch;
	unsigned long flags;
	bool drained;

	srpt_close_ch(ch, "send could not be posted");
	spin_lock_irqsave(&ch->sq_lock, flags);
	drained = ch->drained;
	if (!drained)
		list_add_tail(&ctx->entry, &ch->limbo);
	spin_unlock_irqrestore(&ch->sq_lock, flags);
	if (drained)
		srpt_complete_flushed(ctx);
}

static void srpt_post_now(struct srpt_send_ioctx *ctx)
{
	if (unlikely(ib_post_send(ctx->ch->qp, ctx->first_wr, NULL)))
		srpt_post_failed(ctx);
}

/* Posts the prepared chain of @ctx, now or when there is room. */
static void srpt_post_chain(struct srpt_send_ioctx *ctx)
{
	struct srpt_rdma_ch *ch = ctx->ch;
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&ch->sq_lock, flags);
	room = list_empty(&ch->sq_wait) && ch->sq_avail >= (int)ctx->sqe;
	if (room) {
		ch->sq_avail -= ctx->sqe;
	} else {
		list_add_tail(&ctx->entry, &ch->sq_wait);
		ch->counters.sq_waits++;
	}
	spin_unlock_irqrestore(&ch->sq_lock, flags);
	if (room)
		srpt_post_now(ctx);
}

/* The first in line for whom there is room now, or NULL. Under ch->sq_lock. */
static struct srpt_send_ioctx *srpt_next_waiter(struct srpt_rdma_ch *ch)
{
	struct srpt_send_ioctx *ctx;

	lockdep_assert_held(&ch->sq_lock);
	ctx = list_first_entry_or_null(&ch->sq_wait, struct srpt_send_ioctx, entry);
	if (!ctx || ch->sq_avail < (int)ctx->sqe)
		return NULL;
	list_del(&ctx->entry);
	ch->sq_avail -= ctx->sqe;
	return ctx;
}

/**
 * srpt_sq_return - entries of the send queue are free again
 * @ch: channel, which the caller has a reference to
 * @count: how many
 *
 * Context: any.
 */
void srpt_sq_return(struct srpt_rdma_ch *ch, u32 count)
{
	struct srpt_send_ioctx *ctx;
	unsigned long flags;

	spin_lock_irqsave(&ch->sq_lock, flags);
	ch->sq_avail += count;
	while ((ctx = srpt_next_waiter(ch))) {
		spin_unlock_irqrestore(&ch->sq_lock, flags);
		srpt_post_now(ctx);
		spin_lock_irqsave(&ch->sq_lock, flags);
	}
	spin_unlock_irqrestore(&ch->sq_lock, flags);
}

/**
 * srpt_end_limbo - the send queue is drained: complete what could not be posted whole
 * @ch: channel that is closing
 *
 * From here on a chain that cannot be posted completes at once.
 *
 * Context: process.
 */
void srpt_end_limbo(struct srpt_rdma_ch *ch)
{
	struct srpt_send_ioctx *ctx, *next;
	LIST_HEAD(limbo);

	spin_lock_irq(&ch->sq_lock);
	ch->drained = true;
	list_splice_init(&ch->limbo, &limbo);
	spin_unlock_irq(&ch->sq_lock);
	list_for_each_entry_safe(ctx, next, &limbo, entry) {
		list_del(&ctx->entry);
		srpt_complete_flushed(ctx);
	}
}

/**
 * srpt_send_failed - a work request of the send queue completed with an error
 * @ch: channel; closes
 * @what: what it was, for the log
 * @status: the error; a flush is no news
 *
 * Context: any.
 */
void srpt_send_failed(struct srpt_rdma_ch *ch, const char *what, enum ib_wc_status status)
{
	if (srpt_close_ch(ch, status == IB_WC_WR_FLUSH_ERR ? "connection lost" : "send failed") &&
	    status != IB_WC_WR_FLUSH_ERR)
		pr_err_ratelimited("%s: %s failed: %s\n", ch->name, what,
				   ib_wc_status_msg(status));
}

/* How many of the transfers not yet posted fit into one chain; their entries in @sqe. */
static u32 srpt_batch(struct srpt_send_ioctx *ctx, u32 *sqe)
{
	u32 room = ctx->ch->sq_size, n;

	*sqe = 0;
	for (n = ctx->next_rw; n < ctx->nr_rw && *sqe + ctx->rw[n].sqe <= room; n++)
		*sqe += ctx->rw[n].sqe;
	return n - ctx->next_rw;
}

/**
 * srpt_post_next - post the next chain of a request
 * @ctx: request with transfers, or a response, or both, that are not posted yet
 *
 * Context: any.
 */
void srpt_post_next(struct srpt_send_ioctx *ctx)
{
	struct srpt_rdma_ch *ch = ctx->ch;
	struct ib_send_wr *wr = NULL;
	u32 first = ctx->next_rw, n;

	n = srpt_batch(ctx, &ctx->sqe);
	ctx->done = &ctx->rdma_cqe;
	if (ctx->respond && first + n == ctx->nr_rw && ctx->sqe < ch->sq_size) {
		wr = &ctx->rsp_wr;
		ctx->sqe++;
		ctx->done = &ctx->send_cqe;
	}
	ctx->next_rw = first + n;
	if (n)
		trace_srpt_transfer(ctx, n, wr);
	for (; n; n--)
		wr = rdma_rw_ctx_wrs(&ctx->rw[first + n - 1].ctx, ch->qp, ch->sport->port,
				     wr ? NULL : &ctx->rdma_cqe, wr);
	ctx->first_wr = wr;
	srpt_post_chain(ctx);
}

/* A batch of RDMA writes completed that did not have the response with it. */
static void srpt_rdma_write_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct srpt_send_ioctx *ctx = container_of(wc->wr_cqe, struct srpt_send_ioctx, rdma_cqe);
	struct srpt_rdma_ch *ch = ctx->ch;

	if (unlikely(wc->status != IB_WC_SUCCESS))
		srpt_send_failed(ch, "RDMA write", wc->status);
	srpt_sq_return(ch, ctx->sqe);
	srpt_post_next(ctx);
}

/* Every response gives back its own credit and all that are owed. */
static u32 srpt_pay_credits(struct srpt_rdma_ch *ch, u8 status)
{
	unsigned long flags;
	u32 credits;

	spin_lock_irqsave(&ch->lock, flags);
	credits = 1 + ch->owed;
	ch->owed = 0;
	ch->credit += credits;
	if (unlikely(status))
		ch->counters.errors++;
	trace_srpt_credit(ch, credits);
	spin_unlock_irqrestore(&ch->lock, flags);
	return credits;
}

static bool srpt_is_solicited(const struct srpt_iu *iu, const struct srpt_rsp *rsp)
{
	bool good = !rsp->status && (!rsp->has_rsp_code || rsp->rsp_code == SRPT_RSP_NO_FAILURE);

	return good ? iu->sol_success : iu->sol_failure;
}

/* Sends the information unit of @len bytes in the buffer of @ctx, behind its transfers. */
static void srpt_send_iu(struct srpt_send_ioctx *ctx, u32 len, bool solicited)
{
	struct srpt_rdma_ch *ch = ctx->ch;

	ctx->rsp_sge.length = len;
	ctx->rsp_wr.next = NULL;
	ctx->rsp_wr.wr_cqe = &ctx->send_cqe;
	ctx->rsp_wr.sg_list = &ctx->rsp_sge;
	ctx->rsp_wr.num_sge = 1;
	ctx->rsp_wr.opcode = IB_WR_SEND;
	ctx->rsp_wr.send_flags = IB_SEND_SIGNALED;
	if (solicited)
		ctx->rsp_wr.send_flags |= IB_SEND_SOLICITED;
	if (len <= ch->max_inline) {
		ctx->rsp_sge.addr = (uintptr_t)ctx->ioctx.buf;
		ctx->rsp_wr.send_flags |= IB_SEND_INLINE;
	} else {
		ctx->rsp_sge.addr = ctx->ioctx.dma;
		ib_dma_sync_single_for_device(ch->sdev->device, ctx->ioctx.dma, len,
					      DMA_TO_DEVICE);
	}
	ctx->respond = true;
	ctx->rdma_cqe.done = srpt_rdma_write_done;
	srpt_post_next(ctx);
}

/**
 * srpt_queue_response - send the response of a request
 * @ctx: the request; data to be written to the initiator first has been mapped
 * @rsp: the response, but for its credits
 *
 * The receive buffer goes back to its queue before the credit goes to the initiator.
 *
 * Context: any.
 */
void srpt_queue_response(struct srpt_send_ioctx *ctx, struct srpt_rsp *rsp)
{
	struct srpt_rdma_ch *ch = ctx->ch;
	u32 len;

	rsp->solicited = srpt_is_solicited(&ctx->iu, rsp);
	if (ctx->recv)
		srpt_post_recv(ch, ctx->recv);
	ctx->recv = NULL;
	rsp->req_lim_delta = srpt_pay_credits(ch, rsp->status);
	trace_srpt_response(ctx, rsp);
	len = srpt_build_rsp(ctx->ioctx.buf, ch->rsp_len, rsp);
	srpt_send_iu(ctx, len, rsp->solicited);
}

/*
 * Whether the initiator is to be sent credits without a response: when it is short of them, or
 * when nothing is in progress whose response would bring them. Under ch->lock.
 */
static bool srpt_should_offer(const struct srpt_rdma_ch *ch)
{
	lockdep_assert_held(&ch->lock);
	return ch->state == SRPT_CH_LIVE && ch->owed && !ch->cred_asked &&
	       (ch->credit < (s32)ch->req_lim / 4 || ch->credit + ch->owed == ch->req_lim);
}

/*
 * The credits to offer, and the context to do so with. One credit at first: an initiator that
 * ignores SRP_CRED_REQ loses what it says, so more is said only to one that has answered. Under
 * ch->lock.
 */
static struct srpt_send_ioctx *srpt_take_offer(struct srpt_rdma_ch *ch, u32 *credits)
{
	struct srpt_send_ioctx *ctx = srpt_should_offer(ch) ? srpt_get_send_ioctx(ch) : NULL;

	if (!ctx)
		return NULL;
	*credits = ch->cred_answers ? ch->owed : 1;
	ch->owed -= *credits;
	ch->credit += *credits;
	trace_srpt_credit(ch, *credits);
	ch->cred_asked = true;
	ch->own_tag++;
	ch->counters.cred_reqs++;
	return ctx;
}

/**
 * srpt_offer_credits - give credits back by an SRP_CRED_REQ, if no response will soon
 * @ch: channel, which the caller has a reference to
 *
 * For requests that ended without a response: the initiator would have to send another one to
 * learn of their credits, and cannot if it has none left. Without a free context it is tried again
 * when there is one. SRP r16a clause 6.10.
 *
 * Context: any.
 */
void srpt_offer_credits(struct srpt_rdma_ch *ch)
{
	struct srpt_send_ioctx *ctx;
	unsigned long flags;
	u32 credits, len;
	u64 tag;

	spin_lock_irqsave(&ch->lock, flags);
	ctx = srpt_take_offer(ch, &credits);
	tag = ch->own_tag;
	spin_unlock_irqrestore(&ch->lock, flags);
	if (!ctx)
		return;
	srpt_set_cmd_state(ctx, SRPT_STATE_OWN_REQ);
	len = srpt_build_cred_req(ctx->ioctx.buf, tag, credits, ch->login.sol_credit);
	srpt_send_iu(ctx, len, ch->login.sol_credit);
}

/**
 * srpt_credits_answered - an SRP_CRED_RSP has come
 * @ch: channel
 * @tag: its tag
 *
 * Context: process (completion work queue).
 * Return: false if nothing of that tag was asked for.
 */
bool srpt_credits_answered(struct srpt_rdma_ch *ch, u64 tag)
{
	unsigned long flags;
	bool asked;

	spin_lock_irqsave(&ch->lock, flags);
	asked = ch->cred_asked && tag == ch->own_tag;
	if (asked) {
		ch->cred_asked = false;
		ch->cred_answers = true;
		ch->counters.cred_rsps++;
	}
	spin_unlock_irqrestore(&ch->lock, flags);
	if (asked)
		srpt_offer_credits(ch);
	return asked;
}

static void srpt_logout_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct srpt_send_ioctx *ctx = container_of(wc->wr_cqe, struct srpt_send_ioctx, send_cqe);

	ctx->send_cqe.done = srpt_send_done;
	srpt_farewell_over(ctx->ch);
	srpt_send_done(cq, wc);
}

/**
 * srpt_send_logout - send an SRP_T_LOGOUT
 * @ch: channel that is closing and still connected
 *
 * srpt_farewell_over() is called when it has left. SRP r16a clause 6.6.
 *
 * Context: process.
 * Return: false if there is no context for it.
 */
bool srpt_send_logout(struct srpt_rdma_ch *ch)
{
	bool solicited = ch->login.sol_logout;
	struct srpt_send_ioctx *ctx;
	u32 len;

	spin_lock_irq(&ch->lock);
	ctx = srpt_get_send_ioctx(ch);
	ch->own_tag++;
	spin_unlock_irq(&ch->lock);
	if (!ctx)
		return false;
	srpt_set_cmd_state(ctx, SRPT_STATE_OWN_REQ);
	ctx->send_cqe.done = srpt_logout_done;
	len = srpt_build_t_logout(ctx->ioctx.buf, ch->own_tag, ch->logout, solicited);
	srpt_send_iu(ctx, len, solicited);
	return true;
}

/* How far the data-out buffer was used, @fetched or refused before that. */
static void srpt_out_residual(struct srpt_resid *res, const struct se_cmd *cmd, u32 len,
			      bool fetched)
{
	if (!fetched)
		res->count = len;
	else if (cmd->se_cmd_flags & (SCF_OVERFLOW_BIT | SCF_UNDERFLOW_BIT))
		res->count = cmd->residual_count;
	res->over = fetched && cmd->se_cmd_flags & SCF_OVERFLOW_BIT;
	res->under = res->count && !res->over;
}

/* How far the data-in buffer is filled, @sent bytes of it. */
static void srpt_in_residual(struct srpt_resid *res, const struct se_cmd *cmd, u32 len, u32 sent)
{
	res->over = sent == len && cmd->se_cmd_flags & SCF_OVERFLOW_BIT;
	res->count = res->over ? cmd->residual_count : len - sent;
	res->under = res->count && !res->over;
}

static bool srpt_wants_data_out(u8 opcode)
{
	static const u8 opcodes[] = {
		WRITE_6, WRITE_10, WRITE_12, WRITE_16, WRITE_VERIFY, WRITE_VERIFY_12,
		WRITE_VERIFY_16, WRITE_SAME, WRITE_SAME_16, COMPARE_AND_WRITE, UNMAP, MODE_SELECT,
		MODE_SELECT_10, PERSISTENT_RESERVE_OUT, EXTENDED_COPY, MAINTENANCE_OUT,
		SECURITY_PROTOCOL_OUT, SEND_DIAGNOSTIC, WRITE_BUFFER, LOG_SELECT,
	};

	return memchr(opcodes, opcode, sizeof(opcodes));
}

/* A command that had data to move and was given no buffer at all. */
static void srpt_no_buffer(struct srpt_send_ioctx *ctx, struct srpt_rsp *rsp)
{
	bool out = srpt_wants_data_out(ctx->cmd.t_task_cdb[0]);
	struct srpt_resid *res = out ? &rsp->out : &rsp->in;

	res->count = ctx->cmd.residual_count;
	res->over = true;
}

/**
 * srpt_build_cmd_rsp - what the response to a command says
 * @ctx: request that the target core completed
 * @rsp: filled in
 * @sent: bytes that are written to the initiator
 * @fetched: the data of a write was fetched
 *
 * Context: any.
 */
static void srpt_build_cmd_rsp(struct srpt_send_ioctx *ctx, struct srpt_rsp *rsp, u32 sent,
			       bool fetched)
{
	struct se_cmd *cmd = &ctx->cmd;

	*rsp = (struct srpt_rsp) { .tag = ctx->iu.tag, .status = cmd->scsi_status };
	if (ctx->iu.out.kind != SRPT_BUF_NONE)
		srpt_out_residual(&rsp->out, cmd, ctx->iu.out.len, fetched);
	if (ctx->iu.in.kind != SRPT_BUF_NONE)
		srpt_in_residual(&rsp->in, cmd, ctx->iu.in.len, sent);
	if (unlikely(cmd->data_direction == DMA_NONE && cmd->se_cmd_flags & SCF_OVERFLOW_BIT))
		srpt_no_buffer(ctx, rsp);
	if (cmd->se_cmd_flags & (SCF_TRANSPORT_TASK_SENSE | SCF_EMULATED_TASK_SENSE)) {
		rsp->sense = ctx->sense;
		/* By its own length; what follows in the buffer is of an earlier command. */
		rsp->sense_len = min_t(u32, 8 + ctx->sense[7], sizeof(ctx->sense));
	}
}

static void srpt_respond(struct srpt_send_ioctx *ctx, u32 sent)
{
	enum srpt_command_state last = srpt_set_cmd_state(ctx, SRPT_STATE_CMD_RSP_SENT);
	struct srpt_rsp rsp;

	srpt_build_cmd_rsp(ctx, &rsp, sent, last == SRPT_STATE_DATA_IN);
	srpt_queue_response(ctx, &rsp);
}

static void srpt_send_data(struct srpt_send_ioctx *ctx)
{
	srpt_sync_data(ctx);
	srpt_respond(ctx, ctx->rw_len);
}

/**
 * srpt_map_and_send - map the data of a completed read and send it with the response
 * @ctx: request; its descriptors are here
 *
 * Without memory for that the initiator is told to try again.
 *
 * Context: process; may sleep.
 */
void srpt_map_and_send(struct srpt_send_ioctx *ctx)
{
	if (srpt_map_data(ctx, &ctx->iu.in, DMA_TO_DEVICE))
		srpt_refuse_cmd(ctx, SAM_STAT_BUSY);
	else
		srpt_send_data(ctx);
}

/**
 * srpt_map_work - send the data of a read that could not be mapped at once
 * @work: &srpt_send_ioctx.map_work
 *
 * Its descriptors may have to be fetched first.
 */
void srpt_map_work(struct work_struct *work)
{
	struct srpt_send_ioctx *ctx = container_of(work, struct srpt_send_ioctx, map_work);

	if (!ctx->iu.in.count) {
		if (srpt_fetch_table(ctx, &ctx->iu.in))
			srpt_refuse_cmd(ctx, SAM_STAT_BUSY);
	} else {
		srpt_map_and_send(ctx);
	}
}

/**
 * srpt_queue_data_in - the target core has the data of a read
 * @cmd: the command
 *
 * Data and response go in one post.
 *
 * Context: any; the core calls it from where the back end completes.
 * Return: 0.
 */
int srpt_queue_data_in(struct se_cmd *cmd)
{
	struct srpt_send_ioctx *ctx = srpt_cmd_ctx(cmd);

	if (srpt_data_ready(ctx))
		srpt_send_data(ctx);
	else
		queue_work(srpt_wq, &ctx->map_work);
	return 0;
}

/**
 * srpt_queue_status - the target core has completed a command without data to send
 * @cmd: the command
 *
 * The transfer of a read that failed was mapped ahead and must not take place: its buffer holds
 * what an earlier command left there.
 *
 * Context: any.
 * Return: 0.
 */
int srpt_queue_status(struct se_cmd *cmd)
{
	struct srpt_send_ioctx *ctx = srpt_cmd_ctx(cmd);

	srpt_unmap_data(ctx);
	srpt_respond(ctx, 0);
	return 0;
}

/**
 * srpt_send_done - a response (and the data before it) has left
 * @cq: completion queue
 * @wc: the completion
 *
 * Context: process (completion work queue).
 */
void srpt_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct srpt_send_ioctx *ctx = container_of(wc->wr_cqe, struct srpt_send_ioctx, send_cqe);
	struct srpt_rdma_ch *ch = ctx->ch;

	if (unlikely(wc->status != IB_WC_SUCCESS))
		srpt_send_failed(ch, "response", wc->status);
	else
		ch->counters.bytes_in += ctx->rw_len;
	srpt_count_latency(ctx);
	ctx->respond = false;
	srpt_sq_return(ch, ctx->sqe);
	srpt_unmap_data(ctx);
	if (ctx->in_core)
		transport_generic_free_cmd(&ctx->cmd, 0);
	else
		srpt_put_send_ioctx(ctx);
}

/* Of a command that was not carried out nothing was transferred. */
static void srpt_untouched(struct srpt_resid *res, const struct srpt_buf *buf)
{
	res->count = buf->len;
	res->under = buf->len;
}

/**
 * srpt_refuse_cmd - answer a command with a status and nothing else
 * @ctx: request that the target core does not know, or that it has completed
 * @status: SCSI status
 *
 * Context: any.
 */
void srpt_refuse_cmd(struct srpt_send_ioctx *ctx, u8 status)
{
	struct srpt_rsp rsp = { .tag = ctx->iu.tag, .status = status };

	srpt_untouched(&rsp.out, &ctx->iu.out);
	srpt_untouched(&rsp.in, &ctx->iu.in);
	ctx->ch->counters.refused++;
	srpt_set_cmd_state(ctx, SRPT_STATE_CMD_RSP_SENT);
	srpt_queue_response(ctx, &rsp);
}

/**
 * srpt_refuse_iu - answer a command that is not well formed
 * @ctx: request that the target core does not know, or that it has completed; its IU says what is
 *	wrong
 *
 * CHECK CONDITION, ILLEGAL REQUEST with the additional sense code of the IU.
 *
 * Context: any.
 */
void srpt_refuse_iu(struct srpt_send_ioctx *ctx)
{
	struct srpt_rsp rsp = {
		.tag	= ctx->iu.tag,
		.status	= SAM_STAT_CHECK_CONDITION,
		.sense	= ctx->sense,
		.sense_len = 18,
	};

	pr_warn_ratelimited("%s: bad command: %s\n", ctx->ch->name, ctx->iu.error);
	ctx->ch->counters.bad_cmds++;
	srpt_untouched(&rsp.out, &ctx->iu.out);
	srpt_untouched(&rsp.in, &ctx->iu.in);
	memset(ctx->sense, 0, sizeof(ctx->sense));
	scsi_build_sense_buffer(0, ctx->sense, ILLEGAL_REQUEST, ctx->iu.asc >> 8,
				ctx->iu.asc & 0xff);
	srpt_set_cmd_state(ctx, SRPT_STATE_CMD_RSP_SENT);
	srpt_queue_response(ctx, &rsp);
}
