// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel's life: its queue pair, its states, and the one way in which it ends.
 *
 * Copyright the ib_srpt authors
 *
 * Whoever wants a channel to end (logout, disconnect, an error, removal of its ACL, portal group,
 * port or module, a new login of the same nexus) calls srpt_close_ch(), from any context and as
 * often as it likes. The first call changes the state and queues the teardown:
 *
 *  1. close_work: no new requests; the login is stopped. If it is we who want the end, an
 *     SRP_T_LOGOUT says so to the initiator, and close_work runs again when that has left or a
 *     second is over. The connection manager is told; the queue pair goes to the error state,
 *     which flushes whatever is posted.
 *  2. drain_work: when the device has said that the last WQE was taken from the shared receive
 *     queue (or has not said so in time): end markers are posted. All that was posted before a
 *     marker completes before it does.
 *  3. release_work: when the last reference is gone (one per request, one per marker), so that
 *     nothing is with the device or the target core any more: session, queue pair, completion
 *     queue and connection go, then the buffers.
 *
 * No step waits for the peer. Requests in the target core take as long as the back end does.
 */
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "ib_srpt.h"
#include "trace.h"

/*
 * Least send queue that a channel can work with, and how many scatter entries an entry takes:
 * 1 MiB in the pieces of the data pool. More would double the memory of a send queue.
 */
#define SRPT_LEAST_SQ	16U
#define SRPT_MAX_SGE	16U
/* Longest response that is worth sending inline: one without sense. */
#define SRPT_INLINE	64U

static void srpt_close_work(struct work_struct *work);
static void srpt_drain_work(struct work_struct *work);
static void srpt_release_work(struct work_struct *work);

/**
 * srpt_get_ch - take a reference to a channel
 * @ch: channel that the caller has a reference to
 */
void srpt_get_ch(struct srpt_rdma_ch *ch)
{
	refcount_inc(&ch->ref);
}

/**
 * srpt_put_ch - drop a reference to a channel
 * @ch: channel; the last reference sets off its release
 *
 * Context: any.
 */
void srpt_put_ch(struct srpt_rdma_ch *ch)
{
	if (refcount_dec_and_test(&ch->ref))
		queue_work(srpt_wq, &ch->release_work);
}

static void srpt_end_marker(struct ib_cq *cq, struct ib_wc *wc)
{
	struct srpt_rdma_ch *ch = cq->cq_context;

	if (wc->wr_cqe == &ch->sq_marker)
		srpt_end_limbo(ch);
	srpt_put_ch(ch);
}

/* Whether a channel of the initiator's will still be there when its new login is complete. */
static bool srpt_stays(const struct srpt_rdma_ch *ch, const struct srpt_admission *adm,
		       const struct srpt_login *login)
{
	return READ_ONCE(ch->state) < SRPT_CH_CLOSING && !strcmp(ch->acl, adm->acl) &&
	       (login->multichannel ||
		memcmp(ch->login.i_port_id, login->i_port_id, sizeof(login->i_port_id)));
}

/**
 * srpt_over_limit - whether a login is one too many for its portal group
 * @adm: who admits it
 * @login: what the initiator asks for
 *
 * An initiator is who comes in by the same ACL.
 *
 * Context: process; srpt_lock is held.
 * Return: 0, or the SRP_LOGIN_REJ reason.
 */
u32 srpt_over_limit(const struct srpt_admission *adm, const struct srpt_login *login)
{
	const struct srpt_tpg *tpg = adm->tpg;
	struct srpt_device *sdev;
	struct srpt_rdma_ch *ch;
	u32 channels = 0, half_open = 0;

	lockdep_assert_held(&srpt_lock);
	list_for_each_entry(sdev, &srpt_devices, list) {
		list_for_each_entry(ch, &sdev->channels, dev_entry) {
			if (ch->tpg != tpg)
				continue;
			half_open += READ_ONCE(ch->half_open);
			channels += srpt_stays(ch, adm, login);
		}
	}
	if (half_open >= READ_ONCE(tpg->max_half_open))
		return SRP_LOGIN_REJ_INSUFFICIENT_RESOURCES;
	return channels >= READ_ONCE(tpg->max_channels) ? SRP_LOGIN_REJ_CHANNEL_LIMIT_REACHED : 0;
}

