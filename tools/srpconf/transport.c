// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections: RDMA/CM with IP addresses, or IB/CM through AF_IB addresses; queue pairs that are
 * taken through their states by hand, so that every step can be left out; registered memory.
 *
 * Copyright the ib_srpt authors
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <arpa/inet.h>
#include <infiniband/ib.h>

#include "srpconf.h"

#define WR_SEND		(1ULL << 32)
#define WR_RDMA		(1ULL << 33)
#define CM_REJ_CONSUMER	28

static void note_gone(struct link *l, const char *why)
{
	if (!l->gone)
		l->why = why;
	l->gone = true;
}

static void keep_private(struct link *l, const struct rdma_cm_event *event)
{
	l->priv_len = event->param.conn.private_data_len;
	if (l->priv_len > sizeof(l->priv))
		l->priv_len = sizeof(l->priv);
	if (l->priv_len)
		memcpy(l->priv, event->param.conn.private_data, l->priv_len);
}

static void note_reject(struct link *l, const struct rdma_cm_event *event)
{
	if (l->answer == ACCEPTED) {
		note_gone(l, "rejected after it had been accepted");
		return;
	}
	l->cm_status = event->status;
	l->answer = event->status == CM_REJ_CONSUMER ? REFUSED : NO_LISTENER;
	keep_private(l, event);
}

static void note_event(struct link *l, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		keep_private(l, event);
		l->answer = ACCEPTED;
		break;
	case RDMA_CM_EVENT_REJECTED:
		note_reject(l, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		l->dreq = true;
		note_gone(l, "disconnected by the target");
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		note_gone(l, "connection over");
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		l->answer = LOST;
		l->cm_status = event->status;
		note_gone(l, "unreachable");
		break;
	default:
		break;
	}
}

/* The next event of the connection manager, or -1 after @ms milliseconds. */
int link_event(struct link *l, int ms)
{
	struct pollfd pfd = { .fd = l->events->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int type;

	if (poll(&pfd, 1, ms) <= 0 || rdma_get_cm_event(l->events, &event))
		return -1;
	type = event->event;
	note_event(l, event);
	rdma_ack_cm_event(event);
	/* Answered at once, or the target waits for us. */
	if (type == RDMA_CM_EVENT_DISCONNECTED)
		rdma_disconnect(l->id);
	return type;
}

static bool wait_event(struct link *l, int type)
{
	return link_event(l, opt.timeout_ms) == type;
}

static bool ip_address(struct sockaddr_storage *to)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV }, *ai;

	if (getaddrinfo(opt.address, opt.service, &hints, &ai))
		return false;
	memcpy(to, ai->ai_addr, ai->ai_addrlen);
	freeaddrinfo(ai);
	return true;
}

static bool ib_address(struct sockaddr_storage *to)
{
	struct sockaddr_ib *sib = (struct sockaddr_ib *)to;

	sib->sib_family = AF_IB;
	sib->sib_pkey = htobe16(opt.pkey);
	sib->sib_sid = htobe64(strtoull(opt.service, NULL, 16));
	sib->sib_sid_mask = htobe64(~0ULL);
	return inet_pton(AF_INET6, opt.address, sib->sib_addr.sib_raw) == 1;
}

