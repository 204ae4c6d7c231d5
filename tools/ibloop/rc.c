// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibloop: connected queue pairs. A message is executed at once, by the sender's work, on the
 * receiver's memory: there are no packets, sequence numbers or acknowledgements. What the
 * receiver would answer with a negative acknowledgement is the status returned.
 *
 * Copyright the ib_srpt authors
 */
#include <linux/mm.h>
#include "ibloop.h"

/**
 * struct lb_msg - a message that arrives
 * @sqp: the sender
 * @dqp: the receiver; a reference is held
 * @wqe: the sender's work request
 * @data: the sender's memory
 * @recv_status: what the receive in use completes with when the message is refused
 */
struct lb_msg {
	struct rvt_qp *sqp;
	struct rvt_qp *dqp;
	struct rvt_swqe *wqe;
	struct rvt_sge_state data;
	enum ib_wc_status recv_status;
};

static bool lb_connected(struct rvt_qp *sqp, struct rvt_qp *dqp, struct lb_port *port)
{
	struct lb_port *from = lb_qp_port(sqp);

	return dqp->port_num == port->num && dqp->ibqp.qp_type == sqp->ibqp.qp_type &&
	       dqp->remote_qpn == sqp->ibqp.qp_num &&
	       lb_pkeys_match(lb_port_pkey(from, sqp->s_pkey_index),
			      lb_port_pkey(port, dqp->s_pkey_index));
}

/* The queue pair at the other end, with a reference, or NULL if there is none or no way to it. */
static struct rvt_qp *lb_find_receiver(struct rvt_qp *sqp)
{
	struct lb_port *from = lb_qp_port(sqp), *port;
	struct rvt_qp *dqp = NULL;

	rcu_read_lock();
	port = lb_route(from, rdma_ah_get_dlid(&sqp->remote_ah_attr), false);
	if (port)
		dqp = rvt_lookup_qpn(&port->hca->rdi, &port->rvp, sqp->remote_qpn);
	if (dqp && lb_connected(sqp, dqp, port))
		rvt_get_qp(dqp);
	else
		dqp = NULL;
	rcu_read_unlock();
	return dqp;
}

/* The first message at a queue pair that is not ready to send yet: its owner may want to know. */
static void lb_established(struct rvt_qp *qp)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&qp->r_lock, flags);
	first = qp->state == IB_QPS_RTR && !(qp->r_flags & RVT_R_COMM_EST);
	if (first)
		qp->r_flags |= RVT_R_COMM_EST;
	spin_unlock_irqrestore(&qp->r_lock, flags);
	if (first)
		lb_qp_raise(qp, IB_EVENT_COMM_EST);
}

/* --- Remote memory ------------------------------------------------------------------------ */

/* Remote key 0 opens all of the kernel's memory, to whom a protection domain was made so. */
static bool lb_global_key_ok(struct rvt_qp *qp, u64 addr, u32 length)
{
	const void *first = (void *)(unsigned long)addr;

	return (qp->ibqp.pd->flags & IB_PD_UNSAFE_GLOBAL_RKEY) && addr + length > addr &&
	       virt_addr_valid(first) && virt_addr_valid(first + length - 1);
}

/* Open the receiver's memory. The caller holds lb_copy_lock until it is done there. */
static bool lb_open(struct lb_msg *msg, struct rvt_sge_state *ss, u64 addr, u32 key, int access)
{
	u32 length = msg->wqe->length;

	if (!key && !lb_global_key_ok(msg->dqp, addr, length))
		return false;
	if (!rvt_rkey_ok(msg->dqp, &ss->sge, length, addr, key, access))
		return false;
	ss->sg_list = NULL;
	ss->num_sge = 1;
	ss->total_len = length;
	return true;
}

static enum ib_wc_status lb_write(struct lb_msg *msg)
{
	struct ib_rdma_wr *wr = &msg->wqe->rdma_wr;
	enum ib_wc_status status = IB_WC_SUCCESS;
	struct rvt_sge_state remote;

	if (!(msg->dqp->qp_access_flags & IB_ACCESS_REMOTE_WRITE))
		return IB_WC_REM_INV_REQ_ERR;
	if (!msg->wqe->length)
		return IB_WC_SUCCESS;
	read_lock(&lb_copy_lock);
	if (lb_open(msg, &remote, wr->remote_addr, wr->rkey, IB_ACCESS_REMOTE_WRITE))
		lb_copy(&remote, &msg->data, msg->wqe->length, true);
	else
		status = IB_WC_REM_ACCESS_ERR;
	read_unlock(&lb_copy_lock);
	return status;
}

static enum ib_wc_status lb_read(struct lb_msg *msg)
{
	struct ib_rdma_wr *wr = &msg->wqe->rdma_wr;
	enum ib_wc_status status = IB_WC_SUCCESS;
	struct rvt_sge_state remote;
	struct rvt_mregion *mr;

