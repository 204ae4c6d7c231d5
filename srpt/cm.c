// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two connection managers: IB/CM, which native InfiniBand initiators use, and RDMA/CM.
 *
 * Copyright the ib_srpt authors
 *
 * What differs between them is here and ends here: how a connection request arrives, whom it
 * names, and how the answer goes out. A channel has the identifier of one or the other.
 *
 * IB/CM listens at each device that has an InfiniBand port, on the service GUID; RDMA/CM for the
 * whole host, on the port number that is configured. Both call us with locks or work queues of
 * their own, so srpt_lock is taken inside their handlers and never held when they are called.
 */
#include <linux/inet.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>

#include "ib_srpt.h"

/* The bit of a P_Key that tells full from limited members of its partition. */
#define SRPT_FULL_MEMBER	0x8000U
/* An alternate path was asked for and is not used. */
#define SRPT_FAILOVER_REJECTED	1
/* A receiver that is not ready is tried again for ever: the credits see to it that it will be. */
#define SRPT_RNR_RETRY		7

/* RDMA/CM listeners for IPv4 and IPv6; under srpt_listen_lock. */
static DEFINE_MUTEX(srpt_listen_lock);
static struct rdma_cm_id *srpt_listener[2];
static u16 srpt_port_number;

/**
 * srpt_cm_qp_attr - ask the connection manager for the attributes of a queue pair's next state
 * @ch: channel
 * @attr: names the state, and is filled in
 * @mask: set to what has been filled in
 *
 * The connection manager only knows the first packet number that we expect once it has sent our
 * answer, but the queue pair must be ready before that. Alternate paths are not used.
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error.
 */
int srpt_cm_qp_attr(struct srpt_rdma_ch *ch, struct ib_qp_attr *attr, int *mask)
{
	int ret;

	if (!ch->ib_cm_id)
		return rdma_init_qp_attr(ch->cm_id, attr, mask);
	ret = ib_cm_init_qp_attr(ch->ib_cm_id, attr, mask);
	if (ret)
		return ret;
	if (attr->qp_state == IB_QPS_RTR)
		attr->rq_psn = ch->rq_psn;
	*mask &= ~(IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE);
	return 0;
}

/* The handler lock keeps the connection's state from changing meanwhile. */
static int srpt_rdma_accept(struct srpt_rdma_ch *ch, const struct srp_login_rsp *rsp, u32 len)
{
	struct rdma_conn_param param = {
		.private_data		= rsp,
		.private_data_len	= len,
		.initiator_depth	= ch->read_depth,
		.rnr_retry_count	= SRPT_RNR_RETRY,
		.qp_num			= ch->qp->qp_num,
		.srq			= !!ch->srq,
	};
	int ret = -ECONNABORTED;

	rdma_lock_handler(ch->cm_id);
	if (srpt_ch_connecting(ch)) {
		ch->accepted = true;
		ret = rdma_accept(ch->cm_id, &param);
	}
	rdma_unlock_handler(ch->cm_id);
	return ret;
}

/* The connection manager itself refuses an answer to a connection that is no longer there. */
static int srpt_ib_accept(struct srpt_rdma_ch *ch, const struct srp_login_rsp *rsp, u32 len)
{
	struct ib_cm_rep_param param = {
		.qp_num			= ch->qp->qp_num,
		.starting_psn		= ch->rq_psn,
		.private_data		= rsp,
		.private_data_len	= len,
		.initiator_depth	= ch->read_depth,
		.failover_accepted	= SRPT_FAILOVER_REJECTED,
		.flow_control		= !ch->srq,
		.rnr_retry_count	= SRPT_RNR_RETRY,
		.srq			= !!ch->srq,
	};

	if (!srpt_ch_connecting(ch))
		return -ECONNABORTED;
	ch->accepted = true;
	return ib_send_cm_rep(ch->ib_cm_id, &param);
}

/**
 * srpt_accept - accept the connection of a channel
 * @ch: channel, ready to send and receive
 * @answer: what the initiator is told
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error; -ECONNABORTED if the channel has been closed meanwhile.
 */
int srpt_accept(struct srpt_rdma_ch *ch, const struct srpt_login_answer *answer)
{
	struct srp_login_rsp rsp;
	u32 len = srpt_build_login_rsp(&rsp, answer);

	if (ch->ib_cm_id)
		return srpt_ib_accept(ch, &rsp, len);
	return srpt_rdma_accept(ch, &rsp, len);
}

