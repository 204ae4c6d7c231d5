// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibloop: ports, their cables, and which way a packet goes.
 *
 * Copyright the ib_srpt authors
 */
#include "ibloop.h"

/**
 * lb_port_init() - make a port, its link down until it is connected
 * @hca: the HCA, not registered yet
 * @num: number of the port, from 1
 */
void lb_port_init(struct lb_hca *hca, u32 num)
{
	struct lb_port *port = &hca->ports[num - 1];

	port->hca = hca;
	port->num = num;
	spin_lock_init(&port->lock);
	port->state = IB_PORT_DOWN;
	port->phys = LB_PHYS_POLLING;
	port->mtu = IB_MTU_4096;
	port->guids[0] = cpu_to_be64(be64_to_cpu(hca->rdi.ibdev.node_guid) + num);
	port->pkeys[0] = IB_DEFAULT_PKEY_FULL;
	INIT_WORK(&port->trap_work, lb_trap_work);
	spin_lock_init(&port->rvp.lock);
	port->rvp.gid_prefix = cpu_to_be64(LB_GID_PREFIX);
	port->rvp.port_cap_flags = IB_PORT_SYS_IMAGE_GUID_SUP | IB_PORT_CLIENT_REG_SUP |
				   IB_PORT_TRAP_SUP | IB_PORT_CAP_MASK_NOTICE_SUP;
	rvt_init_port(&hca->rdi, &port->rvp, num - 1, port->pkeys);
}

/**
 * lb_port_event() - tell consumers about a port
 * @port: the port
 * @type: what happened
 *
 * Context: any, lb_port.lock not held.
 */
void lb_port_event(struct lb_port *port, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &port->hca->rdi.ibdev,
		.element.port_num = port->num,
		.event = type,
	};

	ib_dispatch_event(&event);
}

/**
 * lb_port_set_state() - set the logical state; consumers learn when it becomes or was active
 * @port: the port
 * @state: the new state; IB_PORT_DOWN takes the physical link down, others need it up
 *
 * Context: any, lb_port.lock not held.
 */
void lb_port_set_state(struct lb_port *port, enum ib_port_state state)
{
	enum ib_port_state old;
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	old = port->state;
	port->state = state;
	port->phys = state == IB_PORT_DOWN ? LB_PHYS_POLLING : LB_PHYS_LINK_UP;
	spin_unlock_irqrestore(&port->lock, flags);
	if (old != IB_PORT_DOWN && state == IB_PORT_DOWN)
		atomic64_inc(&port->counters.link_downed);
	if (old != IB_PORT_ACTIVE && state == IB_PORT_ACTIVE)
		lb_port_event(port, IB_EVENT_PORT_ACTIVE);
	else if (old == IB_PORT_ACTIVE && state != IB_PORT_ACTIVE)
		lb_port_event(port, IB_EVENT_PORT_ERR);
}

static bool lb_port_plugged(struct lb_port *port)
{
	return port && !READ_ONCE(port->pulled);
}

/**
 * lb_port_train() - let the link come up if both its ends are there, else down
 * @port: one end
 *
 * A link that trains comes to IB_PORT_INIT at both ends, whatever its state was.
 * Context: any, lb_port.lock not held.
 */
void lb_port_train(struct lb_port *port)
{
	enum ib_port_state state = IB_PORT_DOWN;
	struct lb_port *peer;

	rcu_read_lock();
	peer = rcu_dereference(port->peer);
	if (lb_port_plugged(port) && lb_port_plugged(peer))
		state = IB_PORT_INIT;
	lb_port_set_state(port, state);
	if (peer)
		lb_port_set_state(peer, state);
	rcu_read_unlock();
}

/**
 * lb_port_pull() - pull the cable, or put it back; which end is all the same
 * @port: one end
 * @pulled: pull it
 *
 * Context: any, lb_port.lock not held.
 */
