// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibloop: queue pairs; their send queues are worked off here.
 *
 * Copyright the ib_srpt authors
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "ibloop.h"

/* Work requests that one queue pair executes before others have their turn. */
#define LB_BUDGET	64
#define LB_MAX_DELAY	(10 * USEC_PER_SEC)

/*
 * Held for reading while data are copied to or from memory that a remote key opens, from the check
 * of the key on. Who invalidates a key takes it once for writing afterwards: then nobody copies
 * there any more.
 */
DEFINE_RWLOCK(lb_copy_lock);

/**
 * lb_wait_for_copies() - wait until nobody copies under a remote key that is invalid now
 *
 * Context: any; spins while a message is copied, which takes as long as a memcpy() of it.
 */
void lb_wait_for_copies(void)
{
	unsigned long flags;

	write_lock_irqsave(&lb_copy_lock, flags);
	write_unlock_irqrestore(&lb_copy_lock, flags);
}

/**
 * lb_copy() - copy from one list of memory pieces to another
 * @to: where to, long enough
 * @from: where from, long enough; its references to memory regions stay
 * @length: bytes
 * @release: let go of the memory regions that @to is done with
 */
void lb_copy(struct rvt_sge_state *to, struct rvt_sge_state *from, u32 length, bool release)
{
	u32 n;

	for (; length; length -= n) {
		n = rvt_get_sge_length(&to->sge, rvt_get_sge_length(&from->sge, length));
		if (WARN_ON_ONCE(!n))
			return;
		memcpy(to->sge.vaddr, from->sge.vaddr, n);
		rvt_update_sge(to, n, release);
		rvt_update_sge(from, n, false);
	}
}

/**
 * lb_sge_of_wqe() - begin with the data of a send work request
 * @ss: position in them
 * @wqe: the work request, whose own list stays as it is
 */
void lb_sge_of_wqe(struct rvt_sge_state *ss, struct rvt_swqe *wqe)
{
	ss->sge = wqe->sg_list[0];
	ss->sg_list = wqe->sg_list + 1;
	ss->num_sge = wqe->wr.num_sge;
	ss->total_len = wqe->length;
}

/* --- Events ------------------------------------------------------------------------------- */

static void lb_last_wqe_work(struct work_struct *work)
{
	struct lb_qp *lqp = container_of(to_delayed_work(work), struct lb_qp, last_wqe);
	struct ib_event event = {
		.device = lqp->qp->ibqp.device,
		.element.qp = &lqp->qp->ibqp,
		.event = IB_EVENT_QP_LAST_WQE_REACHED,
	};

	lqp->event_handler(&event, lqp->qp->ibqp.qp_context);
}

/* Stands before the consumer's handler, since rdmavt raises events too. */
static void lb_qp_event(struct ib_event *event, void *context)
{
	struct rvt_qp *qp = ibqp_to_rvtqp(event->element.qp);
	struct lb_qp *lqp = qp->priv;
	u32 late = READ_ONCE(lb_qp_port(qp)->faults.last_wqe);

	if (event->event != IB_EVENT_QP_LAST_WQE_REACHED || !late)
		lqp->event_handler(event, context);
	else if (late != LB_LAST_WQE_NEVER)
		queue_delayed_work(lb_wq, &lqp->last_wqe, msecs_to_jiffies(late));
}

/**
 * lb_qp_raise() - tell the owner of a queue pair about it
 * @qp: the queue pair
 * @type: what happened
 *
 * Context: no lock held; the caller sees to it that the queue pair stays.
 */
