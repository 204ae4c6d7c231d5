// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibloop: datagrams, also those of QP0 and QP1. They may get lost; nobody is told.
 *
 * Copyright the ib_srpt authors
 */
#include <rdma/ib_hdrs.h>
#include "ibloop.h"

#define LB_GRH_BYTES	((u32)sizeof(struct ib_grh))
#define LB_UD_HEADERS	(12 + 8 + 4)	/* BTH, DETH, ICRC: part of the GRH's payload length */

/**
 * struct lb_datagram - a datagram under way
 * @from: port that it left from
 * @sqp: the sender
 * @wqe: its work request
 * @ah: where it is addressed to
 * @dlid: likewise, the LID
 */
struct lb_datagram {
	struct lb_port *from;
	struct rvt_qp *sqp;
	struct rvt_swqe *wqe;
	struct rdma_ah_attr *ah;
	u16 dlid;
};

static bool lb_is_multicast(u16 dlid)
{
	return dlid >= be16_to_cpu(IB_MULTICAST_LID_BASE) &&
	       dlid != be16_to_cpu(IB_LID_PERMISSIVE);
}

/* Subnet management has its own kind of queue pair, all others can reach each other. */
static bool lb_is_smi(struct rvt_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_SMI;
}

static u16 lb_datagram_pkey(struct lb_datagram *dg)
{
	bool gsi = dg->sqp->ibqp.qp_type == IB_QPT_GSI;

	return lb_port_pkey(dg->from, gsi ? rvt_get_swqe_pkey_index(dg->wqe) :
					    dg->sqp->s_pkey_index);
}

/*
 * Which entry of the partition table admits the datagram? QP1 takes any, others the one that they
 * were set up for. -1: none.
 */
static int lb_admit_pkey(struct lb_datagram *dg, struct lb_port *to, struct rvt_qp *qp)
{
	u16 pkey = lb_datagram_pkey(dg);

	if (qp->ibqp.qp_type == IB_QPT_GSI)
		return lb_port_find_pkey(to, pkey);
	return lb_pkeys_match(pkey, lb_port_pkey(to, qp->s_pkey_index)) ? qp->s_pkey_index : -1;
}

/* A key with the high bit set stands for the sender's own (IBA 10.2.5). */
static bool lb_admit_qkey(struct lb_datagram *dg, struct rvt_qp *qp)
{
	u32 qkey = rvt_get_swqe_remote_qkey(dg->wqe);

	if (qkey & BIT(31))
		qkey = dg->sqp->qkey;
	return qkey == qp->qkey;
}

/* Returns the index of the P_Key, or -1 for a datagram that is not for this queue pair. */
static int lb_admit(struct lb_datagram *dg, struct lb_port *to, struct rvt_qp *qp)
{
	int index;

	if (lb_is_smi(dg->sqp) != lb_is_smi(qp) || qp->allowed_ops != IB_OPCODE_UD)
		return -1;
	if (lb_is_smi(qp))
		return 0;
	if (!lb_admit_qkey(dg, qp)) {
		to->rvp.qkey_violations++;
		return -1;
	}
	index = lb_admit_pkey(dg, to, qp);
	if (index < 0)
		to->rvp.pkey_violations++;
	return index;
}

static void lb_fill_grh(struct lb_datagram *dg, struct ib_grh *grh)
{
	const struct ib_global_route *route = rdma_ah_read_grh(dg->ah);

	grh->version_tclass_flow = cpu_to_be32(IB_GRH_VERSION << IB_GRH_VERSION_SHIFT |
					       route->traffic_class << IB_GRH_TCLASS_SHIFT |
					       (route->flow_label & IB_GRH_FLOW_MASK));
	grh->paylen = cpu_to_be16(dg->wqe->length + LB_UD_HEADERS);
	grh->next_hdr = IB_GRH_NEXT_HDR;
	grh->hop_limit = route->hop_limit;
	grh->sgid.global.subnet_prefix = dg->from->rvp.gid_prefix;
	grh->sgid.global.interface_id = lb_port_guid(dg->from, route->sgid_index);
	grh->dgid = route->dgid;
}

/* The first 40 bytes of a receive are for the global route, whether there is one or not. */
static void lb_place(struct lb_datagram *dg, struct rvt_qp *qp)
{
	struct rvt_sge_state data;
	struct ib_grh grh;

	if (rdma_ah_get_ah_flags(dg->ah) & IB_AH_GRH) {
		lb_fill_grh(dg, &grh);
		rvt_copy_sge(qp, &qp->r_sge, &grh, sizeof(grh), true, false);
	} else {
		rvt_skip_sge(&qp->r_sge, LB_GRH_BYTES, true);
	}
	lb_sge_of_wqe(&data, dg->wqe);
	lb_copy(&qp->r_sge, &data, dg->wqe->length, true);
	rvt_put_ss(&qp->r_sge);
}

static bool lb_ud_received(struct lb_datagram *dg, struct lb_port *to, struct rvt_qp *qp,
			   u16 pkey_index)
{
	u16 slid = lb_port_lid(dg->from) | rdma_ah_get_path_bits(dg->ah);
	struct ib_wc wc = {
		.wr_id = qp->r_wr_id,
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = dg->wqe->length + LB_GRH_BYTES,
		.qp = &qp->ibqp,
		.src_qp = dg->sqp->ibqp.qp_num,
		.pkey_index = pkey_index,
		.slid = slid ? slid : be16_to_cpu(IB_LID_PERMISSIVE),
		.sl = rdma_ah_get_sl(dg->ah),
		.dlid_path_bits = lb_is_multicast(dg->dlid) ? 0 : dg->dlid & ((1 << to->lmc) - 1),
		.port_num = to->num,
	};

	clear_bit(RVT_R_WRID_VALID, &qp->r_aflags);
	if (rdma_ah_get_ah_flags(dg->ah) & IB_AH_GRH)
		wc.wc_flags |= IB_WC_GRH;
	if (dg->wqe->wr.opcode == IB_WR_SEND_WITH_IMM) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = dg->wqe->wr.ex.imm_data;
	}
	return rvt_cq_enter(ibcq_to_rvtcq(qp->ibqp.recv_cq), &wc,
			    dg->wqe->wr.send_flags & IB_SEND_SOLICITED);
}

