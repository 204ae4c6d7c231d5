// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receives: buffers in, information units out, each in the order it came.
 *
 * Copyright the ib_srpt authors
 *
 * A receive buffer belongs to the receive queue, then to the request it brought (which may need
 * its descriptors or its immediate data to the end), and goes back to the queue before the
 * response that returns its credit is sent. So a queue never has fewer buffers than its peer has
 * credits.
 *
 * Information units are parked when the channel is not live yet, or when all request contexts are
 * busy (the response of a request may be with the initiator before its completion is with us). As
 * long as anything is parked, everything behind it is parked too; one worker at a time runs the
 * list. An initiator that sends more requests than it was granted is disconnected. Answers to
 * nothing that it was asked are counted and dropped: they cost no credit and do no harm.
 */
#include "ib_srpt.h"

static void srpt_recv_done(struct ib_cq *cq, struct ib_wc *wc);

/*
 * Buffers start such that immediate data at the offset that the Linux initiator uses lies on a
 * sector boundary: then it can be handed to the back end where it is.
 */
#define SRPT_RECV_ALIGN		SECTOR_SIZE
#define SRPT_RECV_OFFSET	(SECTOR_SIZE - SRPT_IMM_OFFSET)

/**
 * srpt_alloc_recv_ring - allocate receive buffers, ready to be posted
 * @sdev: device
 * @count: how many
 *
 * Context: process; may sleep.
 * Return: the ring or NULL.
 */
struct srpt_ioctx_ring *srpt_alloc_recv_ring(struct srpt_device *sdev, u32 count)
{
	struct srpt_ring_shape shape = {
		.count		= count,
		.ctx_size	= sizeof(struct srpt_recv_ioctx),
		.buf_size	= srp_max_req_size,
		.align		= SRPT_RECV_ALIGN,
		.offset		= SRPT_RECV_OFFSET,
		.dir		= DMA_FROM_DEVICE,
	};
	struct srpt_ioctx_ring *ring = srpt_alloc_ioctx_ring(sdev->device, &shape);
	u32 i;

	for (i = 0; ring && i < count; i++) {
		struct srpt_recv_ioctx *recv = srpt_ring_ctx(ring, i);

		recv->cqe.done = srpt_recv_done;
		recv->sge.addr = recv->ioctx.dma;
		recv->sge.length = srp_max_req_size;
		recv->sge.lkey = sdev->pd->local_dma_lkey;
	}
	return ring;
}

/**
 * srpt_post_recv - give a receive buffer back to the queue it came from
 * @ch: the channel it came by
 * @recv: the buffer
 *
 * A queue of the channel's own that does not take it ends the channel.
 *
 * Context: any.
 */
void srpt_post_recv(struct srpt_rdma_ch *ch, struct srpt_recv_ioctx *recv)
{
	struct ib_recv_wr wr = { .wr_cqe = &recv->cqe, .sg_list = &recv->sge, .num_sge = 1 };

	ib_dma_sync_single_for_device(ch->sdev->device, recv->ioctx.dma, recv->sge.length,
				      DMA_FROM_DEVICE);
	if (ch->srq)
		srpt_srq_recycle(ch->srq, recv);
	else if (READ_ONCE(ch->state) < SRPT_CH_CLOSING && ib_post_recv(ch->qp, &wr, NULL))
		srpt_close_ch(ch, "receive buffer could not be posted");
}

/**
 * srpt_fill_recv - post all receive buffers of a channel without SRQ
 * @ch: the channel
 *
 * Context: process.
 */
void srpt_fill_recv(struct srpt_rdma_ch *ch)
{
	u32 i;

	for (i = 0; ch->recv_ring && i < ch->recv_ring->shape.count; i++)
		srpt_post_recv(ch, srpt_ring_ctx(ch->recv_ring, i));
}

/* Answers to our own requests cost no credit and need no context. */
static bool srpt_is_answer(const struct srpt_recv_ioctx *recv)
{
	u8 opcode = recv->len ? *(const u8 *)recv->ioctx.buf : 0;

	return opcode == SRP_CRED_RSP || opcode == SRP_AER_RSP;
}

static void srpt_take_answer(struct srpt_rdma_ch *ch, struct srpt_recv_ioctx *recv)
{
	enum srpt_iu_end end;
	struct srpt_iu iu;

	end = srpt_parse_iu(recv->ioctx.buf, recv->len, &ch->rules, &iu);
	srpt_post_recv(ch, recv);
	if (end != SRPT_IU_OK)
		srpt_end_bad_iu(ch, &iu);
	else if (iu.opcode != SRP_CRED_RSP || !srpt_credits_answered(ch, iu.tag))
		ch->counters.stray_answers++;
}

/* The context for a request that may be handled now, or NULL. Under ch->lock. */
static struct srpt_send_ioctx *srpt_next_ctx(struct srpt_rdma_ch *ch)
{
	lockdep_assert_held(&ch->lock);
	return ch->state == SRPT_CH_LIVE ? srpt_get_send_ioctx(ch) : NULL;
}

