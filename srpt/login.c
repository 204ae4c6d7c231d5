// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logins: admission, and what has to be made before one can be answered.
 *
 * Copyright the ib_srpt authors
 *
 * A connection request is judged in the handler of its event, by checks that cost nothing: the
 * form of the SRP_LOGIN_REQ, the port, the ACLs. Who fails one gets an SRP_LOGIN_REJ with its
 * reason at once. Who passes gets a channel, and the rest is done by its login_work: wait for
 * earlier channels of the nexus where they have to go first, buffers, queue pair, session, answer.
 *
 * That wait blocks no thread: the login is gated, and looked at again when a channel of the same
 * nexus has gone. A timer ends logins that are not complete in time, whatever holds them up.
 */
#include <linux/inet.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "ib_srpt.h"
#include "trace.h"

/* Packet sequence numbers have 24 bits. */
#define SRPT_PSN_MASK	0xffffffU

static atomic_t srpt_half_open = ATOMIC_INIT(0);

static void srpt_print_peer(char *buf, size_t size, const struct srpt_peer *peer)
{
	size_t at = 0;
	unsigned int i;

	buf[0] = '\0';
	for (i = 0; i < peer->count && at + SRPT_NAME_LEN < size; i++) {
		if (i)
			at += scnprintf(buf + at, size - at, ", ");
		at += srpt_print_name(buf + at, size - at, &peer->names[i]);
	}
}

/**
 * srpt_same_nexus - whether two channels belong to the same I_T nexus
 * @a: channel
 * @b: channel
 *
 * A nexus is named by its two port identifiers (SRP 4.5); channels of different ports are kept
 * apart besides, since the target port identifier here is one for the whole host.
 *
 * Return: true if they do.
 */
bool srpt_same_nexus(const struct srpt_rdma_ch *a, const struct srpt_rdma_ch *b)
{
	return a->sport == b->sport &&
	       !memcmp(a->login.i_port_id, b->login.i_port_id, sizeof(a->login.i_port_id)) &&
	       !memcmp(a->login.t_port_id, b->login.t_port_id, sizeof(a->login.t_port_id));
}

/**
 * srpt_kick_logins - a channel has gone: look again at the logins that waited for it
 * @gone: the channel
 *
 * Context: process; srpt_lock is held.
 */
void srpt_kick_logins(const struct srpt_rdma_ch *gone)
{
	struct srpt_rdma_ch *ch;

	lockdep_assert_held(&srpt_lock);
	list_for_each_entry(ch, &gone->sdev->channels, dev_entry)
		if (ch->gated && srpt_same_nexus(ch, gone))
			queue_work(srpt_wq, &ch->login_work);
}

/* A single-channel login ends all earlier channels of its nexus, and waits for their end. */
static int srpt_gate_single(struct srpt_rdma_ch *ch)
{
	struct srpt_rdma_ch *old;
	int ret = 0;

	list_for_each_entry(old, &ch->sdev->channels, dev_entry) {
		if (old == ch)
			break;
		if (!srpt_same_nexus(old, ch))
			continue;
		srpt_end_ch(old, "replaced by a new login of the same initiator",
			    SRPT_LOGOUT_NEW_LOGIN);
		ch->rsp_flags = SRP_LOGIN_RSP_MULTICHAN_TERMINATED;
		ret = -EAGAIN;
	}
	return ret;
}

/* A multi-channel login joins the nexus of a live channel, or waits until it is clear. */
static int srpt_gate_multi(struct srpt_rdma_ch *ch)
{
	struct srpt_rdma_ch *old;
	int ret = 0;

	list_for_each_entry(old, &ch->sdev->channels, dev_entry) {
		if (old == ch)
			break;
		if (!srpt_same_nexus(old, ch))
			continue;
		ret = -EAGAIN;
		if (READ_ONCE(old->state) >= SRPT_CH_CLOSING || !old->nexus)
			continue;
		if (old->tpg != ch->tpg || strcmp(old->acl, ch->acl))
			return -EXDEV;
		kref_get(&old->nexus->ref);
		ch->nexus = old->nexus;
		ch->rsp_flags = SRP_LOGIN_RSP_MULTICHAN_MAINTAINED;
		return 0;
	}
	return ret;
}

