// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logins made by hand: an SRP initiator in user space that logs in over RDMA/CM or IB/CM in ways
 * that the kernel's initiator never would.
 *
 * Copyright the ib_srpt authors
 *
 *   srp_logins [-a ADDRESS] [-p PORT] [-g SERVICE GUID] [-i INITIATOR PORT ID]
 *              [-s SOURCE GID -d DESTINATION GID] MODE [ARGUMENT...]
 *
 * With GIDs the logins go over IB/CM, to the service ID that is the GUID.
 *
 * Modes:
 *   script             does what the lines of its input say, one line of output for each:
 *                        login NAME [multi] [unconfirmed] [id=32 HEX] [target=32 HEX] [iu=N]
 *                              [fmt=N] [flags=N] [opcode=N] [imm=N] [len=N]
 *                        alive NAME    sends an INQUIRY and checks the answer
 *                        gone NAME     waits until the target disconnects
 *                        early NAME    eight INQUIRYs on a login that was not confirmed
 *                        confirm NAME  late confirmation
 *                        break NAME    its queue pair goes to the error state, nobody is told
 *                        close NAME    disconnect
 *   storm THREADS ROUNDS  logins of one nexus, most of them without waiting for the answer
 *   half-open COUNT    logins that are never confirmed; then waits for the end of its input
 *   channels COUNT     logins of one nexus with several channels; waits for the end of its input
 *                      or for the target to close all of them
 *   refused COUNT LIMIT  COUNT logins for each reason to refuse one, and those just inside the
 *                      limits; LIMIT is the largest information unit of the target
 *   loop FILE          logs in and out until FILE is gone
 * The exit status is 0 if all went as it has to.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/ib.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define ANSWER_MS	60000	/* far above what a target that answers needs */
#define MAX_CMDS	8
#define INQUIRY_LEN	36
#define MAX_CONNS	512
#define CM_REJ_CONSUMER	28
#define DEFAULT_PKEY	0xffff

enum { SRP_LOGIN_REQ = 0x00, SRP_CMD = 0x02, SRP_LOGIN_RSP = 0xc0, SRP_RSP = 0xc1,
       SRP_LOGIN_REJ = 0xc2 };

struct login_req {
	uint64_t	tag;
	uint16_t	buf_fmt;
	uint8_t		flags;
	uint8_t		opcode;
	uint32_t	iu_len;
	uint8_t		i_port_id[16];
	uint8_t		t_port_id[16];
	uint16_t	imm_offset;
	uint8_t		reserved[6];
} __attribute__((packed));

/* The same as IB/CM has it. */
struct ib_login_req {
	uint8_t		opcode;
	uint8_t		reserved1[7];
	uint64_t	tag;
	uint32_t	iu_len;
	uint8_t		reserved2[4];
	uint16_t	buf_fmt;
	uint8_t		flags;
	uint8_t		reserved3;
	uint16_t	imm_offset;
	uint8_t		reserved4[2];
	uint8_t		i_port_id[16];
	uint8_t		t_port_id[16];
} __attribute__((packed));

struct login_rsp {
	uint8_t		opcode;
	uint8_t		reserved1[3];
	uint32_t	req_lim;
	uint64_t	tag;
	uint32_t	max_it_iu_len;
	uint32_t	max_ti_iu_len;
	uint16_t	buf_fmt;
	uint8_t		flags;
	uint8_t		reserved2[25];
} __attribute__((packed));

struct login_rej {
	uint8_t		opcode;
	uint8_t		reserved1[3];
	uint32_t	reason;
	uint64_t	tag;
	uint8_t		reserved2[8];
	uint16_t	buf_fmt;
	uint8_t		reserved3[6];
} __attribute__((packed));

struct inquiry {
	uint8_t		opcode;
	uint8_t		sol_not;
	uint8_t		reserved1[3];
	uint8_t		buf_fmt;
	uint8_t		out_count;
	uint8_t		in_count;
	uint64_t	tag;
	uint8_t		reserved2[4];
	uint8_t		lun[8];
	uint8_t		reserved3[4];
	uint8_t		cdb[16];
	uint64_t	va;
	uint32_t	key;
	uint32_t	len;
} __attribute__((packed));

