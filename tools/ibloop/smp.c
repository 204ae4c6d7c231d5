// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibloop: the subnet management agent (IBA 14.2), which a subnet manager such as opensm drives,
 * and the traps that it sends there. Management keys are kept and not enforced.
 *
 * Copyright the ib_srpt authors
 */
#include <rdma/ib_smi.h>
#include "ibloop.h"

#define LB_STATUS_VERSION	cpu_to_be16(0x0004)
#define LB_STATUS_METHOD	cpu_to_be16(0x0008)
#define LB_STATUS_ATTRIBUTE	cpu_to_be16(0x000c)
#define LB_STATUS_VALUE		cpu_to_be16(0x001c)
#define LB_MAX_UNICAST_LID	0xbfff
#define LB_CLIENT_REREGISTER	0x80
#define LB_NOTICE_INFO		0x84	/* generic, informational */
#define LB_NOTICE_FROM_CA	1
#define LB_CAP_MASK_CHANGED	0	/* needs no flag in the trap */

/* PortInfo: what all ports have */
#define LB_WIDTH_1X_4X		3
#define LB_WIDTH_4X		2
#define LB_SPEEDS		7	/* 2.5, 5 and 10 Gb/s a lane */
#define LB_SPEED_10		4
#define LB_ONE_VL		1
#define LB_RESPONSE_TIME	16	/* 4.096 us << 16 */