/* Whether the login may go on: 0, an error, or -EAGAIN: it will be looked at again. */
static int srpt_login_gate(struct srpt_rdma_ch *ch)
{
	int ret;

	mutex_lock(&srpt_lock);
	ret = ch->login.multichannel ? srpt_gate_multi(ch) : srpt_gate_single(ch);
	ch->gated = ret == -EAGAIN;
	mutex_unlock(&srpt_lock);
	return ret;
}

/* An ACL that was removed while its session was set up would wait for that session for ever. */
static bool srpt_acl_stands(struct se_session *sess)
{
	struct se_node_acl *nacl = sess->se_node_acl;
	bool stands;

	mutex_lock(&nacl->se_tpg->acl_node_mutex);
	stands = !list_empty(&nacl->acl_list);
	mutex_unlock(&nacl->se_tpg->acl_node_mutex);
	return stands;
}

static int srpt_create_nexus(struct srpt_rdma_ch *ch)
{
	struct srpt_nexus *nexus;
	int ret;

	nexus = kzalloc(sizeof(*nexus), GFP_KERNEL);
	if (!nexus)
		return -ENOMEM;
	kref_init(&nexus->ref);
	nexus->sess = target_setup_session(&ch->tpg->tpg, 0, 0, TARGET_PROT_NORMAL, ch->acl,
					   nexus, NULL);
	if (IS_ERR(nexus->sess)) {
		ret = PTR_ERR(nexus->sess);
		kfree(nexus);
		return ret;
	}
	mutex_lock(&srpt_lock);
	ch->nexus = nexus;
	srpt_kick_logins(ch);
	mutex_unlock(&srpt_lock);
	return srpt_acl_stands(nexus->sess) ? 0 : -EACCES;
}

/* How many requests the channel may have outstanding, and the buffers for them. */
static int srpt_create_recv(struct srpt_rdma_ch *ch)
{
	struct srpt_srq *srq = ch->tpg->use_srq ? srpt_get_srq(ch->sdev) : NULL;
	u32 want = SRPT_REQ_LIM + SRPT_EXTRA_RECV, got;

	ch->req_lim = SRPT_REQ_LIM;
	if (!srq) {
		ch->recv_ring = srpt_alloc_recv_ring(ch->sdev, want);
		return ch->recv_ring ? 0 : -ENOMEM;
	}
	got = srpt_srq_promise(srq, want);
	if (got <= SRPT_EXTRA_RECV) {
		srpt_put_srq(srq);
		return -ENOBUFS;
	}
	ch->req_lim = got - SRPT_EXTRA_RECV;
	mutex_lock(&srpt_lock);
	ch->srq = srq;
	mutex_unlock(&srpt_lock);
	return READ_ONCE(srq->failed) ? -EIO : 0;
}

static int srpt_create_all(struct srpt_rdma_ch *ch)
{
	int ret;

	ch->rsp_len = ch->tpg->max_rsp_size;
	ret = srpt_create_recv(ch);
	if (ret)
		return ret;
	ret = srpt_alloc_send_ring(ch);
	if (ret)
		return ret;
	ret = srpt_create_ch_ib(ch);
	if (ret)
		return ret;
	return ch->nexus ? 0 : srpt_create_nexus(ch);
}

/* The SRP_LOGIN_REJ reason of an error during login. */
static u32 srpt_reason(int error)
{
	switch (error) {
	case -EACCES:
		return SRP_LOGIN_REJ_UNABLE_ESTABLISH_CHANNEL;
	case -EXDEV:
		return SRP_LOGIN_REJ_UNABLE_ASSOCIATE_CHANNEL;
	default:
		return SRP_LOGIN_REJ_INSUFFICIENT_RESOURCES;
	}
}

static void srpt_fill_answer(struct srpt_rdma_ch *ch, struct srpt_login_answer *answer)
{
	*answer = (struct srpt_login_answer) {
		.tag		= ch->login.tag,
		.req_lim	= ch->req_lim,
		.max_it_iu_len	= srp_max_req_size,
		.max_ti_iu_len	= ch->rsp_len,
		.rsp_flags	= ch->rsp_flags,
	};
	if (ch->rules.imm_offset)
		answer->rsp_flags |= SRP_LOGIN_RSP_IMMED_SUPP;
}