struct srp_rsp {
	uint8_t		opcode;
	uint8_t		sol_not;
	uint8_t		reserved1[2];
	uint32_t	req_lim_delta;
	uint64_t	tag;
	uint8_t		reserved2[2];
	uint8_t		flags;
	uint8_t		status;
	uint8_t		rest[20];
} __attribute__((packed));

_Static_assert(sizeof(struct login_req) == 56, "SRP_LOGIN_REQ over RDMA/CM");
_Static_assert(sizeof(struct ib_login_req) == 64, "SRP_LOGIN_REQ over IB/CM");
_Static_assert(sizeof(struct login_rsp) == 52, "SRP_LOGIN_RSP");
_Static_assert(sizeof(struct login_rej) == 32, "SRP_LOGIN_REJ");
_Static_assert(sizeof(struct inquiry) == 64, "SRP_CMD with one direct descriptor");

/* What the device reads and writes. */
struct memory {
	struct inquiry	cmd[MAX_CMDS];
	uint8_t		data[MAX_CMDS][64];
	uint8_t		rsp[MAX_CMDS][4096];
};

enum answer { ANSWER_NONE, ANSWER_ACCEPTED, ANSWER_REFUSED, ANSWER_NO_LISTENER, ANSWER_LOST };

struct conn {
	char				name[32];
	struct rdma_event_channel	*events;
	struct rdma_cm_id		*id;
	struct ibv_pd			*pd;
	struct ibv_cq			*cq;
	struct ibv_qp			*qp;
	struct ibv_mr			*mr;
	struct memory			*mem;
	bool				confirmed;
	bool				gone;
	enum answer			answer;
	int				cm_reason;
	uint32_t			reason;
	struct login_rsp		rsp;
};

static const char *address = "10.0.0.1", *port = "5555";
static uint64_t service_guid;
static uint8_t initiator_id[16];
static struct sockaddr_ib source = { .sib_family = AF_IB };
static struct sockaddr_ib destination = { .sib_family = AF_IB };
static bool over_ib_cm;

static void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs("srp_logins: ", stdout);
	vfprintf(stdout, fmt, args);
	fputc('\n', stdout);
	va_end(args);
	exit(2);
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static bool parse_hex(uint8_t *to, size_t size, const char *text)
{
	unsigned int byte;
	size_t i;

	if (!strncmp(text, "0x", 2))
		text += 2;
	if (strlen(text) != 2 * size)
		return false;
	for (i = 0; i < size; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		to[i] = byte;
	}
	return true;
}

static struct login_req default_request(void)
{
	struct login_req req = {
		.tag = 0x1122334455667788,
		.buf_fmt = htobe16(6),
		.opcode = SRP_LOGIN_REQ,
		.iu_len = htobe32(8260),
	};
	uint64_t guid = htobe64(service_guid);

	memcpy(req.i_port_id, initiator_id, 16);
	memcpy(req.t_port_id, &guid, 8);
	memcpy(req.t_port_id + 8, &guid, 8);
	return req;
}

/*
 * Connections
 */

