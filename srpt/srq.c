// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared receive queues: one per device, filled for the credits that its channels were granted.
 *
 * Copyright the ib_srpt authors
 *
 * A channel is promised as many buffers as it may have requests outstanding, and the queue holds
 * at least the sum of all promises, so that a well-behaved initiator never meets an empty queue.
 * Buffers are added with the promises and stay; what a channel returns serves the next one.
 *
 * The queue's limit is armed at a part of the spare buffers. The limit event means that nearly
 * everything promised is in use at the same time (or that buffers got lost with a queue pair that
 * never told its last WQE): srpt_srq_event() then has the queue grow, as long as there is room.
 *
 * A queue that fails takes its channels with it; the device makes a new one at the next login.
 */
#include <linux/slab.h>

#include "ib_srpt.h"

/* Buffers beyond those promised, and where the limit event is armed. */
#define SRPT_SRQ_SPARE		64U
#define SRPT_SRQ_LIMIT		16U
/* Smallest promise that a login is worth. */
#define SRPT_SRQ_LEAST		4U

static void srpt_free_srq_work(struct work_struct *work);

static int srpt_srq_arm(struct srpt_srq *srq)
{
	struct ib_srq_attr attr = { .srq_limit = SRPT_SRQ_LIMIT };

	return ib_modify_srq(srq->srq, &attr, IB_SRQ_LIMIT);
}

static void srpt_srq_post(struct srpt_srq *srq, struct srpt_recv_ioctx *recv)
{
	struct ib_recv_wr wr = { .wr_cqe = &recv->cqe, .sg_list = &recv->sge, .num_sge = 1 };
	unsigned long flags;

	if (likely(!ib_post_srq_recv(srq->srq, &wr, NULL)))
		return;
	spin_lock_irqsave(&srq->spare_lock, flags);
	list_add_tail(&recv->wait, &srq->spare);
	spin_unlock_irqrestore(&srq->spare_lock, flags);
	queue_work(srpt_wq, &srq->work);
}

/* Adds @count buffers. Under srq->lock. */
static int srpt_srq_grow(struct srpt_srq *srq, u32 count)
{
	struct srpt_ioctx_ring *ring;
	u32 i;

	lockdep_assert_held(&srq->lock);
	if (!count)
		return 0;
	ring = srpt_alloc_recv_ring(srq->sdev, count);
	if (!ring)
		return -ENOMEM;
	list_add_tail(&ring->list, &srq->rings);
	srq->total += count;
	for (i = 0; i < count; i++)
		srpt_srq_post(srq, srpt_ring_ctx(ring, i));
	return 0;
}

static void srpt_srq_repost_spare(struct srpt_srq *srq)
{
	struct srpt_recv_ioctx *recv, *next;
	LIST_HEAD(again);

	spin_lock_irq(&srq->spare_lock);
	list_splice_init(&srq->spare, &again);
	spin_unlock_irq(&srq->spare_lock);
	list_for_each_entry_safe(recv, next, &again, wait) {
		struct ib_recv_wr wr = {
			.wr_cqe = &recv->cqe, .sg_list = &recv->sge, .num_sge = 1
		};

		if (ib_post_srq_recv(srq->srq, &wr, NULL))
			break;
		list_del(&recv->wait);
	}
	/* What could not be posted waits for the next limit event or login. */
	spin_lock_irq(&srq->spare_lock);
	list_splice(&again, &srq->spare);
	spin_unlock_irq(&srq->spare_lock);
}

/* Runs after a limit event, a failed post, or the failure of the queue. */
static void srpt_srq_work(struct work_struct *work)
{
	struct srpt_srq *srq = container_of(work, struct srpt_srq, work);

	if (READ_ONCE(srq->failed)) {
		srpt_drop_device_srq(srq->sdev, srq);
		srpt_close_srq(srq);
		return;
	}
	srpt_srq_repost_spare(srq);
	mutex_lock(&srq->lock);
	/* Armed again only when it has grown: a full queue would raise the event for ever. */
	if (srq->total < srq->max &&
	    !srpt_srq_grow(srq, min(SRPT_SRQ_SPARE, srq->max - srq->total)))
		srpt_srq_arm(srq);
	mutex_unlock(&srq->lock);
}

/**
 * srpt_srq_event - an asynchronous event of a shared receive queue
 * @event: the event
 * @ctx: the &struct srpt_srq, as given when the queue was created
 *
 * %IB_EVENT_SRQ_LIMIT_REACHED has the queue refilled or grown, %IB_EVENT_SRQ_ERR closes the
 * channels that use it and has the next login make a new one. Others are not expected.
 *
 * Context: any; the device's event context, which must not sleep.
 */
static void srpt_srq_event(struct ib_event *event, void *ctx)
{
	struct srpt_srq *srq = ctx;

	switch (event->event) {
	case IB_EVENT_SRQ_LIMIT_REACHED:
		queue_work(srpt_wq, &srq->work);
		break;
	case IB_EVENT_SRQ_ERR:
		pr_err_ratelimited("%s: shared receive queue failed; its channels are closed\n",
				   dev_name(&srq->sdev->device->dev));
		WRITE_ONCE(srq->failed, true);
		queue_work(srpt_wq, &srq->work);
		break;
	default:
		pr_debug("%s: SRQ event %s\n", dev_name(&srq->sdev->device->dev),
			 ib_event_msg(event->event));
	}
}