/**
 * srpt_alloc_ch - a channel for a login that was admitted
 * @sport: port that the login came in by
 * @adm: who admitted it
 *
 * The channel counts at the port and the portal group from here on. Of the size of what the
 * peer asks for nothing is allocated yet.
 *
 * Context: process; srpt_lock is held.
 * Return: the channel with one reference, which srpt_close_ch() sees to; or NULL.
 */
struct srpt_rdma_ch *srpt_alloc_ch(struct srpt_port *sport, const struct srpt_admission *adm)
{
	static u32 last_id;
	struct srpt_rdma_ch *ch;

	lockdep_assert_held(&srpt_lock);
	ch = kzalloc(sizeof(*ch), GFP_KERNEL);
	if (!ch)
		return NULL;
	ch->id = ++last_id;
	refcount_set(&ch->ref, 1);
	spin_lock_init(&ch->lock);
	spin_lock_init(&ch->sq_lock);
	INIT_LIST_HEAD(&ch->free_ctx);
	INIT_LIST_HEAD(&ch->parked);
	INIT_LIST_HEAD(&ch->sq_wait);
	INIT_LIST_HEAD(&ch->limbo);
	INIT_WORK(&ch->parked_work, srpt_parked_work);
	INIT_WORK(&ch->login_work, srpt_login_work);
	INIT_DELAYED_WORK(&ch->login_timer, srpt_login_timed_out);
	INIT_DELAYED_WORK(&ch->close_work, srpt_close_work);
	INIT_DELAYED_WORK(&ch->drain_work, srpt_drain_work);
	INIT_WORK(&ch->release_work, srpt_release_work);
	ch->sq_marker.done = srpt_end_marker;
	ch->rq_marker.done = srpt_end_marker;
	ch->sport = sport;
	ch->sdev = sport->sdev;
	ch->tpg = adm->tpg;
	strscpy(ch->acl, adm->acl, sizeof(ch->acl));
	list_add_tail(&ch->dev_entry, &ch->sdev->channels);
	atomic_inc(&sport->nr_channels);
	atomic_inc(&ch->tpg->nr_channels);
	return ch;
}

/**
 * srpt_qp_event - an asynchronous event of a channel's queue pair
 * @event: the event
 * @ctx: the channel, as given when the queue pair was created
 *
 * Context: any; the device's event context, which must not sleep.
 */
static void srpt_qp_event(struct ib_event *event, void *ctx)
{
	struct srpt_rdma_ch *ch = ctx;
	unsigned long flags;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		srpt_ch_heard(ch);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		spin_lock_irqsave(&ch->lock, flags);
		ch->last_wqe = true;
		if (ch->drain == SRPT_DRAIN_ARMED)
			mod_delayed_work(srpt_wq, &ch->drain_work, 0);
		spin_unlock_irqrestore(&ch->lock, flags);
		srpt_close_ch(ch, "connection lost");
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		srpt_close_ch(ch, ib_event_msg(event->event));
		break;
	default:
		pr_debug("%s: QP event %s\n", ch->name, ib_event_msg(event->event));
	}
}

/* The attributes for the next state, without any right of the peer to read or write here. */
static int srpt_modify_qp(struct srpt_rdma_ch *ch, struct ib_qp *qp, struct ib_qp_attr *attr)
{
	int mask, ret;

	ret = srpt_cm_qp_attr(ch, attr, &mask);
	if (ret || !mask)
		return ret;
	/* An RDMA read of an iWARP device needs the right to write its sink. */
	if (!rdma_protocol_iwarp(qp->device, ch->sport->port))
		attr->qp_access_flags = 0;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		attr->max_dest_rd_atomic = 0;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		attr->max_rd_atomic = ch->read_depth;
	return ib_modify_qp(qp, attr, mask);
}

/**
 * srpt_init_ch_qp - take a channel's queue pair from RESET to INIT
 * @ch: channel
 * @qp: queue pair
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error.
 */
static int srpt_init_ch_qp(struct srpt_rdma_ch *ch, struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int ret;

	ret = srpt_modify_qp(ch, qp, &attr);
	if (!ret)
		ch->initialized = true;
	return ret;
}

/**
 * srpt_ch_qp_rtr - take a channel's queue pair to 'ready to receive'
 * @ch: channel
 * @qp: queue pair
 *
 * Both connection managers have the attributes from srpt_cm_qp_attr(). A &struct ib_qp_attr is on
 * the stack for them: 216 bytes on 64-bit kernels 6.1 to 7.3, far below what a frame may have.
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error.
 */
int srpt_ch_qp_rtr(struct srpt_rdma_ch *ch, struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int ret;

	ret = srpt_modify_qp(ch, qp, &attr);
	if (!ret)
		ch->connected = true;
	return ret;
}