/* The next event of a connection, or -1 after @ms milliseconds. Notes answers and the end. */
static int next_event(struct conn *c, int ms)
{
	struct pollfd pfd = { .fd = c->events->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int type;

	if (poll(&pfd, 1, ms) <= 0 || rdma_get_cm_event(c->events, &event))
		return -1;
	type = event->event;
	if (type == RDMA_CM_EVENT_CONNECT_RESPONSE) {
		memcpy(&c->rsp, event->param.conn.private_data,
		       event->param.conn.private_data_len < sizeof(c->rsp) ?
		       event->param.conn.private_data_len : sizeof(c->rsp));
		c->answer = ANSWER_ACCEPTED;
	} else if (type == RDMA_CM_EVENT_REJECTED && c->answer == ANSWER_ACCEPTED) {
		c->gone = true;
	} else if (type == RDMA_CM_EVENT_REJECTED) {
		const struct login_rej *rej = event->param.conn.private_data;

		c->cm_reason = event->status;
		c->answer = ANSWER_NO_LISTENER;
		if (event->status == CM_REJ_CONSUMER) {
			c->answer = ANSWER_REFUSED;
			if (event->param.conn.private_data_len >= sizeof(*rej) &&
			    rej->opcode == SRP_LOGIN_REJ)
				c->reason = be32toh(rej->reason);
		}
	} else if (type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_DEVICE_REMOVAL ||
		   type == RDMA_CM_EVENT_TIMEWAIT_EXIT) {
		c->gone = true;
	} else if (type == RDMA_CM_EVENT_UNREACHABLE || type == RDMA_CM_EVENT_CONNECT_ERROR) {
		c->answer = ANSWER_LOST;
		c->cm_reason = event->status;
	}
	rdma_ack_cm_event(event);
	return type;
}

static void close_conn(struct conn *c)
{
	if (c->id && c->answer == ANSWER_ACCEPTED)
		rdma_disconnect(c->id);
	if (c->qp)
		ibv_destroy_qp(c->qp);
	if (c->cq)
		ibv_destroy_cq(c->cq);
	if (c->mr)
		ibv_dereg_mr(c->mr);
	if (c->pd)
		ibv_dealloc_pd(c->pd);
	if (c->id)
		rdma_destroy_id(c->id);
	if (c->events)
		rdma_destroy_event_channel(c->events);
	free(c->mem);
	memset(c, 0, sizeof(*c));
}

static bool resolve_to(struct conn *c, struct sockaddr *from, struct sockaddr *to)
{
	return !rdma_resolve_addr(c->id, from, to, 5000) &&
	       next_event(c, ANSWER_MS) == RDMA_CM_EVENT_ADDR_RESOLVED &&
	       !rdma_resolve_route(c->id, 5000) &&
	       next_event(c, ANSWER_MS) == RDMA_CM_EVENT_ROUTE_RESOLVED;
}

static bool resolve_ip(struct conn *c)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV }, *ai;
	bool ok;

	if (getaddrinfo(address, port, &hints, &ai))
		die("bad address %s or port %s", address, port);
	ok = resolve_to(c, NULL, ai->ai_addr);
	freeaddrinfo(ai);
	return ok;
}

static bool resolve_ib(struct conn *c)
{
	struct sockaddr_ib from = source, to = destination;

	from.sib_pkey = htobe16(DEFAULT_PKEY);
	to.sib_pkey = htobe16(DEFAULT_PKEY);
	to.sib_sid = htobe64(service_guid);
	to.sib_sid_mask = htobe64(~0ULL);
	return resolve_to(c, (struct sockaddr *)&from, (struct sockaddr *)&to);
}

static bool resolve(struct conn *c)
{
	memset(c, 0, sizeof(*c));
	c->events = rdma_create_event_channel();
	if (!c->events)
		die("no RDMA event channel: %s", strerror(errno));
	if (rdma_create_id(c->events, &c->id, c, over_ib_cm ? RDMA_PS_IB : RDMA_PS_TCP))
		return false;
	return over_ib_cm ? resolve_ib(c) : resolve_ip(c);
}

static bool modify_qp(struct conn *c, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(c->id, &attr, &mask))
		return false;
	if (state == IBV_QPS_INIT)
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	return !ibv_modify_qp(c->qp, &attr, mask);
}

static void post_recv(struct conn *c, int n)
{
	struct ibv_sge sge = { (uintptr_t)c->mem->rsp[n], sizeof(c->mem->rsp[n]), c->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = n, .sg_list = &sge, .num_sge = 1 }, *bad;

	ibv_post_recv(c->qp, &wr, &bad);
}