static void srpt_rdma_rej(struct rdma_cm_id *cm_id, u64 tag, u32 reason)
{
	struct srp_login_rej rej;

	rdma_reject(cm_id, &rej, srpt_build_login_rej(&rej, tag, reason),
		    IB_CM_REJ_CONSUMER_DEFINED);
}

static void srpt_ib_rej(struct ib_cm_id *cm_id, u64 tag, u32 reason)
{
	struct srp_login_rej rej;

	ib_send_cm_rej(cm_id, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, &rej,
		       srpt_build_login_rej(&rej, tag, reason));
}

/* A connection that the initiator has not confirmed cannot be disconnected, but refused. */
static void srpt_ib_goodbye(struct srpt_rdma_ch *ch)
{
	if (!ch->accepted || ib_send_cm_dreq(ch->ib_cm_id, NULL, 0))
		srpt_ib_rej(ch->ib_cm_id, ch->login.tag, ch->rej_reason);
}

/**
 * srpt_goodbye - tell the connection manager that a channel closes
 * @ch: channel; its login is no longer worked on
 *
 * An accepted connection is disconnected, a login without an answer gets a refusal.
 *
 * Context: process; may sleep.
 */
void srpt_goodbye(struct srpt_rdma_ch *ch)
{
	srpt_login_over(ch);
	if (ch->ib_cm_id)
		srpt_ib_goodbye(ch);
	else if (ch->accepted)
		rdma_disconnect(ch->cm_id);
	else
		srpt_rdma_rej(ch->cm_id, ch->login.tag, ch->rej_reason);
}

/**
 * srpt_destroy_cm_id - let go of a channel's connection
 * @ch: channel whose queue pair is gone
 *
 * No handler runs for the connection any more when this returns. It does not wait for the peer.
 *
 * Context: process; may sleep.
 */
void srpt_destroy_cm_id(struct srpt_rdma_ch *ch)
{
	if (ch->ib_cm_id)
		ib_destroy_cm_id(ch->ib_cm_id);
	else
		rdma_destroy_id(ch->cm_id);
}

/**
 * srpt_ch_heard - something came from the initiator before it confirmed the connection
 * @ch: channel
 *
 * Then the confirmation is late or lost, and what came serves as one.
 *
 * Context: any.
 */
void srpt_ch_heard(struct srpt_rdma_ch *ch)
{
	if (READ_ONCE(ch->state) >= SRPT_CH_LIVE)
		return;
	if (ch->ib_cm_id)
		ib_cm_notify(ch->ib_cm_id, IB_EVENT_COMM_EST);
	else
		rdma_notify(ch->cm_id, IB_EVENT_COMM_EST);
}

/**
 * srpt_cm_rtu_recv - the initiator has confirmed the connection
 * @ch: channel
 *
 * Context: process.
 */
static void srpt_cm_rtu_recv(struct srpt_rdma_ch *ch)
{
	srpt_ch_live(ch);
}

/* The names that an RDMA/CM connection tells; no address is taken for granted. */
static void srpt_name_rdma_peer(struct srpt_cm_req *req)
{
	union ib_gid gid = {};

	if (!rdma_protocol_iwarp(req->device, req->port))
		rdma_read_gids(req->cm_id, NULL, &gid);
	srpt_name_gid(&req->peer, &gid);
	srpt_name_address(&req->peer, (struct sockaddr *)&req->cm_id->route.addr.dst_addr);
}

/* A connection request of the RDMA/CM. An error has it destroy the connection. */
static int srpt_rdma_cm_req(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct srpt_cm_req req = {
		.device		= cm_id->device,
		.port		= cm_id->port_num,
		.layout		= SRPT_LOGIN_RDMA,
		.priv		= event->param.conn.private_data,
		.priv_len	= event->param.conn.private_data_len,
		.cm_id		= cm_id,
		.read_depth	= event->param.conn.initiator_depth,
	};
	u32 reason;

	srpt_name_rdma_peer(&req);
	reason = srpt_cm_req_recv(&req);
	if (!reason)
		return 0;
	srpt_rdma_rej(cm_id, req.login.tag, reason);
	return -ECONNREFUSED;
}

/*
 * The initiator's DREQ is answered in the handler of its event, not when the teardown gets there:
 * when both ends disconnect at once ours has been sent already, and the teardown sends nothing.
 */