/**
 * srpt_ch_qp_rts - take a channel's queue pair to 'ready to send'
 * @ch: channel
 * @qp: queue pair
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error.
 */
int srpt_ch_qp_rts(struct srpt_rdma_ch *ch, struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };

	return srpt_modify_qp(ch, qp, &attr);
}

/**
 * srpt_ch_qp_err - take a channel's queue pair to the error state
 * @ch: channel
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error.
 */
static int srpt_ch_qp_err(struct srpt_rdma_ch *ch)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return ib_modify_qp(ch->qp, &attr, IB_QP_STATE);
}

static void srpt_size_qp(struct srpt_rdma_ch *ch, struct ib_qp_init_attr *init, u32 sq)
{
	struct ib_device *dev = ch->sdev->device;
	u32 per_rw = rdma_rw_max_send_wr(dev, ch->sport->port, 1, 0);
	u32 responses = min(ch->req_lim, sq / 2);

	ch->may_use_mr = per_rw > 1;
	init->cap.max_rdma_ctxs = (sq - responses) / max(per_rw, 1U);
	init->cap.max_send_wr = sq - init->cap.max_rdma_ctxs * per_rw;
	init->cap.max_send_sge = min_t(u32, dev->attrs.max_send_sge, SRPT_MAX_SGE);
	init->cap.max_inline_data = ch->max_inline;
	if (!ch->srq) {
		init->cap.max_recv_wr = ch->req_lim + SRPT_EXTRA_RECV + 1;
		init->cap.max_recv_sge = 1;
	}
}

static int srpt_create_qp(struct srpt_rdma_ch *ch, u32 sq)
{
	struct ib_qp_init_attr init = {
		.event_handler	= srpt_qp_event,
		.qp_context	= ch,
		.send_cq	= ch->cq,
		.recv_cq	= ch->cq,
		.srq		= ch->srq ? ch->srq->srq : NULL,
		.qp_type	= IB_QPT_RC,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.port_num	= ch->sport->port,
	};
	struct ib_qp *qp;

	srpt_size_qp(ch, &init, sq);
	qp = ib_create_qp(ch->sdev->pd, &init);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ch->qp = qp;
	ch->sq_size = sq - 1;
	ch->sq_avail = ch->sq_size;
	ch->max_inline = min(ch->max_inline, init.cap.max_inline_data);
	return 0;
}

/*
 * Devices differ in what they can do: without inline data, then with a smaller send queue. One
 * entry less is asked for, since devices keep one free and round up to a power of two.
 */
static int srpt_try_qp(struct srpt_rdma_ch *ch)
{
	u32 most = ch->sdev->device->attrs.max_qp_wr;
	u32 sq = max(min(ch->tpg->sq_size, most) - 1, SRPT_LEAST_SQ - 1);
	int ret;

	ch->max_inline = SRPT_INLINE;
	ret = srpt_create_qp(ch, sq);
	ch->max_inline = ret ? 0 : ch->max_inline;
	for (; ret && sq >= SRPT_LEAST_SQ - 1; sq /= 2)
		ret = srpt_create_qp(ch, sq);
	return ret;
}

/**
 * srpt_create_ch_ib - create completion queue and queue pair of a channel
 * @ch: channel with its request limit, and its SRQ if it has one
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error; what was created goes with the channel.
 */
int srpt_create_ch_ib(struct srpt_rdma_ch *ch)
{
	struct ib_device *dev = ch->sdev->device;
	int vector = (u32)atomic_inc_return(&ch->sdev->next_vector) % dev->num_comp_vectors;
	int cqe = ch->tpg->sq_size + ch->req_lim + SRPT_EXTRA_RECV + 2;
	struct ib_cq *cq;
	int ret;

	cq = ib_alloc_cq(dev, ch, min_t(int, cqe, dev->attrs.max_cqe), vector, IB_POLL_WORKQUEUE);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	ch->cq = cq;
	ret = srpt_try_qp(ch);
	if (ret)
		return ret;
	return srpt_init_ch_qp(ch, ch->qp);
}

static void srpt_destroy_ch_ib(struct srpt_rdma_ch *ch)
{
	if (ch->qp)
		ib_destroy_qp(ch->qp);
	if (ch->cq)
		ib_free_cq(ch->cq);
}