static bool make_qp(struct conn *c)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 0,
		.cap = { .max_send_wr = 2 * MAX_CMDS, .max_recv_wr = 2 * MAX_CMDS,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	int i;

	c->mem = calloc(1, sizeof(*c->mem));
	c->pd = ibv_alloc_pd(c->id->verbs);
	if (!c->pd || !c->mem)
		return false;
	c->mr = ibv_reg_mr(c->pd, c->mem, sizeof(*c->mem),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	c->cq = ibv_create_cq(c->id->verbs, 4 * MAX_CMDS, NULL, NULL, 0);
	if (!c->mr || !c->cq)
		return false;
	init.send_cq = c->cq;
	init.recv_cq = c->cq;
	c->qp = ibv_create_qp(c->pd, &init);
	if (!c->qp || !modify_qp(c, IBV_QPS_INIT))
		return false;
	for (i = 0; i < MAX_CMDS; i++)
		post_recv(c, i);
	return true;
}

static struct ib_login_req to_ib_layout(const struct login_req *req)
{
	struct ib_login_req ib = {
		.opcode = req->opcode,
		.tag = req->tag,
		.iu_len = req->iu_len,
		.buf_fmt = req->buf_fmt,
		.flags = req->flags,
		.imm_offset = req->imm_offset,
	};

	memcpy(ib.i_port_id, req->i_port_id, sizeof(ib.i_port_id));
	memcpy(ib.t_port_id, req->t_port_id, sizeof(ib.t_port_id));
	return ib;
}

/*
 * Sends the request; @len bytes of it. Without a queue pair of its own it makes up a number, which
 * must be a new one each time: the connection manager refuses one that it has seen as stale.
 */
static bool send_request(struct conn *c, const struct login_req *req, int len)
{
	static uint32_t made_up = 0x100000;
	struct ib_login_req ib_req = to_ib_layout(req);
	struct rdma_conn_param param = {
		.private_data = req,
		.private_data_len = len,
		.responder_resources = 4,
		.initiator_depth = 4,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = c->qp ? c->qp->qp_num :
			  __atomic_fetch_add(&made_up, 1, __ATOMIC_RELAXED) & 0xffffff,
	};

	if (over_ib_cm) {
		param.private_data = &ib_req;
		param.private_data_len = len == (int)sizeof(*req) ? (int)sizeof(ib_req) : len;
	}
	return !rdma_connect(c->id, &param);
}

static enum answer wait_answer(struct conn *c, int ms)
{
	long end = now_ms() + ms;

	while (c->answer == ANSWER_NONE && now_ms() < end)
		next_event(c, end - now_ms());
	return c->answer;
}

static bool confirm(struct conn *c)
{
	c->confirmed = !rdma_establish(c->id);
	return c->confirmed;
}

/* A whole login with a queue pair; the answer is in @c. */
static enum answer log_in(struct conn *c, const struct login_req *req, bool confirmed)
{
	if (!resolve(c) || !make_qp(c) || !send_request(c, req, sizeof(*req)))
		return ANSWER_LOST;
	if (wait_answer(c, ANSWER_MS) != ANSWER_ACCEPTED)
		return c->answer;
	/* This fails when the target has closed the connection already. */
	if (!modify_qp(c, IBV_QPS_RTR) || !modify_qp(c, IBV_QPS_RTS))
		c->gone = true;
	else if (confirmed)
		confirm(c);
	return c->answer;
}

static const char *answer_text(const struct conn *c)
{
	static const char *const flags[] = { "no channel", "terminated", "maintained", "flag 3" };
	static __thread char text[128];

	switch (c->answer) {
	case ANSWER_ACCEPTED:
		snprintf(text, sizeof(text), "accepted, %s%s", flags[c->rsp.flags & 3],
			 c->rsp.flags & 0x80 ? ", immediate data" : "");
		break;
	case ANSWER_REFUSED:
		snprintf(text, sizeof(text), "refused %#x", c->reason);
		break;
	case ANSWER_NO_LISTENER:
		snprintf(text, sizeof(text), "rejected by the connection manager, reason %d",
			 c->cm_reason);
		break;
	case ANSWER_LOST:
		snprintf(text, sizeof(text), "failed, status %d", c->cm_reason);
		break;
	default:
		snprintf(text, sizeof(text), "no answer");
	}
	return text;
}

/*
 * Commands
 */

static bool send_inquiry(struct conn *c, int n)
{
	struct inquiry *cmd = &c->mem->cmd[n];
	struct ibv_sge sge = { (uintptr_t)cmd, sizeof(*cmd), c->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 100 + n, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	*cmd = (struct inquiry) {
		.opcode = SRP_CMD, .buf_fmt = 1, .in_count = 0, .tag = 1000 + n,
		.cdb = { 0x12, 0, 0, 0, INQUIRY_LEN },
		.va = htobe64((uintptr_t)c->mem->data[n]), .key = htobe32(c->mr->rkey),
		.len = htobe32(INQUIRY_LEN),
	};
	memset(c->mem->data[n], 0, sizeof(c->mem->data[n]));
	return !ibv_post_send(c->qp, &wr, &bad);
}

/* The tag's index of a good answer, or -1. */
static int check_response(struct conn *c, const struct ibv_wc *wc)
{
	const struct srp_rsp *rsp = (void *)c->mem->rsp[wc->wr_id];
	int n = rsp->tag - 1000;

	if (rsp->opcode != SRP_RSP || n < 0 || n >= MAX_CMDS || rsp->status)
		return -1;
	if (memcmp(c->mem->data[n] + 8, "LIO-ORG ", 8))
		return -1;
	post_recv(c, wc->wr_id);
	return n;
}

/* Waits for the answers of @count INQUIRYs; what it saw is in words. */
static const char *wait_responses(struct conn *c, int count)
{
	long end = now_ms() + ANSWER_MS;
	unsigned int seen = 0, sends = 0;
	struct ibv_wc wc;
	int n;

	while (seen != (1U << count) - 1 || sends != (unsigned int)count) {
		if (now_ms() >= end)
			return "no response";
		n = ibv_poll_cq(c->cq, 1, &wc);
		if (!n) {
			next_event(c, 1);
			if (c->gone)
				return "disconnected";
			continue;
		}
		if (n < 0 || wc.status != IBV_WC_SUCCESS)
			return c->gone ? "disconnected" : ibv_wc_status_str(wc.status);
		if (wc.wr_id >= 100) {
			sends++;
			continue;
		}
		n = check_response(c, &wc);
		if (n < 0 || seen & (1U << n))
			return "wrong response";
		seen |= 1U << n;
	}
	return NULL;
}

static const char *inquire(struct conn *c, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (!send_inquiry(c, i))
			return "cannot send";
	return wait_responses(c, count);
}

/*
 * script
 */

static struct conn conns[MAX_CONNS];
static int nr_conns;

static struct conn *find_conn(const char *name)
{
	int i;

	for (i = 0; i < nr_conns; i++)
		if (!strcmp(conns[i].name, name))
			return &conns[i];
	die("no login of the name %s", name);
	return NULL;
}

static void request_option(struct login_req *req, int *len, const char *word)
{
	const char *value = strchr(word, '=');
	unsigned long n = value ? strtoul(value + 1, NULL, 0) : 0;

	if (!strcmp(word, "multi"))
		req->flags |= 1;
	else if (!strncmp(word, "id=", 3) && parse_hex(req->i_port_id, 16, value + 1))
		return;
	else if (!strncmp(word, "target=", 7) && parse_hex(req->t_port_id, 16, value + 1))
		return;
	else if (!strncmp(word, "iu=", 3))
		req->iu_len = htobe32(n);
	else if (!strncmp(word, "fmt=", 4))
		req->buf_fmt = htobe16(n);
	else if (!strncmp(word, "flags=", 6))
		req->flags = n;
	else if (!strncmp(word, "opcode=", 7))
		req->opcode = n;
	else if (!strncmp(word, "imm=", 4))
		req->imm_offset = htobe16(n);
	else if (!strncmp(word, "len=", 4))
		*len = n;
	else
		die("what is %s?", word);
}

static void script_login(const char *name, char *words)
{
	struct login_req req = default_request();
	struct conn *c = &conns[nr_conns++];
	bool confirmed = true;
	int len = sizeof(req);
	char *word, *save;

	if (nr_conns == MAX_CONNS)
		die("too many logins");
	for (word = strtok_r(words, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		if (!strcmp(word, "unconfirmed"))
			confirmed = false;
		else
			request_option(&req, &len, word);
	}
	if (len != sizeof(req)) {
		if (resolve(c) && send_request(c, &req, len))
			wait_answer(c, ANSWER_MS);
	} else {
		log_in(c, &req, confirmed);
	}
	snprintf(c->name, sizeof(c->name), "%s", name);
	printf("%s: %s\n", name, answer_text(c));
}

static void script_gone(struct conn *c)
{
	long end = now_ms() + ANSWER_MS;

	while (!c->gone && now_ms() < end)
		next_event(c, end - now_ms());
	printf("%s: %s\n", c->name, c->gone ? "gone" : "still connected");
}

static void script_break(struct conn *c)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	printf("%s: %s\n", c->name, ibv_modify_qp(c->qp, &attr, IBV_QP_STATE) ? "not broken" : "broken");
}

static void script_line(char *line)
{
	char verb[16] = "", name[32] = "";
	struct conn *c;
	const char *why;
	int at = 0;

	sscanf(line, "%15s %31s%n", verb, name, &at);
	if (!*verb || *verb == '#')
		return;
	if (!strcmp(verb, "login")) {
		script_login(name, line + at);
		return;
	}
	c = find_conn(name);
	if (!strcmp(verb, "alive") || !strcmp(verb, "early")) {
		why = inquire(c, *verb == 'e' ? MAX_CMDS : 1);
		printf("%s: %s\n", name, why ?: *verb == 'e' ? "answered" : "alive");
	} else if (!strcmp(verb, "gone")) {
		script_gone(c);
	} else if (!strcmp(verb, "confirm")) {
		printf("%s: %s\n", name, confirm(c) ? "confirmed" : "not confirmed");
	} else if (!strcmp(verb, "break")) {
		script_break(c);
	} else if (!strcmp(verb, "close")) {
		close_conn(c);
		printf("%s: closed\n", name);
	} else {
		die("what is %s?", verb);
	}
}

static int run_script(void)
{
	char line[256];
	int i;

	while (fgets(line, sizeof(line), stdin)) {
		script_line(line);
		fflush(stdout);
	}
	for (i = 0; i < nr_conns; i++)
		close_conn(&conns[i]);
	return 0;
}

/*
 * storm
 */

static struct { int rounds; int seed; } storm_thread[64];

/* One login of the storm: how long it waits for the answer, and what it does then, vary. */
static void storm_round(unsigned int n)
{
	static const int patience[] = { 0, 0, 3, 0, 20, 0, 1, 60000 };
	struct login_req req = default_request();
	struct conn c;

	if (resolve(&c) && (n % 3 || make_qp(&c)) && send_request(&c, &req, sizeof(req))) {
		wait_answer(&c, patience[n % 8]);
		if (c.answer == ANSWER_ACCEPTED && c.qp && n % 2 &&
		    modify_qp(&c, IBV_QPS_RTR) && modify_qp(&c, IBV_QPS_RTS))
			confirm(&c);
	}
	close_conn(&c);
}

static void *storm_main(void *arg)
{
	int t = (intptr_t)arg, i;

	for (i = 0; i < storm_thread[t].rounds; i++)
		storm_round(t + i);
	return NULL;
}

static int run_storm(int threads, int rounds)
{
	pthread_t thread[64];
	int i;

	if (threads < 1 || threads > 64)
		die("1 to 64 threads");
	for (i = 0; i < threads; i++) {
		storm_thread[i].rounds = rounds;
		if (pthread_create(&thread[i], NULL, storm_main, (void *)(intptr_t)i))
			die("no thread");
	}
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("%d logins\n", threads * rounds);
	return 0;
}

/*
 * half-open, channels
 */

static void wait_for_end_of_input(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin))
		;
}