static struct srpt_srq *srpt_create_srq(struct srpt_device *sdev)
{
	struct ib_device_attr *attrs = &sdev->device->attrs;
	struct ib_srq_init_attr init = { .event_handler = srpt_srq_event };
	struct srpt_srq *srq;

	if (attrs->max_srq <= 0 || attrs->max_srq_wr <= 0)
		return NULL;
	srq = kzalloc(sizeof(*srq), GFP_KERNEL);
	if (!srq)
		return NULL;
	kref_init(&srq->ref);
	mutex_init(&srq->lock);
	spin_lock_init(&srq->spare_lock);
	INIT_LIST_HEAD(&srq->rings);
	INIT_LIST_HEAD(&srq->spare);
	INIT_WORK(&srq->work, srpt_srq_work);
	INIT_WORK(&srq->free_work, srpt_free_srq_work);
	srq->sdev = sdev;
	srq->max = min_t(u32, srpt_srq_size, attrs->max_srq_wr);
	init.srq_context = srq;
	init.attr.max_wr = srq->max;
	init.attr.max_sge = 1;
	srq->srq = ib_create_srq(sdev->pd, &init);
	if (!IS_ERR(srq->srq))
		return srq;
	pr_info_ratelimited("%s: no shared receive queue (%ld), channels get their own\n",
			    dev_name(&sdev->device->dev), PTR_ERR(srq->srq));
	kfree(srq);
	return NULL;
}

/**
 * srpt_get_srq - the shared receive queue for a new channel
 * @sdev: device
 *
 * It is created by the first channel that wants it.
 *
 * Context: process; may sleep.
 * Return: the queue with a reference for the caller, or NULL if the device has none.
 */
struct srpt_srq *srpt_get_srq(struct srpt_device *sdev)
{
	struct srpt_srq *srq;

	mutex_lock(&sdev->srq_lock);
	if (!sdev->srq)
		sdev->srq = srpt_create_srq(sdev);
	srq = sdev->srq;
	if (srq)
		kref_get(&srq->ref);
	mutex_unlock(&sdev->srq_lock);
	return srq;
}

/**
 * srpt_drop_device_srq - new channels no longer use a device's shared receive queue
 * @sdev: device
 * @srq: only if it is this one; NULL: whichever it is
 *
 * Context: process; may sleep.
 */
void srpt_drop_device_srq(struct srpt_device *sdev, struct srpt_srq *srq)
{
	struct srpt_srq *old = NULL;

	mutex_lock(&sdev->srq_lock);
	if (!srq || sdev->srq == srq)
		swap(old, sdev->srq);
	mutex_unlock(&sdev->srq_lock);
	if (old)
		srpt_put_srq(old);
}

/**
 * srpt_srq_promise - set receive buffers aside for a channel
 * @srq: the queue
 * @want: how many
 *
 * Context: process; may sleep.
 * Return: how many the channel can have, at most @want; 0 if there is no room for it.
 */
u32 srpt_srq_promise(struct srpt_srq *srq, u32 want)
{
	u32 need, room;

	srpt_srq_repost_spare(srq);
	mutex_lock(&srq->lock);
	room = srq->max - min(srq->max, srq->granted);
	want = min(want, room);
	need = min(srq->max, srq->granted + want + SRPT_SRQ_SPARE);
	if (want < SRPT_SRQ_LEAST ||
	    (need > srq->total && srpt_srq_grow(srq, need - srq->total)))
		want = 0;
	srq->granted += want;
	if (want)
		srpt_srq_arm(srq);
	mutex_unlock(&srq->lock);
	return want;
}

/**
 * srpt_srq_return - a channel no longer needs its receive buffers
 * @srq: the queue
 * @count: what srpt_srq_promise() returned
 *
 * Context: process; may sleep.
 */
void srpt_srq_return(struct srpt_srq *srq, u32 count)
{
	mutex_lock(&srq->lock);
	srq->granted -= count;
	mutex_unlock(&srq->lock);
}

/**
 * srpt_srq_recycle - put a receive buffer back into its shared receive queue
 * @srq: the queue
 * @recv: the buffer
 *
 * Never loses it: a post that fails is tried again.
 *
 * Context: any.
 */
void srpt_srq_recycle(struct srpt_srq *srq, struct srpt_recv_ioctx *recv)
{
	srpt_srq_post(srq, recv);
}

static void srpt_free_srq_work(struct work_struct *work)
{
	struct srpt_srq *srq = container_of(work, struct srpt_srq, free_work);
	struct srpt_ioctx_ring *ring, *next;

	/* A limit event may have come while there were channels, an error may come yet. */
	cancel_work_sync(&srq->work);
	ib_destroy_srq(srq->srq);
	cancel_work_sync(&srq->work);
	list_for_each_entry_safe(ring, next, &srq->rings, list)
		srpt_free_ioctx_ring(srq->sdev->device, ring);
	kfree(srq);
}

static void srpt_free_srq(struct kref *ref)
{
	struct srpt_srq *srq = container_of(ref, struct srpt_srq, ref);

	queue_work(srpt_wq, &srq->free_work);
}

/**
 * srpt_put_srq - drop a reference to a shared receive queue
 * @srq: the queue
 *
 * The last one has a work item destroy it, and then free its buffers; the removal of the device
 * flushes that.
 *
 * Context: any.
 */
void srpt_put_srq(struct srpt_srq *srq)
{
	kref_put(&srq->ref, srpt_free_srq);
}