/**
 * srpt_ch_connecting - the login of a channel is about to be accepted
 * @ch: channel
 *
 * Return: false if it has been closed meanwhile and must not be.
 */
bool srpt_ch_connecting(struct srpt_rdma_ch *ch)
{
	bool ok;

	spin_lock_irq(&ch->lock);
	ok = ch->state == SRPT_CH_LOGIN;
	if (ok)
		ch->state = SRPT_CH_CONNECTING;
	spin_unlock_irq(&ch->lock);
	trace_srpt_channel(ch, ok ? "connecting" : "closed during login");
	return ok;
}

/**
 * srpt_ch_live - the initiator has confirmed the connection
 * @ch: channel; requests that came early are run
 *
 * Context: process.
 */
void srpt_ch_live(struct srpt_rdma_ch *ch)
{
	bool live;

	spin_lock_irq(&ch->lock);
	live = ch->state == SRPT_CH_CONNECTING;
	if (live) {
		ch->state = SRPT_CH_LIVE;
		queue_work(srpt_wq, &ch->parked_work);
	}
	spin_unlock_irq(&ch->lock);
	if (live) {
		srpt_login_over(ch);
		cancel_delayed_work(&ch->login_timer);
		trace_srpt_channel(ch, "live");
		pr_info_ratelimited("%s: logged in to %s\n", ch->name, ch->tpg->tport->text);
	}
}

static bool srpt_begin_close(struct srpt_rdma_ch *ch, const char *why,
			     enum srpt_ch_farewell farewell, u32 logout)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&ch->lock, flags);
	first = ch->state < SRPT_CH_CLOSING;
	if (first) {
		ch->farewell = ch->state == SRPT_CH_LIVE ? farewell : SRPT_FAREWELL_NONE;
		ch->logout = logout;
		ch->state = SRPT_CH_CLOSING;
		ch->why = why;
		queue_delayed_work(srpt_wq, &ch->close_work, 0);
	}
	spin_unlock_irqrestore(&ch->lock, flags);
	return first;
}

/**
 * srpt_close_ch - end a channel whose initiator wants that or knows, or cannot be reached
 * @ch: channel; the caller has a reference, or knows that it has not been released
 * @why: reason, for the log; a static string
 *
 * Context: any.
 * Return: true if this call began it, false if it was closing already.
 */
bool srpt_close_ch(struct srpt_rdma_ch *ch, const char *why)
{
	return srpt_begin_close(ch, why, SRPT_FAREWELL_NONE, 0);
}

/**
 * srpt_end_ch - end a channel because we want that, and tell the initiator
 * @ch: channel; as for srpt_close_ch()
 * @why: reason, for the log; a static string
 * @logout: SRPT_LOGOUT_*, the reason in the SRP_T_LOGOUT
 *
 * One that is not live (yet) is closed without a word.
 *
 * Context: any.
 * Return: true if this call began it, false if it was closing already.
 */
bool srpt_end_ch(struct srpt_rdma_ch *ch, const char *why, u32 logout)
{
	return srpt_begin_close(ch, why, SRPT_FAREWELL_WANTED, logout);
}

/**
 * srpt_farewell_over - an SRP_T_LOGOUT has left, or will not
 * @ch: channel
 *
 * Context: any.
 */
void srpt_farewell_over(struct srpt_rdma_ch *ch)
{
	unsigned long flags;

	spin_lock_irqsave(&ch->lock, flags);
	if (ch->farewell == SRPT_FAREWELL_SENT)
		mod_delayed_work(srpt_wq, &ch->close_work, 0);
	spin_unlock_irqrestore(&ch->lock, flags);
}

/* Whether close_work has to run again before it can go on: there is something to say first. */
static bool srpt_say_farewell(struct srpt_rdma_ch *ch)
{
	bool wanted;

	spin_lock_irq(&ch->lock);
	wanted = ch->farewell == SRPT_FAREWELL_WANTED;
	if (wanted) {
		ch->farewell = SRPT_FAREWELL_SENT;
		queue_delayed_work(srpt_wq, &ch->close_work,
				   msecs_to_jiffies(SRPT_FAREWELL_TIMEOUT));
	}
	spin_unlock_irq(&ch->lock);
	if (wanted && !srpt_send_logout(ch))
		srpt_farewell_over(ch);
	return wanted;
}

/* Once per channel: what comes after the farewell. */
static bool srpt_begin_teardown(struct srpt_rdma_ch *ch)
{
	bool first;

	spin_lock_irq(&ch->lock);
	first = ch->farewell != SRPT_FAREWELL_OVER;
	ch->farewell = SRPT_FAREWELL_OVER;
	spin_unlock_irq(&ch->lock);
	return first;
}