/* Opens @count channels of one nexus; how many were accepted. Others must be refused cleanly. */
static int open_many(int count, bool confirmed)
{
	struct login_req req = default_request();
	int accepted = 0, i;

	if (count > MAX_CONNS)
		die("at most %d", MAX_CONNS);
	req.flags = 1;
	for (i = 0; i < count; i++) {
		struct conn *c = &conns[i];

		log_in(c, &req, confirmed);
		if (c->answer == ANSWER_ACCEPTED)
			accepted++;
		else if (c->answer != ANSWER_REFUSED || !c->reason)
			die("login %d: %s", i, answer_text(c));
		nr_conns = i + 1;
	}
	return accepted;
}

static int run_half_open(int count)
{
	printf("%d of %d half open\n", open_many(count, false), count);
	fflush(stdout);
	wait_for_end_of_input();
	return 0;
}

static bool all_gone(void)
{
	int left = 0, i;

	for (i = 0; i < nr_conns; i++) {
		if (conns[i].answer == ANSWER_ACCEPTED && !conns[i].gone)
			next_event(&conns[i], 0);
		left += conns[i].answer == ANSWER_ACCEPTED && !conns[i].gone;
	}
	return !left;
}

static int run_channels(int count)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	const char *why;
	int i;

	printf("%d of %d open\n", open_many(count, true), count);
	for (i = 0; i < nr_conns; i++) {
		why = conns[i].answer == ANSWER_ACCEPTED ? inquire(&conns[i], 1) : NULL;
		if (why)
			die("channel %d: %s", i, why);
	}
	printf("all answer\n");
	fflush(stdout);
	while (!all_gone())
		if (poll(&in, 1, 20) > 0)
			break;
	printf("%s\n", all_gone() ? "all gone" : "closing");
	for (i = 0; i < nr_conns; i++)
		close_conn(&conns[i]);
	return 0;
}