/* Parks @recv, or finds that it has to be dropped. Under ch->lock. */
static bool srpt_park(struct srpt_rdma_ch *ch, struct srpt_recv_ioctx *recv)
{
	lockdep_assert_held(&ch->lock);
	if (ch->state >= SRPT_CH_CLOSING)
		return false;
	list_add_tail(&recv->wait, &ch->parked);
	ch->counters.parked++;
	return true;
}

static void srpt_end_flood(struct srpt_rdma_ch *ch)
{
	ch->counters.floods++;
	srpt_end_ch(ch, "initiator sent more requests than it was granted",
		    SRPT_LOGOUT_NO_REASON);
}

static void srpt_take_request(struct srpt_rdma_ch *ch, struct srpt_recv_ioctx *recv)
{
	struct srpt_send_ioctx *ctx = NULL;
	bool parked = false, early;
	unsigned long flags;
	bool flood;

	spin_lock_irqsave(&ch->lock, flags);
	ch->counters.requests++;
	flood = --ch->credit < 0;
	early = ch->state < SRPT_CH_LIVE;
	if (!flood && !ch->draining && list_empty(&ch->parked))
		ctx = srpt_next_ctx(ch);
	if (!ctx && !flood)
		parked = srpt_park(ch, recv);
	spin_unlock_irqrestore(&ch->lock, flags);

	if (ctx)
		srpt_handle_new_iu(ctx, recv);
	else if (!parked)
		srpt_post_recv(ch, recv);
	if (flood)
		srpt_end_flood(ch);
	else if (parked && early)
		srpt_ch_heard(ch);
}

static void srpt_recv_failed(struct srpt_rdma_ch *ch, struct srpt_recv_ioctx *recv,
			     enum ib_wc_status status)
{
	if (status != IB_WC_WR_FLUSH_ERR &&
	    srpt_close_ch(ch, "receive failed"))
		pr_err_ratelimited("%s: receive failed: %s\n", ch->name,
				   ib_wc_status_msg(status));
	/* A shared queue lives on; a queue of the channel's own goes down with it. */
	if (ch->srq)
		srpt_post_recv(ch, recv);
	else
		srpt_close_ch(ch, "connection lost");
}

/* A receive completed: an information unit, or the end of the queue. */
static void srpt_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct srpt_recv_ioctx *recv = container_of(wc->wr_cqe, struct srpt_recv_ioctx, cqe);
	struct srpt_rdma_ch *ch = cq->cq_context;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		srpt_recv_failed(ch, recv, wc->status);
		return;
	}
	recv->len = wc->byte_len;
	ib_dma_sync_single_for_cpu(ch->sdev->device, recv->ioctx.dma, recv->len,
				   DMA_FROM_DEVICE);
	if (unlikely(srpt_is_answer(recv)))
		srpt_take_answer(ch, recv);
	else
		srpt_take_request(ch, recv);
}

/* Takes the next parked request with a context for it, or ends the run. */
static struct srpt_send_ioctx *srpt_unpark(struct srpt_rdma_ch *ch, struct srpt_recv_ioctx **recv)
{
	struct srpt_send_ioctx *ctx = NULL;

	spin_lock_irq(&ch->lock);
	*recv = list_first_entry_or_null(&ch->parked, struct srpt_recv_ioctx, wait);
	if (*recv)
		ctx = srpt_next_ctx(ch);
	if (ctx)
		list_del(&(*recv)->wait);
	else
		ch->draining = false;
	spin_unlock_irq(&ch->lock);
	return ctx;
}

/**
 * srpt_parked_work - run the information units that were parked, in order
 * @work: &srpt_rdma_ch.parked_work
 *
 * Queued when the channel becomes live and when a request context is free again.
 */
void srpt_parked_work(struct work_struct *work)
{
	struct srpt_rdma_ch *ch = container_of(work, struct srpt_rdma_ch, parked_work);
	struct srpt_recv_ioctx *recv;
	struct srpt_send_ioctx *ctx;

	spin_lock_irq(&ch->lock);
	ch->draining = true;
	spin_unlock_irq(&ch->lock);
	while ((ctx = srpt_unpark(ch, &recv)))
		srpt_handle_new_iu(ctx, recv);
}

/**
 * srpt_drop_parked - give back the receive buffers that are parked
 * @ch: a channel that is closing, so that nothing is parked any more
 *
 * Context: process.
 */
void srpt_drop_parked(struct srpt_rdma_ch *ch)
{
	struct srpt_recv_ioctx *recv, *next;
	LIST_HEAD(drop);

	spin_lock_irq(&ch->lock);
	list_splice_init(&ch->parked, &drop);
	spin_unlock_irq(&ch->lock);
	list_for_each_entry_safe(recv, next, &drop, wait) {
		list_del(&recv->wait);
		srpt_post_recv(ch, recv);
	}
}