void lb_port_pull(struct lb_port *port, bool pulled)
{
	struct lb_port *peer;

	WRITE_ONCE(port->pulled, pulled);
	rcu_read_lock();
	peer = rcu_dereference(port->peer);
	if (peer)
		WRITE_ONCE(peer->pulled, pulled);
	rcu_read_unlock();
	lb_port_train(port);
}

/**
 * lb_port_connect() - put a cable between two ports
 * @port: one end
 * @peer: the other; may have been connected to @port before
 *
 * Context: process context, lb_hca_mutex held.
 */
void lb_port_connect(struct lb_port *port, struct lb_port *peer)
{
	rcu_assign_pointer(port->peer, peer);
	rcu_assign_pointer(peer->peer, port);
	lb_port_train(port);
}

/**
 * lb_port_disconnect() - take the cable away for good; the link goes down at both ends
 * @port: the end that leaves
 *
 * Context: process context, lb_hca_mutex held. Senders may still see the cable until a grace
 * period of RCU has passed.
 */
void lb_port_disconnect(struct lb_port *port)
{
	struct lb_port *peer = rcu_dereference_protected(port->peer, true);

	if (!peer)
		return;
	RCU_INIT_POINTER(port->peer, NULL);
	RCU_INIT_POINTER(peer->peer, NULL);
	lb_port_train(port);
	lb_port_train(peer);
}

/**
 * lb_port_leave() - no more traps from this port, so that its MAD agent can go
 * @port: the port
 *
 * Context: process context.
 */
void lb_port_leave(struct lb_port *port)
{
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	port->removing = true;
	spin_unlock_irqrestore(&port->lock, flags);
	cancel_work_sync(&port->trap_work);
}

struct lb_look {
	enum ib_port_state state;
	bool addressed;
};

/* The state of a port, and whether the LID is one of its own. */
static struct lb_look lb_port_look(struct lb_port *port, u16 lid)
{
	struct lb_look look;
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	look.state = port->state;
	look.addressed = port->lid ? (lid & ~((1 << port->lmc) - 1)) == port->lid : !lid;
	spin_unlock_irqrestore(&port->lock, flags);
	return look;
}

/**
 * lb_route() - at which port does a packet arrive?
 * @from: port that it leaves from
 * @dlid: where it is addressed to, not a multicast LID
 * @smp: it is a subnet management packet, which needs no subnet that is up
 *
 * Context: RCU read lock held, for the result.
 * Return: the port, or NULL if the packet is lost.
 */
struct lb_port *lb_route(struct lb_port *from, u16 dlid, bool smp)
{
	struct lb_look here = lb_port_look(from, dlid), there;
	struct lb_port *peer = rcu_dereference(from->peer);

	if (here.addressed)
		return smp || here.state == IB_PORT_ACTIVE ? from : NULL;
	if (here.state == IB_PORT_DOWN || !peer)
		return NULL;
	there = lb_port_look(peer, dlid);
	if (smp && (dlid == be16_to_cpu(IB_LID_PERMISSIVE) || there.addressed))
		return peer;
	if (!there.addressed || here.state != IB_PORT_ACTIVE || there.state != IB_PORT_ACTIVE)
		return NULL;
	return peer;
}

/**
 * lb_pkeys_match() - may these two members of partitions talk to each other?
 * @a: P_Key of one
 * @b: P_Key of the other
 *
 * Return: they are of one partition and not both limited members (IBA 10.9.3).
 */
bool lb_pkeys_match(u16 a, u16 b)
{
	return (a & 0x7fff) && !((a ^ b) & 0x7fff) && ((a | b) & 0x8000);
}

/**
 * lb_port_pkey() - an entry of the partition table
 * @port: the port
 * @index: which
 *
 * Return: the P_Key, or 0, which is none.
 */
u16 lb_port_pkey(struct lb_port *port, unsigned int index)
{
	return index < LB_PKEYS ? READ_ONCE(port->pkeys[index]) : 0;
}