static int srpt_connect(struct srpt_rdma_ch *ch)
{
	struct srpt_login_answer answer;
	int ret;

	srpt_fill_recv(ch);
	ch->credit = ch->req_lim;
	ret = srpt_ch_qp_rtr(ch, ch->qp);
	if (ret)
		return ret;
	ret = srpt_ch_qp_rts(ch, ch->qp);
	if (ret)
		return ret;
	srpt_fill_answer(ch, &answer);
	return srpt_accept(ch, &answer);
}

/**
 * srpt_login_work - carry on with a login
 * @work: &srpt_rdma_ch.login_work
 */
void srpt_login_work(struct work_struct *work)
{
	struct srpt_rdma_ch *ch = container_of(work, struct srpt_rdma_ch, login_work);
	int ret;

	if (READ_ONCE(ch->state) != SRPT_CH_LOGIN)
		return;
	ret = srpt_login_gate(ch);
	if (ret == -EAGAIN)
		return;
	if (!ret)
		ret = srpt_create_all(ch);
	if (!ret)
		ret = srpt_connect(ch);
	if (!ret)
		return;
	ch->rej_reason = srpt_reason(ret);
	if (srpt_close_ch(ch, "login failed"))
		pr_warn_ratelimited("%s: login failed: %d, reason %#x (%s)\n", ch->name, ret,
				    ch->rej_reason, srpt_login_reason(ch->rej_reason));
}

/**
 * srpt_login_timed_out - give up on a login
 * @work: &srpt_rdma_ch.login_timer
 */
void srpt_login_timed_out(struct work_struct *work)
{
	struct srpt_rdma_ch *ch = container_of(work, struct srpt_rdma_ch, login_timer.work);

	if (READ_ONCE(ch->state) < SRPT_CH_LIVE &&
	    srpt_close_ch(ch, "login not completed in time"))
		pr_warn_ratelimited("%s: login not completed within %d s\n", ch->name,
				    SRPT_LOGIN_TIMEOUT);
}

/**
 * srpt_login_over - a login no longer counts as being in progress
 * @ch: channel; calls after the first do nothing
 *
 * Context: any.
 */
void srpt_login_over(struct srpt_rdma_ch *ch)
{
	if (xchg(&ch->half_open, false))
		atomic_dec(&srpt_half_open);
}

/* A name that is known already, as the address that a RoCE GID is made of, is not listed twice. */
static void srpt_add_name(struct srpt_peer *peer, const struct srpt_name *name)
{
	unsigned int i;

	for (i = 0; i < peer->count; i++)
		if (srpt_same_name(&peer->names[i], name))
			return;
	peer->names[peer->count++] = *name;
}

/**
 * srpt_name_gid - add the names that an initiator has by its GID
 * @peer: names of the initiator
 * @gid: its GID; zero if there is none
 *
 * Context: any.
 */
void srpt_name_gid(struct srpt_peer *peer, const union ib_gid *gid)
{
	struct srpt_name name;

	if (!gid->global.interface_id)
		return;
	srpt_guid_name(&name, gid->raw);
	srpt_add_name(peer, &name);
	srpt_id_name(&name, gid->raw);
	srpt_add_name(peer, &name);
}

/**
 * srpt_name_address - add the name that an initiator has by its IP address
 * @peer: names of the initiator
 * @addr: its address; one that is not of IP adds nothing
 *
 * Context: any.
 */
void srpt_name_address(struct srpt_peer *peer, const struct sockaddr *addr)
{
	struct srpt_name name;

	if (addr->sa_family == AF_INET)
		srpt_ipv4_name(&name, (const u8 *)&((const struct sockaddr_in *)addr)->sin_addr);
	else if (addr->sa_family == AF_INET6)
		srpt_id_name(&name, ((const struct sockaddr_in6 *)addr)->sin6_addr.s6_addr);
	else
		return;
	srpt_add_name(peer, &name);
}