/*
 * refused
 */

static const struct bad {
	const char	*what;		/* as for "login" in a script; N and M: limit, limit + 1 */
	uint32_t	reason;		/* 0: accepted */
} bads[] = {
	{ "len=0",					0x10002 /* then it is all zeros */ },
	{ "len=12",					0x10002 },
	{ "len=40",					0x10003 },
	{ "len=55",					0 /* the last byte is reserved */ },
	{ "opcode=1",					0x10000 },
	{ "target=00000000000000000000000000000000",	0x10003 },
	{ "target=ffffffffffffffffffffffffffffffff",	0x10003 },
	{ "id=00000000000000000000000000000bad",	0x10000 },
	{ "fmt=8",					0x10004 },
	{ "fmt=65535",					0x10004 },
	{ "flags=2",					0x10005 },
	{ "flags=3",					0x10005 },
	{ "iu=0",					0x10002 },
	{ "iu=63",					0x10002 },
	{ "iu=M",					0x10002 },
	{ "iu=0xffffffff",				0x10002 },
	{ "iu=64",					0 },
	{ "iu=580",					0 },
	{ "iu=2116",					0 },
	{ "iu=N",					0 },
	{ "fmt=0",					0 },
	{ "flags=0x80 imm=68",				0 },
	{ "flags=0x80 imm=0",				0 },
	{ "flags=0x80 imm=67",				0 },
	{ "flags=0x80 imm=65535",			0 },
};