void lb_qp_raise(struct rvt_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = type,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/**
 * lb_qp_error() - put a queue pair into the error state
 * @qp: the queue pair
 * @status: what the receive that is in use, if any, completes with
 *
 * Context: no lock held; the caller sees to it that the queue pair stays.
 */
void lb_qp_error(struct rvt_qp *qp, enum ib_wc_status status)
{
	unsigned long flags;
	int last;

	spin_lock_irqsave(&qp->r_lock, flags);
	spin_lock(&qp->s_lock);
	last = rvt_error_qp(qp, status);
	spin_unlock(&qp->s_lock);
	spin_unlock_irqrestore(&qp->r_lock, flags);
	if (last)
		lb_qp_raise(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* --- Sending ------------------------------------------------------------------------------ */

static bool lb_schedule_send(struct rvt_qp *qp)
{
	struct lb_qp *lqp = qp->priv;

	return mod_delayed_work(lb_wq, &lqp->send, 0);
}

/* Always from the work queue: the caller may hold locks of its own that a handler wants. */
static void lb_do_send(struct rvt_qp *qp)
{
	lb_schedule_send(qp);
}

/* Must the queue pair still wait before it tries again? Sees to it that it does then. */
static bool lb_must_wait(struct lb_qp *lqp)
{
	if (!lqp->waiting)
		return false;
	if (time_before(jiffies, lqp->wait_until)) {
		mod_delayed_work(lb_wq, &lqp->send, lqp->wait_until - jiffies);
		return true;
	}
	lqp->waiting = false;
	return false;
}

static bool lb_is_local(struct rvt_swqe *wqe)
{
	return wqe->wr.opcode == IB_WR_REG_MR || wqe->wr.opcode == IB_WR_LOCAL_INV;
}

/*
 * The work request at the head of the send queue, if it is time to do something about it, and
 * what: execute it (IB_WC_SUCCESS) or flush it.
 */
static struct rvt_swqe *lb_next_wqe(struct lb_qp *lqp, enum ib_wc_status *todo)
{
	struct rvt_qp *qp = lqp->qp;
	struct rvt_swqe *wqe = NULL;
	unsigned long flags;
	int ops;

	spin_lock_irqsave(&qp->s_lock, flags);
	ops = ib_rvt_state_ops[qp->state];
	if (qp->s_last == READ_ONCE(qp->s_head))
		goto out;
	smp_rmb(); /* the work request was written before s_head */
	if (ops & RVT_FLUSH_SEND) {
		*todo = IB_WC_WR_FLUSH_ERR;
	} else if ((ops & RVT_PROCESS_NEXT_SEND_OK) && !lb_must_wait(lqp)) {
		*todo = IB_WC_SUCCESS;
		if (qp->s_cur == qp->s_last)
			qp->s_cur = rvt_qp_swqe_incr(qp, qp->s_cur);
	} else {
		goto out;
	}
	wqe = rvt_get_swqe_ptr(qp, qp->s_last);
out:
	spin_unlock_irqrestore(&qp->s_lock, flags);
	return wqe;
}

/* Most local work was done when it was posted and is only completed here. */
static enum ib_wc_status lb_local_op(struct rvt_qp *qp, struct rvt_swqe *wqe)
{
	if (wqe->wr.send_flags & RVT_SEND_COMPLETION_ONLY)
		return IB_WC_SUCCESS;
	if (rvt_invalidate_rkey(qp, wqe->wr.ex.invalidate_rkey))
		return IB_WC_LOC_PROT_ERR;
	lb_wait_for_copies();
	return IB_WC_SUCCESS;
}

static enum ib_wc_status lb_execute(struct rvt_qp *qp, struct rvt_swqe *wqe)
{
	if (lb_is_local(wqe))
		return lb_local_op(qp, wqe);
	if (qp->ibqp.qp_type == IB_QPT_RC || qp->ibqp.qp_type == IB_QPT_UC)
		return lb_rc_send(qp, wqe);
	lb_ud_send(qp, wqe);
	return IB_WC_SUCCESS;
}

/* Time until a request that got no answer is repeated, in jiffies; at least one. */
static unsigned long lb_timeout(struct rvt_qp *qp)
{
	u32 ms = READ_ONCE(lb_qp_port(qp)->faults.retry_ms);

	if (ms)
		return max(1UL, msecs_to_jiffies(ms));
	return max(1UL, qp->timeout ? rvt_timeout_to_jiffies(qp->timeout) : HZ);
}

/* Is a request that failed repeated, and when? (A time-out of 0 is none: it is for ever.) */
static bool lb_try_again(struct lb_qp *lqp, enum ib_wc_status status)
{
	struct rvt_qp *qp = lqp->qp;

	switch (status) {
	case IB_WC_RNR_RETRY_EXC_ERR:
		if (qp->s_rnr_retry_cnt != 7 && lqp->rnr_tries++ >= qp->s_rnr_retry_cnt)
			return false;
		lqp->wait_until = jiffies + usecs_to_jiffies(lqp->rnr_usec);
		break;
	case IB_WC_RETRY_EXC_ERR:
		if ((qp->timeout || READ_ONCE(lb_qp_port(qp)->faults.retry_ms)) &&
		    lqp->tries++ >= qp->s_retry_cnt)
			return false;
		lqp->wait_until = jiffies + lb_timeout(qp);
		break;
	default:
		return false;
	}
	lqp->waiting = true;
	return true;
}

/* Of a completion that a knob loses only the entry in the completion queue is missing. */
static void lb_complete_unseen(struct rvt_qp *qp, struct rvt_swqe *wqe)
{
	u32 old = qp->s_flags;

	qp->s_flags |= RVT_S_SIGNAL_REQ_WR;
	wqe->wr.send_flags &= ~IB_SEND_SIGNALED;
	rvt_send_complete(qp, wqe, IB_WC_SUCCESS);
	qp->s_flags = (qp->s_flags & ~RVT_S_SIGNAL_REQ_WR) | (old & RVT_S_SIGNAL_REQ_WR);
}

static bool lb_loses_send_wc(struct rvt_qp *qp, enum ib_wc_status status)
{
	return status == IB_WC_SUCCESS && qp->allowed_ops != IB_OPCODE_UD &&
	       lb_nth(&lb_qp_port(qp)->faults.drop_send_wc);
}

/* An error other than the flush of a queue pair that is in error already puts it there. */
static void lb_complete(struct rvt_qp *qp, struct rvt_swqe *wqe, enum ib_wc_status status)
{
	unsigned long flags;
	int last = 0;

	if (lb_is_local(wqe) && !(wqe->wr.send_flags & RVT_SEND_COMPLETION_ONLY))
		atomic_dec(&qp->local_ops_pending);
	spin_lock_irqsave(&qp->r_lock, flags);
	spin_lock(&qp->s_lock);
	if (lb_loses_send_wc(qp, status))
		lb_complete_unseen(qp, wqe);
	else
		rvt_send_complete(qp, wqe, status);
	if (status != IB_WC_SUCCESS && status != IB_WC_WR_FLUSH_ERR)
		last = rvt_error_qp(qp, IB_WC_WR_FLUSH_ERR);
	spin_unlock(&qp->s_lock);
	spin_unlock_irqrestore(&qp->r_lock, flags);
	if (last)
		lb_qp_raise(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

static void lb_delay(struct rvt_qp *qp)
{
	u32 delay = READ_ONCE(lb_qp_port(qp)->faults.delay_us);

	if (delay && qp->allowed_ops != IB_OPCODE_UD)
		fsleep(min_t(u32, delay, LB_MAX_DELAY));
}

static bool lb_send_fails(struct rvt_qp *qp, struct rvt_swqe *wqe)
{
	return qp->ibqp.qp_type == IB_QPT_RC && !lb_is_local(wqe) &&
	       lb_next(&lb_qp_port(qp)->faults.fail_sends);
}

/* Execute one work request. False: it stays at the head and is tried again later. */
static bool lb_send_one(struct lb_qp *lqp, struct rvt_swqe *wqe)
{
	struct rvt_qp *qp = lqp->qp;
	enum ib_wc_status status = IB_WC_RETRY_EXC_ERR;

	if (!lb_send_fails(qp, wqe)) {
		status = lb_execute(qp, wqe);
		if (lb_try_again(lqp, status))
			return false;
	}
	lqp->rnr_tries = 0;
	lqp->tries = 0;
	lb_delay(qp);
	lb_complete(qp, wqe, status);
	return true;
}

static void lb_send_work(struct work_struct *work)
{
	struct lb_qp *lqp = container_of(to_delayed_work(work), struct lb_qp, send);
	enum ib_wc_status todo;
	struct rvt_swqe *wqe;
	int left;

	for (left = LB_BUDGET; left; left--) {
		wqe = lb_next_wqe(lqp, &todo);
		if (!wqe)
			return;
		if (todo == IB_WC_WR_FLUSH_ERR)
			lb_complete(lqp->qp, wqe, todo);
		else
			lb_send_one(lqp, wqe);
		cond_resched();
	}
	lb_schedule_send(lqp->qp);
}

/**
 * lb_post_send() - the verb: rdmavt's, and local invalidation waits for copies that run
 * @ibqp: the queue pair
 * @wr: work requests
 * @bad: the one that was refused
 *
 * Context: any.
 * Return: 0 or a negative error.
 */
int lb_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	int ret = lb_ibdev_hca(ibqp->device)->rvt_post_send(ibqp, wr, bad);

	for (; wr; wr = wr->next) {
		if (wr->opcode == IB_WR_LOCAL_INV) {
			lb_wait_for_copies();
			break;
		}
	}
	return ret;
}

/* --- Calls of rdmavt ---------------------------------------------------------------------- */

static void *lb_qp_alloc(struct rvt_dev_info *rdi, struct rvt_qp *qp)
{
	struct lb_qp *lqp = kzalloc(sizeof(*lqp), GFP_KERNEL);

	if (!lqp)
		return ERR_PTR(-ENOMEM);
	lqp->qp = qp;
	INIT_DELAYED_WORK(&lqp->send, lb_send_work);
	INIT_DELAYED_WORK(&lqp->last_wqe, lb_last_wqe_work);
	return lqp;
}

static int lb_qp_init(struct rvt_dev_info *rdi, struct rvt_qp *qp, struct ib_qp_init_attr *attr)
{
	struct lb_qp *lqp = qp->priv;

	lqp->event_handler = qp->ibqp.event_handler;
	if (lqp->event_handler)
		qp->ibqp.event_handler = lb_qp_event;
	return 0;
}

/* Sending stops; also called once more when timers that might start it again are gone. */
static void lb_qp_stop(struct rvt_qp *qp)
{
	struct lb_qp *lqp = qp->priv;

	cancel_delayed_work_sync(&lqp->send);
	lqp->waiting = false;
	lqp->rnr_tries = 0;
	lqp->tries = 0;
}

static void lb_qp_was_reset(struct rvt_qp *qp)
{
	atomic_set(&qp->local_ops_pending, 0);
}

static void lb_qp_free(struct rvt_dev_info *rdi, struct rvt_qp *qp)
{
	struct lb_qp *lqp = qp->priv;

	cancel_delayed_work_sync(&lqp->send);
	cancel_delayed_work_sync(&lqp->last_wqe);
	kfree(lqp);
}

static void lb_qp_nothing(struct rvt_qp *qp)
{
}

static void lb_qp_no_restart(struct rvt_qp *qp, u32 psn, int wait)
{
}

static unsigned int lb_special_qps(struct rvt_dev_info *rdi)
{
	struct lb_hca *hca = lb_rdi_hca(rdi);
	unsigned int i, n = 0;

	for (i = 0; i < hca->nports; i++) {
		n += !!rcu_access_pointer(hca->ports[i].rvp.qp[0]);
		n += !!rcu_access_pointer(hca->ports[i].rvp.qp[1]);
	}
	return n;
}

static int lb_setup_wqe(struct rvt_qp *qp, struct rvt_swqe *wqe, bool *call_send)
{
	if (qp->allowed_ops == IB_OPCODE_UD &&
	    wqe->length > ib_mtu_enum_to_int(lb_port_mtu(lb_qp_port(qp))))
		return -EINVAL;
	return 0;
}

static int lb_path_mtu(struct rvt_dev_info *rdi, struct rvt_qp *qp, struct ib_qp_attr *attr)
{
	return attr->path_mtu >= IB_MTU_256 && attr->path_mtu <= IB_MTU_4096 ? attr->path_mtu :
									      -EINVAL;
}

static u32 lb_mtu_bytes(struct rvt_dev_info *rdi, struct rvt_qp *qp, u32 mtu)
{
	return ib_mtu_enum_to_int(mtu);
}

static int lb_mtu_enum(u32 bytes)
{
	return ib_mtu_int_to_enum(bytes);
}

static void lb_new_ah(struct ib_device *ibdev, struct rdma_ah_attr *attr, struct rvt_ah *ah)
{
	ah->log_pmtu = ilog2(4096);
}

/**
 * lb_qp_driver() - fill in what rdmavt calls about queue pairs
 * @f: the table
 */
void lb_qp_driver(struct rvt_driver_provided *f)
{
	f->qp_priv_alloc = lb_qp_alloc;
	f->qp_priv_init = lb_qp_init;
	f->qp_priv_free = lb_qp_free;
	f->do_send = lb_do_send;
	f->schedule_send = lb_schedule_send;
	f->schedule_send_no_lock = lb_schedule_send;
	f->setup_wqe = lb_setup_wqe;
	f->stop_send_queue = lb_qp_stop;
	f->quiesce_qp = lb_qp_stop;
	f->notify_qp_reset = lb_qp_was_reset;
	f->notify_error_qp = lb_qp_nothing;
	f->flush_qp_waiters = lb_qp_nothing;
	f->notify_restart_rc = lb_qp_no_restart;
	f->free_all_qps = lb_special_qps;
	f->get_pmtu_from_attr = lb_path_mtu;
	f->mtu_from_qp = lb_mtu_bytes;
	f->mtu_to_path_mtu = lb_mtu_enum;
	f->notify_new_ah = lb_new_ah;
}