static void srpt_rdma_disconnected(struct srpt_rdma_ch *ch)
{
	if (rdma_cap_ib_cm(ch->sdev->device, ch->sport->port))
		rdma_disconnect(ch->cm_id);
	srpt_close_ch(ch, rdma_event_msg(RDMA_CM_EVENT_DISCONNECTED));
}

/**
 * srpt_rdma_cm_handler - an event of the RDMA connection manager
 * @cm_id: connection, or a listener for a new one
 * @event: the event
 *
 * Context: process; the connection's handler lock is held.
 * Return: 0, or an error to have a new connection destroyed.
 */
static int srpt_rdma_cm_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct srpt_rdma_ch *ch = cm_id->context;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return srpt_rdma_cm_req(cm_id, event);
	if (!ch)
		return 0;
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		srpt_cm_rtu_recv(ch);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		srpt_rdma_disconnected(ch);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		srpt_close_ch(ch, rdma_event_msg(event->event));
		break;
	default:
		pr_debug("%s: CM event %s\n", ch->name, rdma_event_msg(event->event));
	}
	return 0;
}

static struct rdma_cm_id *srpt_listen_on(struct sockaddr *addr)
{
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(&init_net, srpt_rdma_cm_handler, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return id;
	ret = addr->sa_family == AF_INET6 ? rdma_set_afonly(id, 1) : 0;
	if (!ret)
		ret = rdma_bind_addr(id, addr);
	if (!ret)
		ret = rdma_listen(id, SRPT_MAX_HALF_OPEN);
	if (!ret)
		return id;
	rdma_destroy_id(id);
	/* Every address is meant, so that what is not available can only be the port. */
	return ERR_PTR(ret == -EADDRNOTAVAIL ? -EADDRINUSE : ret);
}

static int srpt_open_listeners(struct rdma_cm_id **id, u16 port)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	id[0] = srpt_listen_on((struct sockaddr *)&v4);
	if (IS_ERR(id[0]))
		return PTR_ERR(id[0]);
	id[1] = srpt_listen_on((struct sockaddr *)&v6);
	if (IS_ERR(id[1])) {
		pr_info("not listening on IPv6 port %u: %ld\n", port, PTR_ERR(id[1]));
		id[1] = NULL;
	}
	return 0;
}

/**
 * srpt_listen - listen for RDMA/CM logins, over IPv4 and IPv6, on all addresses
 * @port: TCP-style port number; 0: stop listening
 *
 * The new port is taken before the old one is given up. Sessions are not touched.
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error; then all is as before.
 */
int srpt_listen(u16 port)
{
	struct rdma_cm_id *id[2] = {};
	int ret = 0, i;

	mutex_lock(&srpt_listen_lock);
	if (port == srpt_port_number)
		goto unlock;
	if (port)
		ret = srpt_open_listeners(id, port);
	if (ret) {
		pr_err("cannot listen on RDMA/CM port %u: %d; choose another\n", port, ret);
		goto unlock;
	}
	for (i = 0; i < 2; i++) {
		swap(id[i], srpt_listener[i]);
		if (id[i])
			rdma_destroy_id(id[i]);
	}
	srpt_port_number = port;
unlock:
	mutex_unlock(&srpt_listen_lock);
	return ret;
}

/**
 * srpt_listening_port - the port that srpt_listen() was last told
 *
 * Return: port number; 0: not listening.
 */
u16 srpt_listening_port(void)
{
	return READ_ONCE(srpt_port_number);
}

/*
 * Whether a queue pair of this port can talk to one that uses @pkey: the partition is one of the
 * port's, and not both ends are limited members of it (IBA 10.9.3).
 */
static bool srpt_shares_partition(struct ib_device *device, u32 port, u16 pkey)
{
	u16 index, ours;

	if (ib_find_cached_pkey(device, port, pkey, &index) ||
	    ib_get_cached_pkey(device, port, index, &ours))
		return false;
	return (pkey | ours) & SRPT_FULL_MEMBER;
}