/* The answer to a request whose status is in place. */
static int lb_smp_reply(struct ib_smp *smp)
{
	smp->method = IB_MGMT_METHOD_GET_RESP;
	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		smp->status |= IB_SMP_DIRECTION;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static int lb_smp_refuse(struct ib_smp *smp, __be16 status)
{
	smp->status |= status;
	return lb_smp_reply(smp);
}

static void lb_dispatch(struct lb_port *port, unsigned long events)
{
	unsigned int type;

	for_each_set_bit(type, &events, BITS_PER_LONG)
		lb_port_event(port, type);
}

/* --- Node ----------------------------------------------------------------------------------- */

static int lb_node_desc(struct lb_port *port, struct ib_smp *smp)
{
	memcpy(smp->data, port->hca->rdi.ibdev.node_desc, sizeof(smp->data));
	return lb_smp_reply(smp);
}

static int lb_node_info(struct lb_port *port, struct ib_smp *smp)
{
	struct ib_node_info *info = (struct ib_node_info *)smp->data;
	struct ib_device *ibdev = &port->hca->rdi.ibdev;

	if (smp->attr_mod)
		return lb_smp_refuse(smp, LB_STATUS_VALUE);
	memset(smp->data, 0, sizeof(smp->data));
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->node_type = RDMA_NODE_IB_CA;
	info->num_ports = port->hca->nports;
	info->sys_guid = ibdev->node_guid;
	info->node_guid = ibdev->node_guid;
	info->port_guid = lb_port_guid(port, 0);
	info->partition_cap = cpu_to_be16(LB_PKEYS);
	info->device_id = cpu_to_be16(LB_DEVICE_ID);
	info->local_port_num = port->num;
	info->vendor_id[0] = LB_VENDOR_ID >> 16;
	info->vendor_id[1] = LB_VENDOR_ID >> 8 & 0xff;
	info->vendor_id[2] = LB_VENDOR_ID & 0xff;
	return lb_smp_reply(smp);
}

/* --- PortInfo --------------------------------------------------------------------------------- */

/* The modifier says which port; 0 is the one that was asked. */
static struct lb_port *lb_asked_port(struct lb_port *in, struct ib_smp *smp)
{
	u32 num = be32_to_cpu(smp->attr_mod);

	if (num > in->hca->nports)
		return NULL;
	return num ? &in->hca->ports[num - 1] : in;
}

static void lb_fill_link(struct lb_port *port, struct ib_port_info *info)
{
	info->link_width_enabled = LB_WIDTH_1X_4X;
	info->link_width_supported = LB_WIDTH_1X_4X;
	info->link_width_active = LB_WIDTH_4X;
	info->linkspeed_portstate = LB_SPEEDS << 4 | port->state;
	info->linkspeedactive_enabled = LB_SPEED_10 << 4 | LB_SPEEDS;
	info->portphysstate_linkdown = port->phys << 4 | LB_PHYS_POLLING;
	info->neighbormtu_mastersmsl = port->mtu << 4 | port->rvp.sm_sl;
	info->inittypereply_mtucap = IB_MTU_4096;
	info->vlcap_inittype = LB_ONE_VL << 4;
	info->operationalvl_pei_peo_fpi_fpo = LB_ONE_VL << 4;
}

static void lb_fill_port_info(struct lb_port *port, struct ib_port_info *info)
{
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	lb_fill_link(port, info);
	info->mkey = port->rvp.mkey;
	info->mkey_lease_period = cpu_to_be16(port->rvp.mkey_lease_period);
	info->mkeyprot_resv_lmc = port->rvp.mkeyprot << 6 | port->lmc;
	info->gid_prefix = port->rvp.gid_prefix;
	info->lid = cpu_to_be16(port->lid);
	info->sm_lid = cpu_to_be16(port->rvp.sm_lid);
	info->cap_mask = cpu_to_be32(port->rvp.port_cap_flags);
	info->mkey_violations = cpu_to_be16(port->rvp.mkey_violations);
	info->pkey_violations = cpu_to_be16(port->rvp.pkey_violations);
	info->qkey_violations = cpu_to_be16(port->rvp.qkey_violations);
	info->guid_cap = LB_GUIDS;
	info->clientrereg_resv_subnetto = port->rvp.subnet_timeout;
	info->resv_resptimevalue = LB_RESPONSE_TIME;
	spin_unlock_irqrestore(&port->lock, flags);
}

static int lb_get_port_info(struct lb_port *in, struct ib_smp *smp)
{
	struct ib_port_info *info = (struct ib_port_info *)smp->data;
	struct lb_port *port = lb_asked_port(in, smp);

	if (!port)
		return lb_smp_refuse(smp, LB_STATUS_VALUE);
	memset(smp->data, 0, sizeof(smp->data));
	lb_fill_port_info(port, info);
	info->local_port_num = in->num;
	return lb_smp_reply(smp);
}

/* Who the subnet manager is. Returns the events that consumers get to see. */
static unsigned long lb_set_manager(struct lb_port *port, const struct ib_port_info *info)
{
	u16 sm_lid = be16_to_cpu(info->sm_lid);
	u8 sm_sl = info->neighbormtu_mastersmsl & 0xf;

	port->rvp.mkey = info->mkey;
	port->rvp.mkeyprot = info->mkeyprot_resv_lmc >> 6;
	port->rvp.mkey_lease_period = be16_to_cpu(info->mkey_lease_period);
	port->rvp.subnet_timeout = info->clientrereg_resv_subnetto & 0x1f;
	if (!sm_lid || (sm_lid == port->rvp.sm_lid && sm_sl == port->rvp.sm_sl))
		return 0;
	port->rvp.sm_lid = sm_lid;
	port->rvp.sm_sl = sm_sl;
	return BIT(IB_EVENT_SM_CHANGE);
}

/* Where the port is in the subnet. */
static unsigned long lb_set_address(struct lb_port *port, const struct ib_port_info *info)
{
	u16 lid = be16_to_cpu(info->lid);
	u8 lmc = info->mkeyprot_resv_lmc & 7, mtu = info->neighbormtu_mastersmsl >> 4;
	unsigned long events = 0;

	if (mtu >= IB_MTU_256 && mtu <= IB_MTU_4096)
		port->mtu = mtu;
	if (port->rvp.gid_prefix != info->gid_prefix) {
		port->rvp.gid_prefix = info->gid_prefix;
		events |= BIT(IB_EVENT_GID_CHANGE);
	}
	if (lid && (lid != port->lid || lmc != port->lmc)) {
		port->lid = lid;
		port->lmc = lmc;
		events |= BIT(IB_EVENT_LID_CHANGE);
	}
	return events;
}

/* Down makes the link train anew; from there the way up is one step at a time (IBA 7.2.7). */
static void lb_step_state(struct lb_port *port, u8 wanted)
{
	enum ib_port_state state = READ_ONCE(port->state);

	if (wanted == IB_PORT_DOWN)
		lb_port_train(port);
	else if ((wanted == IB_PORT_ARMED && state == IB_PORT_INIT) ||
		 (wanted == IB_PORT_ACTIVE && state == IB_PORT_ARMED))
		lb_port_set_state(port, wanted);
}

static int lb_set_port_info(struct lb_port *in, struct ib_smp *smp)
{
	const struct ib_port_info *info = (struct ib_port_info *)smp->data;
	u8 rereg = info->clientrereg_resv_subnetto & LB_CLIENT_REREGISTER;
	struct lb_port *port = lb_asked_port(in, smp);
	unsigned long flags, events;
	int ret;

	if (!port || be16_to_cpu(info->lid) > LB_MAX_UNICAST_LID ||
	    be16_to_cpu(info->sm_lid) > LB_MAX_UNICAST_LID)
		return lb_smp_refuse(smp, LB_STATUS_VALUE);
	spin_lock_irqsave(&port->lock, flags);
	events = lb_set_manager(port, info) | lb_set_address(port, info);
	spin_unlock_irqrestore(&port->lock, flags);
	lb_dispatch(port, events);
	lb_step_state(port, info->linkspeed_portstate & 0xf);
	if (rereg)
		lb_port_event(port, IB_EVENT_CLIENT_REREGISTER);
	ret = lb_get_port_info(in, smp);
	((struct ib_port_info *)smp->data)->clientrereg_resv_subnetto |= rereg;
	return ret;
}

/* --- Tables ----------------------------------------------------------------------------------- */

/* Entry 0 is the port's own and stays. */
static int lb_guid_info(struct lb_port *port, struct ib_smp *smp, bool set)
{
	__be64 *guids = (__be64 *)smp->data;
	size_t bytes = (LB_GUIDS - 1) * sizeof(*guids);
	bool changed = false;
	unsigned long flags;

	if (smp->attr_mod)
		return lb_smp_refuse(smp, LB_STATUS_VALUE);
	spin_lock_irqsave(&port->lock, flags);
	if (set && memcmp(&port->guids[1], &guids[1], bytes)) {
		memcpy(&port->guids[1], &guids[1], bytes);
		changed = true;
	}
	memcpy(guids, port->guids, sizeof(port->guids));
	spin_unlock_irqrestore(&port->lock, flags);
	if (changed)
		lb_port_event(port, IB_EVENT_GID_CHANGE);
	return lb_smp_reply(smp);
}

static int lb_pkey_table(struct lb_port *port, struct ib_smp *smp, bool set)
{
	__be16 *table = (__be16 *)smp->data;
	bool changed = false;
	unsigned long flags;
	int i;

	if (be32_to_cpu(smp->attr_mod) & 0xffff)
		return lb_smp_refuse(smp, LB_STATUS_VALUE);
	spin_lock_irqsave(&port->lock, flags);
	for (i = 0; i < LB_PKEYS; i++) {
		if (set && port->pkeys[i] != be16_to_cpu(table[i])) {
			port->pkeys[i] = be16_to_cpu(table[i]);
			changed = true;
		}
		table[i] = cpu_to_be16(port->pkeys[i]);
	}
	spin_unlock_irqrestore(&port->lock, flags);
	if (changed)
		lb_port_event(port, IB_EVENT_PKEY_CHANGE);
	return lb_smp_reply(smp);
}

/* One virtual lane: nothing to map or to arbitrate. */
static int lb_vl_table(struct ib_smp *smp)
{
	memset(smp->data, 0, sizeof(smp->data));
	return lb_smp_reply(smp);
}

/* A subnet manager on this port answers itself; it is an agent above the RDMA core. */
static int lb_sm_info(struct lb_port *port, struct ib_smp *smp)
{
	u32 caps = READ_ONCE(port->rvp.port_cap_flags);

	if (caps & IB_PORT_SM_DISABLED)
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	if (caps & IB_PORT_SM)
		return IB_MAD_RESULT_SUCCESS;
	return lb_smp_refuse(smp, LB_STATUS_ATTRIBUTE);
}

/* --- Requests --------------------------------------------------------------------------------- */

static int lb_smp_attribute(struct lb_port *port, struct ib_smp *smp, bool set)
{
	switch (smp->attr_id) {
	case IB_SMP_ATTR_NODE_DESC:
		if (!set)
			return lb_node_desc(port, smp);
		break;
	case IB_SMP_ATTR_NODE_INFO:
		if (!set)
			return lb_node_info(port, smp);
		break;
	case IB_SMP_ATTR_PORT_INFO:
		return set ? lb_set_port_info(port, smp) : lb_get_port_info(port, smp);
	case IB_SMP_ATTR_GUID_INFO:
		return lb_guid_info(port, smp, set);
	case IB_SMP_ATTR_PKEY_TABLE:
		return lb_pkey_table(port, smp, set);
	case IB_SMP_ATTR_SL_TO_VL_TABLE:
	case IB_SMP_ATTR_VL_ARB_TABLE:
		return lb_vl_table(smp);
	case IB_SMP_ATTR_SM_INFO:
		return lb_sm_info(port, smp);
	}
	return lb_smp_refuse(smp, LB_STATUS_ATTRIBUTE);
}

static int lb_process_smp(struct lb_port *port, const struct ib_mad *in, struct ib_mad *out)
{
	struct ib_smp *smp = (struct ib_smp *)out;

	memcpy(out, in, sizeof(*out));
	switch (smp->method) {
	case IB_MGMT_METHOD_GET:
	case IB_MGMT_METHOD_SET:
		if (smp->class_version != 1)
			return lb_smp_refuse(smp, LB_STATUS_VERSION);
		return lb_smp_attribute(port, smp, smp->method == IB_MGMT_METHOD_SET);
	case IB_MGMT_METHOD_TRAP_REPRESS:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	case IB_MGMT_METHOD_TRAP:
	case IB_MGMT_METHOD_REPORT:
	case IB_MGMT_METHOD_REPORT_RESP:
	case IB_MGMT_METHOD_GET_RESP:
	case IB_MGMT_METHOD_SEND:
		return IB_MAD_RESULT_SUCCESS; /* for an agent above the RDMA core */
	}
	return lb_smp_refuse(smp, LB_STATUS_METHOD);
}

/**
 * lb_process_mad() - the verb: a MAD that may be for the HCA itself
 * @ibdev: the HCA
 * @flags: which checks not to do; there are none
 * @num: number of the port at which it arrived
 * @in_wc: its completion
 * @in_grh: its global route, if any
 * @in: the MAD
 * @out: where an answer goes
 * @out_size: its size, set already
 * @out_pkey_index: its P_Key index, set already
 *
 * Context: process context.
 * Return: IB_MAD_RESULT flags.
 */
int lb_process_mad(struct ib_device *ibdev, int flags, u32 num, const struct ib_wc *in_wc,
		   const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		   size_t *out_size, u16 *out_pkey_index)
{
	struct lb_port *port = &lb_ibdev_hca(ibdev)->ports[num - 1];

	switch (in->mad_hdr.mgmt_class) {
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
		return lb_process_smp(port, in, out);
	case IB_MGMT_CLASS_PERF_MGMT:
		return lb_process_pma(port, in, out);
	}
	return IB_MAD_RESULT_SUCCESS;
}

/* --- Traps ------------------------------------------------------------------------------------ */

/* Notice attribute with the details of trap 144 (IBA 14.2.5.1). */
struct lb_notice_144 {
	u8 type;
	u8 producer[3];
	__be16 trap;
	__be16 issuer_lid;
	__be16 toggle_count;
	__be16 reserved1;
	__be16 lid;
	u8 reserved2;
	u8 local_changes;
	__be32 cap_mask;
	__be16 change_flags;
} __packed;

/* The way to the subnet manager, kept until it moves. NULL: out of memory. */
static struct ib_ah *lb_sm_ah(struct lb_port *port, struct ib_mad_agent *agent, u16 sm_lid)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_ah *ah;

	if (port->rvp.sm_ah && port->trap_lid == sm_lid)
		return &port->rvp.sm_ah->ibah;
	if (port->rvp.sm_ah)
		rdma_destroy_ah(&port->rvp.sm_ah->ibah, RDMA_DESTROY_AH_SLEEPABLE);
	port->rvp.sm_ah = NULL;
	rdma_ah_set_dlid(&attr, sm_lid);
	rdma_ah_set_port_num(&attr, port->num);
	ah = rdma_create_ah(agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah))
		return NULL;
	port->rvp.sm_ah = ibah_to_rvtah(ah);
	port->trap_lid = sm_lid;
	return ah;
}