	if (!(msg->dqp->qp_access_flags & IB_ACCESS_REMOTE_READ) || !msg->dqp->r_max_rd_atomic)
		return IB_WC_REM_INV_REQ_ERR;
	if (!msg->wqe->length)
		return IB_WC_SUCCESS;
	read_lock(&lb_copy_lock);
	if (lb_open(msg, &remote, wr->remote_addr, wr->rkey, IB_ACCESS_REMOTE_READ)) {
		mr = remote.sge.mr;
		lb_copy(&msg->data, &remote, msg->wqe->length, false);
		rvt_put_mr(mr);
	} else {
		status = IB_WC_REM_ACCESS_ERR;
	}
	read_unlock(&lb_copy_lock);
	return status;
}

static u64 lb_atomic_op(atomic64_t *at, struct rvt_swqe *wqe)
{
	struct ib_atomic_wr *wr = &wqe->atomic_wr;

	if (wqe->wr.opcode == IB_WR_ATOMIC_CMP_AND_SWP)
		return atomic64_cmpxchg(at, wr->compare_add, wr->swap);
	return atomic64_fetch_add(wr->compare_add, at);
}

static enum ib_wc_status lb_atomic(struct lb_msg *msg)
{
	struct ib_atomic_wr *wr = &msg->wqe->atomic_wr;
	struct rvt_sge sge;
	u64 old;

	if (!(msg->dqp->qp_access_flags & IB_ACCESS_REMOTE_ATOMIC) || !msg->dqp->r_max_rd_atomic ||
	    wr->remote_addr % sizeof(u64))
		return IB_WC_REM_INV_REQ_ERR;
	read_lock(&lb_copy_lock);
	if ((!wr->rkey && !lb_global_key_ok(msg->dqp, wr->remote_addr, sizeof(u64))) ||
	    !rvt_rkey_ok(msg->dqp, &sge, sizeof(u64), wr->remote_addr, wr->rkey,
			 IB_ACCESS_REMOTE_ATOMIC)) {
		read_unlock(&lb_copy_lock);
		return IB_WC_REM_ACCESS_ERR;
	}
	old = lb_atomic_op(sge.vaddr, msg->wqe);
	rvt_put_mr(sge.mr);
	read_unlock(&lb_copy_lock);
	rvt_copy_sge(msg->sqp, &msg->data, &old, sizeof(old), false, false);
	return IB_WC_SUCCESS;
}

/* --- Receives ----------------------------------------------------------------------------- */

/* Take the next receive. IB_WC_RNR_RETRY_EXC_ERR: there is none yet. */
static enum ib_wc_status lb_take_receive(struct lb_msg *msg, bool id_only)
{
	int ret = rvt_get_rwqe(msg->dqp, id_only);
	struct lb_qp *lqp = msg->sqp->priv;

	if (ret > 0)
		return IB_WC_SUCCESS;
	if (ret < 0)
		return IB_WC_REM_OP_ERR;
	lqp->rnr_usec = rvt_rnr_tbl_to_usec(msg->dqp->r_min_rnr_timer);
	return IB_WC_RNR_RETRY_EXC_ERR;
}