/**
 * lb_port_find_pkey() - the entry that admits a packet
 * @port: port at which it arrived
 * @pkey: its P_Key
 *
 * Return: index of the entry, or -1.
 */
int lb_port_find_pkey(struct lb_port *port, u16 pkey)
{
	int i;

	for (i = 0; i < LB_PKEYS; i++)
		if (lb_pkeys_match(lb_port_pkey(port, i), pkey))
			return i;
	return -1;
}

/**
 * lb_port_lid() - base LID
 * @port: the port
 *
 * Return: it, 0 before the subnet manager gave one.
 */
u16 lb_port_lid(struct lb_port *port)
{
	return READ_ONCE(port->lid);
}

/**
 * lb_port_mtu() - MTU of the link
 * @port: the port
 *
 * Return: it.
 */
enum ib_mtu lb_port_mtu(struct lb_port *port)
{
	return READ_ONCE(port->mtu);
}

/**
 * lb_port_guid() - an entry of the GUID table
 * @port: the port
 * @index: which; entries that do not exist read as the first
 *
 * Return: the GUID.
 */
__be64 lb_port_guid(struct lb_port *port, unsigned int index)
{
	return READ_ONCE(port->guids[index < LB_GUIDS ? index : 0]);
}

/**
 * lb_port_count() - count a message that has arrived
 * @from: port that it left from
 * @to: port that it arrived at
 * @bytes: payload
 * @mtu: bytes of payload that fit into a packet, a power of two
 *
 * Context: any.
 */
void lb_port_count(struct lb_port *from, struct lb_port *to, u32 bytes, u32 mtu)
{
	u32 packets = bytes ? DIV_ROUND_UP_ULL(bytes, mtu) : 1;

	atomic64_add(bytes, &from->counters.xmit_bytes);
	atomic64_add(packets, &from->counters.xmit_packets);
	atomic64_add(bytes, &to->counters.rcv_bytes);
	atomic64_add(packets, &to->counters.rcv_packets);
}

/**
 * lb_get_guid_be() - rdmavt asks for an entry of the GUID table
 * @rdi: the HCA
 * @rvp: the port
 * @index: which entry
 * @guid: where it goes
 *
 * Return: 0 or -EINVAL.
 */
int lb_get_guid_be(struct rvt_dev_info *rdi, struct rvt_ibport *rvp, int index, __be64 *guid)
{
	if (index < 0 || index >= LB_GUIDS)
		return -EINVAL;
	*guid = lb_port_guid(container_of(rvp, struct lb_port, rvp), index);
	return 0;
}

/**
 * lb_query_port() - rdmavt asks for the attributes that are ours
 * @rdi: the HCA
 * @num: number of the port
 * @props: where they go
 *
 * Context: any; locks of a queue pair may be held.
 * Return: 0.
 */
int lb_query_port(struct rvt_dev_info *rdi, u32 num, struct ib_port_attr *props)
{
	struct lb_port *port = &lb_rdi_hca(rdi)->ports[num - 1];
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	props->state = port->state;
	props->phys_state = port->phys;
	props->lid = port->lid;
	props->lmc = port->lmc;
	props->active_mtu = port->mtu;
	spin_unlock_irqrestore(&port->lock, flags);
	props->max_mtu = IB_MTU_4096;
	props->gid_tbl_len = LB_GUIDS;
	props->active_width = IB_WIDTH_4X;
	props->active_speed = IB_SPEED_QDR;
	props->max_vl_num = 1;
	return 0;
}

/**
 * lb_shut_down_port() - a consumer wants a port down, as ib_modify_port() allows
 * @rdi: the HCA
 * @num: number of the port
 *
 * Return: 0.
 */
int lb_shut_down_port(struct rvt_dev_info *rdi, u32 num)
{
	lb_port_set_state(&lb_rdi_hca(rdi)->ports[num - 1], IB_PORT_DOWN);
	return 0;
}