/* A connection request of the IB/CM. An error has it destroy the connection. */
static int srpt_ib_cm_req(struct ib_cm_id *cm_id, const struct ib_cm_event *event)
{
	const struct ib_cm_req_event_param *param = &event->param.req_rcvd;
	u16 pkey = be16_to_cpu(param->primary_path->pkey);
	struct srpt_cm_req req = {
		.device		= cm_id->device,
		.port		= param->port,
		.layout		= SRPT_LOGIN_IB,
		.priv		= event->private_data,
		.priv_len	= IB_CM_REQ_PRIVATE_DATA_SIZE,
		.ib_cm_id	= cm_id,
		.read_depth	= param->initiator_depth,
	};
	u32 reason;

	if (!rdma_protocol_ib(req.device, req.port) || param->qp_type != IB_QPT_RC) {
		ib_send_cm_rej(cm_id, IB_CM_REJ_INVALID_SERVICE_ID, NULL, 0, NULL, 0);
		return -ECONNREFUSED;
	}
	req.no_partition = !srpt_shares_partition(req.device, req.port, pkey);
	if (req.no_partition)
		pr_warn_ratelimited("%s/%u: not in partition %#06x, or like the initiator only as a limited member\n",
				    dev_name(&req.device->dev), req.port, pkey);
	srpt_name_gid(&req.peer, &param->primary_path->dgid);
	reason = srpt_cm_req_recv(&req);
	if (!reason)
		return 0;
	srpt_ib_rej(cm_id, req.login.tag, reason);
	return -ECONNREFUSED;
}

/**
 * srpt_cm_handler - an event of the InfiniBand connection manager
 * @cm_id: connection, new or known
 * @event: the event
 *
 * Context: process; events of one connection do not overlap.
 * Return: 0, or an error to have a new connection destroyed.
 */
static int srpt_cm_handler(struct ib_cm_id *cm_id, const struct ib_cm_event *event)
{
	struct srpt_rdma_ch *ch = cm_id->context;

	if (event->event == IB_CM_REQ_RECEIVED)
		return srpt_ib_cm_req(cm_id, event);
	/* The service has queue pairs for connections only, none to tell a SIDR_REQ of. */
	if (!ch)
		return -EINVAL;
	switch (event->event) {
	case IB_CM_RTU_RECEIVED:
	case IB_CM_USER_ESTABLISHED:
		srpt_cm_rtu_recv(ch);
		break;
	case IB_CM_DREQ_RECEIVED:
		/* At once, not when the teardown gets there; see srpt_rdma_disconnected(). */
		ib_send_cm_drep(cm_id, NULL, 0);
		srpt_close_ch(ch, "disconnected by the initiator");
		break;
	case IB_CM_REJ_RECEIVED:
		srpt_close_ch(ch, "initiator does not want the connection");
		break;
	case IB_CM_REP_ERROR:
		srpt_close_ch(ch, "initiator did not confirm the connection");
		break;
	case IB_CM_TIMEWAIT_EXIT:
		srpt_close_ch(ch, "connection is over");
		break;
	default:
		pr_debug("%s: CM event %d\n", ch->name, event->event);
	}
	return 0;
}

static bool srpt_has_ib_port(struct ib_device *device)
{
	u32 port;

	rdma_for_each_port(device, port)
		if (rdma_protocol_ib(device, port))
			return true;
	return false;
}

/**
 * srpt_listen_ib - listen for IB/CM logins at a device
 * @sdev: device
 *
 * Only where it has a port of that kind; which one a login comes in by is looked at then. A device
 * that cannot listen can still be reached by RDMA/CM.
 *
 * Context: process; may sleep.
 */
void srpt_listen_ib(struct srpt_device *sdev)
{
	struct ib_cm_id *id;
	int ret;

	if (!srpt_has_ib_port(sdev->device))
		return;
	id = ib_create_cm_id(sdev->device, srpt_cm_handler, NULL);
	if (IS_ERR(id)) {
		ret = PTR_ERR(id);
		goto failed;
	}
	ret = ib_cm_listen(id, cpu_to_be64(srpt_service_guid()));
	if (!ret) {
		sdev->listener = id;
		return;
	}
	ib_destroy_cm_id(id);
failed:
	pr_err("%s: takes no IB/CM logins: cannot listen on service ID 0x%016llx: %d\n",
	       dev_name(&sdev->device->dev), srpt_service_guid(), ret);
}

/**
 * srpt_unlisten_ib - undo srpt_listen_ib()
 * @sdev: device
 *
 * Context: process; may sleep, so srpt_lock must not be held.
 */
void srpt_unlisten_ib(struct srpt_device *sdev)
{
	if (sdev->listener)
		ib_destroy_cm_id(sdev->listener);
	sdev->listener = NULL;
}