/* Under the receiver's r_lock. False: it has to end, its queues are at fault. */
static bool lb_ud_receive(struct lb_datagram *dg, struct lb_port *to, struct rvt_qp *qp, u16 pkey)
{
	int ret = 1;

	if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_RECV_OK))
		goto drop;
	if (qp->r_flags & RVT_R_REUSE_SGE)
		qp->r_flags &= ~RVT_R_REUSE_SGE;
	else
		ret = rvt_get_rwqe(qp, false);
	if (ret < 0)
		return false;
	if (!ret)
		goto drop;
	/* a datagram that is too long leaves the receive for the next one */
	if (dg->wqe->length + LB_GRH_BYTES > qp->r_len) {
		qp->r_flags |= RVT_R_REUSE_SGE;
		goto drop;
	}
	lb_place(dg, qp);
	lb_port_count(dg->from, to, dg->wqe->length, ib_mtu_enum_to_int(IB_MTU_4096));
	return lb_ud_received(dg, to, qp, pkey);
drop:
	to->rvp.n_pkt_drops++;
	if (lb_is_smi(qp))
		to->rvp.n_vl15_dropped++;
	return true;
}

static void lb_ud_arrive(struct lb_datagram *dg, struct lb_port *to, struct rvt_qp *qp)
{
	int pkey_index = lb_admit(dg, to, qp);
	unsigned long flags;
	bool ok;

	if (pkey_index < 0) {
		to->rvp.n_pkt_drops++;
		return;
	}
	spin_lock_irqsave(&qp->r_lock, flags);
	ok = lb_ud_receive(dg, to, qp, pkey_index);
	spin_unlock_irqrestore(&qp->r_lock, flags);
	if (!ok)
		lb_qp_error(qp, IB_WC_LOC_QP_OP_ERR);
}

/* All members of the group at a port, the sender itself excepted. */
static void lb_multicast(struct lb_datagram *dg, struct lb_port *to)
{
	union ib_gid mgid = rdma_ah_read_grh(dg->ah)->dgid;
	struct rvt_mcast *group;
	struct rvt_mcast_qp *member;

	group = rvt_mcast_find(&to->rvp, &mgid, dg->dlid);
	if (!group)
		return;
	list_for_each_entry_rcu(member, &group->qp_list, list)
		if (member->qp != dg->sqp && member->qp->port_num == to->num)
			lb_ud_arrive(dg, to, member->qp);
	if (atomic_dec_return(&group->refcount) <= 1)
		wake_up(&group->wait);
}

static void lb_multicast_all(struct lb_datagram *dg)
{
	struct lb_port *peer = rcu_dereference(dg->from->peer);

	if (READ_ONCE(dg->from->state) != IB_PORT_ACTIVE)
		return;
	lb_multicast(dg, dg->from);
	if (peer && READ_ONCE(peer->state) == IB_PORT_ACTIVE)
		lb_multicast(dg, peer);
}

static void lb_unicast(struct lb_datagram *dg)
{
	struct lb_port *to = lb_route(dg->from, dg->dlid, lb_is_smi(dg->sqp));
	struct rvt_qp *qp = NULL;

	if (to)
		qp = rvt_lookup_qpn(&to->hca->rdi, &to->rvp, rvt_get_swqe_remote_qpn(dg->wqe));
	if (qp && qp->port_num == to->num)
		lb_ud_arrive(dg, to, qp);
	else
		atomic64_inc(&dg->from->counters.xmit_discards);
}

/* Does a knob lose this MAD? */
static bool lb_mad_is_lost(struct lb_datagram *dg)
{
	struct lb_faults *faults = &dg->from->faults;
	struct rvt_sge *sge = &dg->wqe->sg_list[0];
	const struct ib_mad_hdr *mad = sge->vaddr;

	if (!atomic_read(&faults->mad_drop) || dg->sqp->ibqp.qp_type != IB_QPT_GSI ||
	    !dg->wqe->wr.num_sge || sge->length < sizeof(*mad))
		return false;
	if (mad->mgmt_class != READ_ONCE(faults->mad_class) ||
	    be16_to_cpu(mad->attr_id) != READ_ONCE(faults->mad_attr))
		return false;
	return !lb_next(&faults->mad_skip) && lb_next(&faults->mad_drop);
}

/**
 * lb_ud_send() - send a datagram
 * @sqp: the sender
 * @wqe: its work request
 *
 * Context: the sender's work, no lock held.
 */
void lb_ud_send(struct rvt_qp *sqp, struct rvt_swqe *wqe)
{
	struct lb_datagram dg = {
		.from = lb_qp_port(sqp),
		.sqp = sqp,
		.wqe = wqe,
		.ah = rvt_get_swqe_ah_attr(wqe),
	};

	dg.dlid = rdma_ah_get_dlid(dg.ah);
	if (lb_mad_is_lost(&dg))
		return;
	rcu_read_lock();
	if (lb_is_multicast(dg.dlid))
		lb_multicast_all(&dg);
	else
		lb_unicast(&dg);
	rcu_read_unlock();
}