static void lb_fill_trap(struct lb_port *port, struct ib_smp *smp)
{
	struct lb_notice_144 *notice = (struct lb_notice_144 *)smp->data;
	unsigned long flags;

	memset(smp, 0, sizeof(*smp));
	smp->base_version = IB_MGMT_BASE_VERSION;
	smp->mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	smp->class_version = 1;
	smp->method = IB_MGMT_METHOD_TRAP;
	smp->attr_id = IB_SMP_ATTR_NOTICE;
	smp->tid = cpu_to_be64(++port->rvp.tid);
	notice->type = LB_NOTICE_INFO;
	notice->producer[2] = LB_NOTICE_FROM_CA;
	notice->trap = IB_NOTICE_TRAP_CAP_MASK_CHG;
	spin_lock_irqsave(&port->lock, flags);
	notice->issuer_lid = cpu_to_be16(port->lid);
	notice->lid = notice->issuer_lid;
	notice->cap_mask = cpu_to_be32(port->rvp.port_cap_flags);
	notice->change_flags = cpu_to_be16(port->notices);
	notice->local_changes = !!port->notices;
	port->notices = 0;
	spin_unlock_irqrestore(&port->lock, flags);
}

/**
 * lb_trap_work() - tell the subnet manager what changed at a port; once, without a repetition
 * @work: the port's
 */