static void bad_request(struct login_req *req, int *len, const char *what, unsigned int limit)
{
	char words[128], number[32], *word, *save;

	snprintf(words, sizeof(words), "%s", what);
	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (!strcmp(word, "iu=N") || !strcmp(word, "iu=M")) {
			snprintf(number, sizeof(number), "iu=%u", limit + (word[3] == 'M'));
			word = number;
		}
		request_option(req, len, word);
	}
}

static void refused_once(const struct bad *bad, unsigned int limit)
{
	struct login_req req = default_request();
	int len = sizeof(req);
	struct conn c;

	bad_request(&req, &len, bad->what, limit);
	if (!resolve(&c) || !send_request(&c, &req, len))
		die("%s: cannot connect: %s", bad->what, strerror(errno));
	wait_answer(&c, ANSWER_MS);
	if (bad->reason ? c.answer != ANSWER_REFUSED || c.reason != bad->reason :
	    c.answer != ANSWER_ACCEPTED)
		die("%s: %s (expected: %#x)", bad->what, answer_text(&c), bad->reason);
	if (c.answer == ANSWER_ACCEPTED) {
		bool imm = req.flags & 0x80 && be16toh(req.imm_offset) == 68;

		if (be32toh(c.rsp.max_it_iu_len) != limit || !c.rsp.req_lim ||
		    c.rsp.tag != req.tag || !(c.rsp.flags & 0x80) != !imm)
			die("%s: wrong SRP_LOGIN_RSP", bad->what);
	}
	close_conn(&c);
}