/* How the log calls a channel: the address if there is one, else the initiator port ID. */
static void srpt_name_ch(struct srpt_rdma_ch *ch, const struct srpt_peer *peer)
{
	srpt_print_name(ch->name, sizeof(ch->name),
			&peer->names[peer->count > 1 ? peer->count - 2 : 0]);
}

/* From here on, events of the connection concern the channel. */
static void srpt_adopt_connection(struct srpt_rdma_ch *ch, struct srpt_cm_req *req)
{
	ch->cm_id = req->cm_id;
	ch->ib_cm_id = req->ib_cm_id;
	if (ch->ib_cm_id) {
		ch->ib_cm_id->context = ch;
		ch->rq_psn = get_random_u32() & SRPT_PSN_MASK;
	} else {
		ch->cm_id->context = ch;
	}
}

/* Under srpt_lock: the request becomes a channel, or the reason why not is returned. */
static u32 srpt_admit_login(struct srpt_cm_req *req)
{
	struct srpt_port *sport = srpt_lookup_port(req->device, req->port);
	struct srpt_admission adm;
	struct srpt_rdma_ch *ch;
	u32 reason;

	if (!sport || !atomic_add_unless(&srpt_half_open, 1, SRPT_MAX_HALF_OPEN))
		return SRP_LOGIN_REJ_INSUFFICIENT_RESOURCES;
	reason = srpt_admit(sport, &req->peer, &adm);
	if (!reason)
		reason = srpt_over_limit(&adm, &req->login);
	if (reason)
		goto refuse;
	reason = SRP_LOGIN_REJ_INSUFFICIENT_RESOURCES;
	ch = srpt_alloc_ch(sport, &adm);
	if (!ch)
		goto refuse;
	ch->half_open = true;
	ch->login = req->login;
	ch->read_depth = min3((u32)req->read_depth, (u32)req->device->attrs.max_qp_init_rd_atom,
			      SRPT_READ_DEPTH);
	ch->rej_reason = SRP_LOGIN_REJ_UNABLE_ESTABLISH_CHANNEL;
	ch->rules.imm_offset = req->login.imm_offset;
	ch->rules.max_data = SRPT_MAX_DATA;
	ch->rules.max_add_cdb = SRPT_MAX_ADD_CDB_LEN;
	ch->rules.ext_table = true;
	srpt_name_ch(ch, &req->peer);
	srpt_adopt_connection(ch, req);
	queue_delayed_work(srpt_wq, &ch->login_timer, SRPT_LOGIN_TIMEOUT * HZ);
	queue_work(srpt_wq, &ch->login_work);
	return 0;

refuse:
	atomic_dec(&srpt_half_open);
	return reason;
}

/**
 * srpt_cm_req_recv - judge a connection request
 * @req: the request; its login, and what the login says of names, is filled in
 *
 * Context: process; a handler of the connection manager.
 * Return: 0 if it has become a channel, else the SRP_LOGIN_REJ reason.
 */
u32 srpt_cm_req_recv(struct srpt_cm_req *req)
{
	struct srpt_login_rules rules = {
		.max_iu_len	= srp_max_req_size,
		.service_guid	= srpt_service_guid(),
	};
	char names[4 * SRPT_NAME_LEN];
	struct srpt_name name;
	u32 reason;

	reason = srpt_parse_login(req->priv, req->priv_len, req->layout, &rules, &req->login);
	srpt_id_name(&name, req->login.i_port_id);
	srpt_add_name(&req->peer, &name);
	if (!reason && req->no_partition)
		reason = SRP_LOGIN_REJ_UNABLE_ESTABLISH_CHANNEL;
	if (!reason) {
		mutex_lock(&srpt_lock);
		reason = srpt_admit_login(req);
		mutex_unlock(&srpt_lock);
	}
	trace_srpt_login(req->device, req->port, &req->login, reason);
	if (reason) {
		srpt_print_peer(names, sizeof(names), &req->peer);
		pr_warn_ratelimited("%s/%u: refused a login, reason %#x (%s); initiator: %s\n",
				    dev_name(&req->device->dev), req->port, reason,
				    srpt_login_reason(reason), names);
	}
	return reason;
}