/* Goes on with the teardown after the last-WQE event, where there is one to wait for. */
static void srpt_arm_drain(struct srpt_rdma_ch *ch)
{
	bool now;

	spin_lock_irq(&ch->lock);
	now = !ch->srq || !ch->connected || ch->last_wqe;
	if (!now)
		ch->drain = SRPT_DRAIN_ARMED;
	queue_delayed_work(srpt_wq, &ch->drain_work, now ? 0 : SRPT_LAST_WQE_TIMEOUT * HZ);
	spin_unlock_irq(&ch->lock);
}

static void srpt_close_work(struct work_struct *work)
{
	struct srpt_rdma_ch *ch = container_of(work, struct srpt_rdma_ch, close_work.work);

	cancel_delayed_work_sync(&ch->login_timer);
	cancel_work_sync(&ch->login_work);
	cancel_work_sync(&ch->parked_work);
	if (srpt_say_farewell(ch) || !srpt_begin_teardown(ch))
		return;
	trace_srpt_teardown(ch, ch->why);
	if (ch->accepted)
		pr_info_ratelimited("%s: closing: %s\n", ch->name, ch->why);
	srpt_goodbye(ch);
	/* There is no way from RESET to the error state, and nothing to flush. */
	if (ch->initialized)
		srpt_ch_qp_err(ch);
	srpt_drop_parked(ch);
	srpt_arm_drain(ch);
}

/**
 * srpt_zerolength_write - post the end marker of a send queue
 * @ch: channel whose queue pair is in the error state
 *
 * An RDMA write of no bytes: it completes, flushed, after all that was posted before it.
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
static int srpt_zerolength_write(struct srpt_rdma_ch *ch)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe		= &ch->sq_marker,
			.opcode		= IB_WR_RDMA_WRITE,
			.send_flags	= IB_SEND_SIGNALED,
		}
	};

	return ib_post_send(ch->qp, &wr.wr, NULL);
}

static int srpt_recv_marker(struct srpt_rdma_ch *ch)
{
	struct ib_recv_wr wr = { .wr_cqe = &ch->rq_marker };

	return ib_post_recv(ch->qp, &wr, NULL);
}

static void srpt_post_markers(struct srpt_rdma_ch *ch)
{
	srpt_get_ch(ch);
	if (srpt_zerolength_write(ch)) {
		srpt_end_limbo(ch);
		srpt_put_ch(ch);
	}
	srpt_get_ch(ch);
	if (ch->srq || srpt_recv_marker(ch))
		srpt_put_ch(ch);
}

static void srpt_drain_work(struct work_struct *work)
{
	struct srpt_rdma_ch *ch = container_of(work, struct srpt_rdma_ch, drain_work.work);
	bool begun;

	spin_lock_irq(&ch->lock);
	begun = ch->drain == SRPT_DRAIN_BEGUN;
	ch->drain = SRPT_DRAIN_BEGUN;
	spin_unlock_irq(&ch->lock);
	if (begun)
		return;
	trace_srpt_teardown(ch, "draining");
	/* A queue pair that was never connected has sent nothing. */
	if (ch->connected)
		srpt_post_markers(ch);
	srpt_put_ch(ch);
}

static void srpt_free_nexus(struct kref *ref)
{
	struct srpt_nexus *nexus = container_of(ref, struct srpt_nexus, ref);

	target_stop_session(nexus->sess);
	target_wait_for_sess_cmds(nexus->sess);
	target_remove_session(nexus->sess);
	kfree(nexus);
}

/* Others look at ch->nexus under srpt_lock, and find it there as long as it is held. */
static void srpt_leave_nexus(struct srpt_rdma_ch *ch)
{
	struct srpt_nexus *nexus = NULL;

	mutex_lock(&srpt_lock);
	swap(nexus, ch->nexus);
	mutex_unlock(&srpt_lock);
	if (nexus)
		kref_put(&nexus->ref, srpt_free_nexus);
}

static void srpt_free_recv(struct srpt_rdma_ch *ch)
{
	if (ch->srq) {
		srpt_srq_return(ch->srq, ch->req_lim + SRPT_EXTRA_RECV);
		srpt_put_srq(ch->srq);
	}
	srpt_free_ioctx_ring(ch->sdev->device, ch->recv_ring);
}