static bool lb_has_imm(struct rvt_swqe *wqe)
{
	return wqe->wr.opcode == IB_WR_SEND_WITH_IMM ||
	       wqe->wr.opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

/* Complete the receive. A completion queue that overflows ends the receiver. */
static enum ib_wc_status lb_received(struct lb_msg *msg, enum ib_wc_opcode opcode)
{
	struct rvt_qp *dqp = msg->dqp;
	struct ib_wc wc = {
		.wr_id = dqp->r_wr_id,
		.status = IB_WC_SUCCESS,
		.opcode = opcode,
		.byte_len = msg->wqe->length,
		.qp = &dqp->ibqp,
		.src_qp = dqp->remote_qpn,
		.slid = rdma_ah_get_dlid(&dqp->remote_ah_attr),
		.sl = rdma_ah_get_sl(&dqp->remote_ah_attr),
		.port_num = dqp->port_num,
	};

	clear_bit(RVT_R_WRID_VALID, &dqp->r_aflags);
	if (lb_nth(&lb_qp_port(dqp)->faults.drop_recv_wc))
		return IB_WC_SUCCESS;
	if (lb_has_imm(msg->wqe)) {
		wc.wc_flags = IB_WC_WITH_IMM;
		wc.ex.imm_data = msg->wqe->wr.ex.imm_data;
	} else if (msg->wqe->wr.opcode == IB_WR_SEND_WITH_INV) {
		wc.wc_flags = IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = msg->wqe->wr.ex.invalidate_rkey;
	}
	if (rvt_cq_enter(ibcq_to_rvtcq(dqp->ibqp.recv_cq), &wc,
			 msg->wqe->wr.send_flags & IB_SEND_SOLICITED))
		return IB_WC_SUCCESS;
	return IB_WC_REM_OP_ERR;
}

static enum ib_wc_status lb_send(struct lb_msg *msg)
{
	struct rvt_qp *dqp = msg->dqp;
	enum ib_wc_status status = lb_take_receive(msg, false);

	if (status != IB_WC_SUCCESS)
		return status;
	if (msg->wqe->length > dqp->r_len) {
		msg->recv_status = IB_WC_LOC_LEN_ERR;
		return IB_WC_REM_INV_REQ_ERR;
	}
	if (msg->wqe->wr.opcode == IB_WR_SEND_WITH_INV &&
	    rvt_invalidate_rkey(dqp, msg->wqe->wr.ex.invalidate_rkey)) {
		msg->recv_status = IB_WC_LOC_ACCESS_ERR;
		return IB_WC_REM_ACCESS_ERR;
	}
	lb_copy(&dqp->r_sge, &msg->data, msg->wqe->length, true);
	rvt_put_ss(&dqp->r_sge);
	return lb_received(msg, IB_WC_RECV);
}

static enum ib_wc_status lb_write_with_imm(struct lb_msg *msg)
{
	enum ib_wc_status status = lb_take_receive(msg, true);

	if (status != IB_WC_SUCCESS)
		return status;
	status = lb_write(msg);
	if (status != IB_WC_SUCCESS) {
		msg->recv_status = IB_WC_LOC_ACCESS_ERR;
		return status;
	}
	return lb_received(msg, IB_WC_RECV_RDMA_WITH_IMM);
}

/* --- Messages ----------------------------------------------------------------------------- */

/* Under the receiver's r_lock, so that it cannot be taken out of service meanwhile. */
static enum ib_wc_status lb_arrive(struct lb_msg *msg)
{
	if (!(ib_rvt_state_ops[msg->dqp->state] & RVT_PROCESS_RECV_OK))
		return IB_WC_RETRY_EXC_ERR;
	lb_sge_of_wqe(&msg->data, msg->wqe);
	switch (msg->wqe->wr.opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		return lb_send(msg);
	case IB_WR_RDMA_WRITE:
		return lb_write(msg);
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return lb_write_with_imm(msg);
	case IB_WR_RDMA_READ:
		return lb_read(msg);
	default: /* rdmavt lets nothing else through than the two atomic operations */
		return lb_atomic(msg);
	}
}

/* Whoever answers with a negative acknowledgement is in the error state afterwards (IBA 9.9.3). */
static void lb_refused(struct lb_msg *msg, enum ib_wc_status status)
{
	enum ib_event_type event;

	switch (status) {
	case IB_WC_REM_ACCESS_ERR:
		event = IB_EVENT_QP_ACCESS_ERR;
		break;
	case IB_WC_REM_INV_REQ_ERR:
		event = IB_EVENT_QP_REQ_ERR;
		break;
	case IB_WC_REM_OP_ERR:
		event = IB_EVENT_QP_FATAL;
		break;
	default: /* no answer, or "not ready" */
		return;
	}
	lb_qp_error(msg->dqp, msg->recv_status);
	lb_qp_raise(msg->dqp, event);
}

static enum ib_wc_status lb_deliver(struct lb_msg *msg)
{
	enum ib_wc_status status;
	unsigned long flags;

	lb_established(msg->dqp);
	spin_lock_irqsave(&msg->dqp->r_lock, flags);
	status = lb_arrive(msg);
	spin_unlock_irqrestore(&msg->dqp->r_lock, flags);
	if (status == IB_WC_SUCCESS) {
		if (msg->wqe->wr.opcode == IB_WR_SEND_WITH_INV)
			lb_wait_for_copies();
		lb_port_count(lb_qp_port(msg->sqp), lb_qp_port(msg->dqp), msg->wqe->length,
			      msg->sqp->pmtu);
	} else {
		lb_refused(msg, status);
	}
	return status;
}

/**
 * lb_rc_send() - execute a send of a connected queue pair
 * @sqp: the sender
 * @wqe: its work request
 *
 * Context: the sender's work, no lock held.
 * Return: the status of the completion. IB_WC_RNR_RETRY_EXC_ERR and IB_WC_RETRY_EXC_ERR mean that
 * it may be tried again as long as the queue pair allows. An unreliable sender never learns what
 * became of the message.
 */
enum ib_wc_status lb_rc_send(struct rvt_qp *sqp, struct rvt_swqe *wqe)
{
	struct lb_msg msg = {
		.sqp = sqp,
		.dqp = lb_find_receiver(sqp),
		.wqe = wqe,
		.recv_status = IB_WC_WR_FLUSH_ERR,
	};
	enum ib_wc_status status = IB_WC_RETRY_EXC_ERR;

	if (msg.dqp)
		status = lb_deliver(&msg);
	else
		atomic64_inc(&lb_qp_port(sqp)->counters.xmit_discards);
	rvt_put_qp(msg.dqp);
	return sqp->ibqp.qp_type == IB_QPT_RC ? status : IB_WC_SUCCESS;
}