static int run_refused(int count, unsigned int limit)
{
	size_t i;
	int n;

	for (n = 0; n < count; n++)
		for (i = 0; i < sizeof(bads) / sizeof(*bads); i++)
			refused_once(&bads[i], limit);
	printf("%zu logins answered as they should be\n", count * i);
	return 0;
}

/*
 * loop
 */

static const char *loop_file;
static int loop_count[ANSWER_LOST + 1];

static void *loop_main(void *arg)
{
	struct login_req req = default_request();
	struct conn c;

	req.flags = 1;
	(void)arg;
	while (!access(loop_file, F_OK)) {
		if (log_in(&c, &req, true) == ANSWER_ACCEPTED)
			inquire(&c, 1);
		if (c.answer == ANSWER_NONE)
			die("%s", answer_text(&c));
		/* The connection manager's own answer to who still waits at a listener that goes. */
		if (c.answer == ANSWER_REFUSED && !c.reason)
			c.answer = ANSWER_NO_LISTENER;
		__atomic_fetch_add(&loop_count[c.answer], 1, __ATOMIC_RELAXED);
		close_conn(&c);
	}
	return NULL;
}

static int run_loop(const char *file)
{
	pthread_t thread[2];
	int i;

	loop_file = file;
	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, loop_main, NULL);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("accepted %d refused %d nobody-listening %d lost %d\n", loop_count[ANSWER_ACCEPTED],
	       loop_count[ANSWER_REFUSED], loop_count[ANSWER_NO_LISTENER],
	       loop_count[ANSWER_LOST]);
	return 0;
}

static int run_mode(int argc, char **argv)
{
	const char *mode = argc ? argv[0] : "";

	if (!strcmp(mode, "script"))
		return run_script();
	if (!strcmp(mode, "storm") && argc == 3)
		return run_storm(atoi(argv[1]), atoi(argv[2]));
	if (!strcmp(mode, "half-open") && argc == 2)
		return run_half_open(atoi(argv[1]));
	if (!strcmp(mode, "channels") && argc == 2)
		return run_channels(atoi(argv[1]));
	if (!strcmp(mode, "refused") && argc == 3)
		return run_refused(atoi(argv[1]), strtoul(argv[2], NULL, 0));
	if (!strcmp(mode, "loop") && argc == 2)
		return run_loop(argv[1]);
	die("no such mode: %s", mode);
	return 2;
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "a:p:g:i:s:d:")) != -1) {
		if (opt == 's' || opt == 'd')
			over_ib_cm = inet_pton(AF_INET6, optarg, opt == 's' ? &source.sib_addr :
					       &destination.sib_addr) == 1;
		else if (opt == 'a')
			address = optarg;
		else if (opt == 'p')
			port = optarg;
		else if (opt == 'g')
			service_guid = strtoull(optarg, NULL, 16);
		else if (opt != 'i' || !parse_hex(initiator_id, 16, optarg))
			die("bad option");
	}
	return run_mode(argc - optind, argv + optind);
}