static bool resolve(struct link *l)
{
	struct sockaddr_storage addr = {};

	if (!(opt.ib ? ib_address(&addr) : ip_address(&addr)))
		return false;
	l->events = rdma_create_event_channel();
	if (!l->events || rdma_create_id(l->events, &l->id, l, opt.ib ? RDMA_PS_IB : RDMA_PS_TCP))
		return false;
	return !rdma_resolve_addr(l->id, NULL, (struct sockaddr *)&addr, 5000) &&
	       wait_event(l, RDMA_CM_EVENT_ADDR_RESOLVED) &&
	       !rdma_resolve_route(l->id, 5000) && wait_event(l, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static bool modify_qp(struct link *l, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(l->id, &attr, &mask))
		return false;
	if (state == IBV_QPS_INIT)
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	if (state == IBV_QPS_RTS && l->force_reads)
		attr.max_rd_atomic = 1;
	return !ibv_modify_qp(l->qp, &attr, mask);
}

static void post_recv(struct link *l, unsigned int n)
{
	struct ibv_sge sge = { (uintptr_t)l->rx + (size_t)n * RX_SIZE, RX_SIZE, l->rx_mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = n, .sg_list = &sge, .num_sge = 1 }, *bad;

	ibv_post_recv(l->qp, &wr, &bad);
}

static void *get_pages(size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static bool make_cqs(struct link *l)
{
	l->wake = ibv_create_comp_channel(l->id->verbs);
	if (!l->wake)
		return false;
	fcntl(l->wake->fd, F_SETFL, O_NONBLOCK);
	l->scq = ibv_create_cq(l->id->verbs, 4 * TX_COUNT, l, l->wake, 0);
	l->rcq = ibv_create_cq(l->id->verbs, l->rx_count + 1, l, l->wake, 0);
	return l->scq && l->rcq;
}

static bool make_rx(struct link *l)
{
	size_t len = (size_t)l->rx_count * RX_SIZE;

	l->rx = get_pages(len);
	if (!l->rx)
		return false;
	l->rx_mr = ibv_reg_mr(l->pd, l->rx, len, IBV_ACCESS_LOCAL_WRITE);
	return l->rx_mr;
}

static bool make_qp(struct link *l)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = l->scq,
		.recv_cq = l->rcq,
		.cap = { .max_send_wr = 2 * TX_COUNT, .max_recv_wr = l->rx_count,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	unsigned int i;

	l->qp = ibv_create_qp(l->pd, &init);
	if (!l->qp || !modify_qp(l, IBV_QPS_INIT))
		return false;
	for (i = 0; !l->hold_rx && i < l->rx_count; i++)
		post_recv(l, i);
	return true;
}

/* Everything up to the connection request; without receive buffers also without a queue pair. */
bool link_open(struct link *l, unsigned int rx_count)
{
	l->rx_count = rx_count;
	if (!resolve(l))
		return false;
	if (!rx_count)
		return true;
	l->pd = ibv_alloc_pd(l->id->verbs);
	return l->pd && make_cqs(l) && make_rx(l) && make_qp(l);
}

/*
 * Sends the request. Without a queue pair it makes up a number, a new one each time: the connection
 * manager refuses one that it has seen as stale.
 */
bool link_request(struct link *l, const void *priv, int len)
{
	static uint32_t made_up = 0x200000;
	struct rdma_conn_param param = {
		.private_data = priv,
		.private_data_len = len,
		.responder_resources = 4,
		.initiator_depth = 4,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = l->qp ? l->qp->qp_num :
			  __atomic_fetch_add(&made_up, 1, __ATOMIC_RELAXED) & 0xffffff,
	};

	return !rdma_connect(l->id, &param);
}

/* The target has accepted: the queue pair can be used. Fails when it has closed it again. */
bool link_established(struct link *l)
{
	return l->qp && modify_qp(l, IBV_QPS_RTR) && modify_qp(l, IBV_QPS_RTS);
}

bool link_confirm(struct link *l)
{
	l->confirmed = !rdma_establish(l->id);
	return l->confirmed;
}

/*
 * What happened
 */

static void send_done(struct link *l, const struct ibv_wc *wc)
{
	if (wc->wr_id & WR_SEND)
		l->tx_busy &= ~(1U << (wc->wr_id & 31));
	if (wc->status == IBV_WC_SUCCESS) {
		l->dma_done += !!(wc->wr_id & WR_RDMA);
		return;
	}
	if (l->send_status == IBV_WC_SUCCESS)
		l->send_status = wc->status;
	note_gone(l, "a send failed");
}

static unsigned int poll_sends(struct link *l)
{
	struct ibv_wc wc;
	unsigned int n;

	for (n = 0; ibv_poll_cq(l->scq, 1, &wc) > 0; n++)
		send_done(l, &wc);
	return n;
}

static unsigned int poll_receives(struct session *s)
{
	struct link *l = &s->l;
	struct ibv_wc wc;
	unsigned int n;

	for (n = 0; ibv_poll_cq(l->rcq, 1, &wc) > 0; n++) {
		if (wc.status == IBV_WC_SUCCESS) {
			session_received(s, l->rx + wc.wr_id * RX_SIZE, wc.byte_len);
			post_recv(l, wc.wr_id);
		} else {
			note_gone(l, "the queue pair is in error");
		}
	}
	return n;
}

static void take_wakeups(struct link *l)
{
	struct ibv_cq *cq;
	void *ctx;

	while (!ibv_get_cq_event(l->wake, &cq, &ctx)) {
		l->wakeups += cq == l->rcq;
		ibv_ack_cq_events(cq, 1);
	}
}

static bool look(struct session *s)
{
	return poll_sends(&s->l) + poll_receives(s) > 0;
}

/* Handles all that has happened, and waits up to @ms milliseconds for something if nothing has. */
void link_pump(struct session *s, int ms)
{
	struct link *l = &s->l;
	struct pollfd pfd[2];

	if (!l->qp) {
		link_event(l, ms);
		return;
	}
	if (look(s))
		ms = 0;
	/* Without an event for each message they are looked for. */
	if (l->solicited_only && ms > 50)
		ms = 50;
	ibv_req_notify_cq(l->scq, 0);
	ibv_req_notify_cq(l->rcq, l->solicited_only);
	if (look(s))
		ms = 0;
	pfd[0] = (struct pollfd){ .fd = l->events->fd, .events = POLLIN };
	pfd[1] = (struct pollfd){ .fd = l->wake->fd, .events = POLLIN };
	if (poll(pfd, 2, ms) <= 0)
		return;
	if (pfd[1].revents)
		take_wakeups(l);
	if (pfd[0].revents)
		link_event(l, 0);
	look(s);
}

/*
 * Sends
 */

static bool make_tx(struct session *s)
{
	struct link *l = &s->l;

	if (l->tx)
		return true;
	l->tx_size = (s->max_it > 512 ? s->max_it : 512) + 512;
	if (l->tx_size > IU_ROOM)
		l->tx_size = IU_ROOM;
	l->tx_size = (l->tx_size + 63) & ~63U;
	l->tx = get_pages((size_t)l->tx_size * TX_COUNT);
	if (!l->tx)
		return false;
	l->tx_mr = ibv_reg_mr(l->pd, l->tx, (size_t)l->tx_size * TX_COUNT, 0);
	return l->tx_mr;
}

static int free_slot(struct session *s)
{
	long end = now_ms() + opt.timeout_ms;

	while (s->l.tx_busy == UINT32_MAX && !s->l.gone && now_ms() < end)
		link_pump(s, 100);
	return s->l.tx_busy == UINT32_MAX ? -1 : __builtin_ctz(~s->l.tx_busy);
}

/* Copies the message; false if the connection is gone or never takes it. */
bool link_send(struct session *s, const void *data, uint32_t len)
{
	struct link *l = &s->l;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = len ? 1 : 0, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	int slot;

	if (!make_tx(s) || len > l->tx_size)
		return false;
	slot = free_slot(s);
	if (slot < 0 || l->gone)
		return false;
	sge = (struct ibv_sge){ (uintptr_t)l->tx + (size_t)slot * l->tx_size, len, l->tx_mr->lkey };
	wr.wr_id = WR_SEND | slot;
	if (len)
		memcpy(l->tx + (size_t)slot * l->tx_size, data, len);
	if (ibv_post_send(l->qp, &wr, &bad))
		return false;
	l->tx_busy |= 1U << slot;
	return true;
}

/* An RDMA or atomic request of ours; dma_done or send_status tell how it ended. */
bool link_rdma(struct link *l, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->wr_id = WR_RDMA;
	wr->send_flags = IBV_SEND_SIGNALED;
	return !ibv_post_send(l->qp, wr, &bad);
}

/* The queue pair dies and nobody is told. */
void link_break(struct link *l)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (l->qp)
		ibv_modify_qp(l->qp, &attr, IBV_QP_STATE);
}

void link_disconnect(struct link *l)
{
	if (l->id && l->answer == ACCEPTED && !l->dreq)
		rdma_disconnect(l->id);
}

/*
 * Memory
 */

struct region *link_region(struct link *l, size_t len, int access)
{
	struct region *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->at = get_pages(len);
	r->len = len;
	r->mr = r->at ? ibv_reg_mr(l->pd, r->at, len, access) : NULL;
	r->next = l->regions;
	l->regions = r;
	return r->mr ? r : NULL;
}

/* Takes the registration away; the memory stays until the connection is closed. */
void link_forget(struct link *l, struct region *r)
{
	(void)l;
	if (r->mr)
		ibv_dereg_mr(r->mr);
	r->mr = NULL;
}

static void free_regions(struct link *l)
{
	struct region *r;

	while ((r = l->regions)) {
		l->regions = r->next;
		link_forget(l, r);
		if (r->at)
			munmap(r->at, r->len);
		free(r);
	}
}

static void free_buffers(struct link *l)
{
	if (l->rx_mr)
		ibv_dereg_mr(l->rx_mr);
	if (l->tx_mr)
		ibv_dereg_mr(l->tx_mr);
	if (l->rx)
		munmap(l->rx, (size_t)l->rx_count * RX_SIZE);
	if (l->tx)
		munmap(l->tx, (size_t)l->tx_size * TX_COUNT);
}

void link_close(struct link *l)
{
	if (l->qp) {
		link_disconnect(l);
		ibv_destroy_qp(l->qp);
	}
	free_regions(l);
	free_buffers(l);
	if (l->scq)
		ibv_destroy_cq(l->scq);
	if (l->rcq)
		ibv_destroy_cq(l->rcq);
	if (l->wake)
		ibv_destroy_comp_channel(l->wake);
	if (l->pd)
		ibv_dealloc_pd(l->pd);
	if (l->id)
		rdma_destroy_id(l->id);
	if (l->events)
		rdma_destroy_event_channel(l->events);
	memset(l, 0, sizeof(*l));
}