/* Lets go of port and portal group, whose removal may wait for just that. */
static void srpt_uncount_ch(struct srpt_rdma_ch *ch)
{
	mutex_lock(&srpt_lock);
	list_del(&ch->dev_entry);
	srpt_kick_logins(ch);
	if (atomic_dec_and_test(&ch->tpg->nr_channels))
		wake_up_var(&ch->tpg->nr_channels);
	if (atomic_dec_and_test(&ch->sport->nr_channels))
		wake_up_var(&ch->sport->nr_channels);
	mutex_unlock(&srpt_lock);
}

static void srpt_release_work(struct work_struct *work)
{
	struct srpt_rdma_ch *ch = container_of(work, struct srpt_rdma_ch, release_work);

	trace_srpt_teardown(ch, "drained");
	srpt_leave_nexus(ch);
	srpt_destroy_ch_ib(ch);
	srpt_destroy_cm_id(ch);
	cancel_delayed_work_sync(&ch->close_work);
	cancel_delayed_work_sync(&ch->drain_work);
	cancel_work_sync(&ch->parked_work);
	srpt_free_recv(ch);
	srpt_free_ioctx_ring(ch->sdev->device, ch->send_ring);
	srpt_uncount_ch(ch);
	/* Another channel may have kicked the login until then; it does nothing any more. */
	cancel_work_sync(&ch->login_work);
	kfree(ch);
}

/* Ends the channels of a device for which @match says so. Under srpt_lock. */
static void srpt_end_where(struct srpt_device *sdev,
			   bool (*match)(const struct srpt_rdma_ch *ch, const void *arg),
			   const void *arg, const char *why)
{
	struct srpt_rdma_ch *ch;

	lockdep_assert_held(&srpt_lock);
	list_for_each_entry(ch, &sdev->channels, dev_entry)
		if (match(ch, arg))
			srpt_end_ch(ch, why, SRPT_LOGOUT_NO_REASON);
}

static void srpt_end_everywhere(bool (*match)(const struct srpt_rdma_ch *ch, const void *arg),
				const void *arg, const char *why)
{
	struct srpt_device *sdev;

	mutex_lock(&srpt_lock);
	list_for_each_entry(sdev, &srpt_devices, list)
		srpt_end_where(sdev, match, arg, why);
	mutex_unlock(&srpt_lock);
}

static bool srpt_ch_on_port(const struct srpt_rdma_ch *ch, const void *sport)
{
	return ch->sport == sport;
}

static bool srpt_ch_of_tpg(const struct srpt_rdma_ch *ch, const void *tpg)
{
	return ch->tpg == tpg;
}

static bool srpt_ch_on_srq(const struct srpt_rdma_ch *ch, const void *srq)
{
	return ch->srq == srq;
}

static bool srpt_ch_of_session(const struct srpt_rdma_ch *ch, const void *sess)
{
	return ch->nexus && ch->nexus->sess == sess;
}

/**
 * srpt_close_port - close the channels of a port
 * @sport: port
 * @why: reason, for the log; a static string
 *
 * Context: process; may sleep, does not wait for them to be gone.
 */
void srpt_close_port(struct srpt_port *sport, const char *why)
{
	mutex_lock(&srpt_lock);
	srpt_end_where(sport->sdev, srpt_ch_on_port, sport, why);
	mutex_unlock(&srpt_lock);
}

/**
 * srpt_close_tpg - close the channels of a portal group
 * @tpg: portal group
 * @why: reason, for the log; a static string
 *
 * Context: process; may sleep, does not wait for them to be gone.
 */
void srpt_close_tpg(struct srpt_tpg *tpg, const char *why)
{
	srpt_end_everywhere(srpt_ch_of_tpg, tpg, why);
}

/**
 * srpt_close_srq - close the channels that use a shared receive queue
 * @srq: the queue, which failed
 *
 * Context: process; may sleep, does not wait for them to be gone.
 */
void srpt_close_srq(struct srpt_srq *srq)
{
	mutex_lock(&srpt_lock);
	srpt_end_where(srq->sdev, srpt_ch_on_srq, srq, "shared receive queue failed");
	mutex_unlock(&srpt_lock);
}

/**
 * srpt_close_session - the target core wants a session closed
 * @sess: the session, mostly because its ACL is being removed
 *
 * Context: process; may sleep, does not wait for it to be gone.
 */
void srpt_close_session(struct se_session *sess)
{
	srpt_end_everywhere(srpt_ch_of_session, sess, "session closed by the target core");
}