void lb_trap_work(struct work_struct *work)
{
	struct lb_port *port = container_of(work, struct lb_port, trap_work);
	struct ib_mad_agent *agent = port->rvp.send_agent;
	struct ib_mad_send_buf *buf;
	u16 sm_lid = port->rvp.sm_lid;
	struct ib_ah *ah;

	if (!agent || READ_ONCE(port->state) != IB_PORT_ACTIVE || !sm_lid)
		return;
	ah = lb_sm_ah(port, agent, sm_lid);
	if (!ah)
		return;
	buf = ib_create_send_mad(agent, 0, 0, 0, IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return;
	lb_fill_trap(port, buf->mad);
	buf->ah = ah;
	if (ib_post_send_mad(buf, NULL))
		ib_free_send_mad(buf);
}

/**
 * lb_notify() - something changed that the subnet manager wants to know
 * @port: the port
 * @change_flags: "other local changes" of trap 144, or 0 for the capability mask alone
 *
 * Context: any.
 */
void lb_notify(struct lb_port *port, u16 change_flags)
{
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	port->notices |= change_flags;
	if (!port->removing)
		queue_work(lb_wq, &port->trap_work);
	spin_unlock_irqrestore(&port->lock, flags);
}

/**
 * lb_cap_mask_changed() - a consumer has set or cleared capabilities of a port
 * @rdi: the HCA
 * @num: number of the port
 */
void lb_cap_mask_changed(struct rvt_dev_info *rdi, u32 num)
{
	lb_notify(&lb_rdi_hca(rdi)->ports[num - 1], LB_CAP_MASK_CHANGED);
}

/**
 * lb_modify_device() - the verb: another node description
 * @ibdev: the HCA
 * @mask: what to modify
 * @modify: the new values
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int lb_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify)
{
	struct lb_hca *hca = lb_ibdev_hca(ibdev);
	unsigned int i;

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (!(mask & IB_DEVICE_MODIFY_NODE_DESC))
		return 0;
	memcpy(ibdev->node_desc, modify->node_desc, IB_DEVICE_NODE_DESC_MAX);
	for (i = 0; i < hca->nports; i++)
		lb_notify(&hca->ports[i], IB_NOTICE_TRAP_NODE_DESC_CHG);
	return 0;
}
