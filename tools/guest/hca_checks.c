// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does an HCA behave as InfiniBand's transport has to? Two queue pairs of this process, one at
 * port 1 and one at port 2, talk to each other, rightly and wrongly, and what both sides get to
 * see is compared with what the architecture says.
 *
 * Copyright the ib_srpt authors
 *
 *   hca_checks DEVICE [send|srq]
 *
 * All checks, or one. Prints a line for each; status 0 if all passed. HCA_CHECKS_BOUND_MS in the
 * environment bounds each wait.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES		8192
#define DEPTH		16
#define ALL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define NO_EVENT	-1

/* One end of a connection: the near one sends, the far one is tried. */
struct end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	unsigned char *buf;
	int port;
};

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct end near = { .port = 1 }, far = { .port = 2 };
static struct ibv_srq *srq;
static int failures, bound_ms = 120000;
static const char *check;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

static void differ(const char *what, int is, int expected)
{
	if (is == expected)
		return;
	printf("FAILED %s: %s is %d instead of %d\n", check, what, is, expected);
	failures++;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void pause_ms(int ms)
{
	poll(NULL, 0, ms);
}

/* --- Connections ------------------------------------------------------------------------------ */

static void open_end(struct end *e)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { DEPTH, DEPTH, 2, 2, 0 },
	};

	e->cq = ibv_create_cq(ctx, 4 * DEPTH, NULL, NULL, 0);
	if (!e->cq)
		die("ibv_create_cq");
	attr.send_cq = e->cq;
	attr.recv_cq = e->cq;
	attr.srq = e == &far ? srq : NULL;
	e->qp = ibv_create_qp(pd, &attr);
	e->buf = calloc(1, BYTES);
	if (!e->qp || !e->buf)
		die("ibv_create_qp");
	e->mr = ibv_reg_mr(pd, e->buf, BYTES, ALL_ACCESS);
	if (!e->mr)
		die("ibv_reg_mr");
}

static void to_init(struct end *e, int access)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT,
		.port_num = e->port,
		.qp_access_flags = access,
	};

	if (ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_ACCESS_FLAGS))
		die("to INIT");
}

static void to_rtr(struct end *e, struct end *peer)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_2048,
		.dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.ah_attr.port_num = e->port,
	};
	struct ibv_port_attr port;

	if (ibv_query_port(ctx, peer->port, &port))
		die("ibv_query_port");
	a.ah_attr.dlid = port.lid;
	if (ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER))
		die("to RTR");
}

static void to_rts(struct end *e, int rnr_retry)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 10,
		.retry_cnt = 2,
		.rnr_retry = rnr_retry,
		.max_rd_atomic = 4,
	};

	if (ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("to RTS");
}

static void connect_ends(const char *name, int far_access, int rnr_retry)
{
	check = name;
	open_end(&near);
	open_end(&far);
	to_init(&near, ALL_ACCESS);
	to_init(&far, far_access);
	to_rtr(&near, &far);
	to_rtr(&far, &near);
	to_rts(&near, rnr_retry);
}

static void close_end(struct end *e)
{
	if (ibv_destroy_qp(e->qp) || ibv_dereg_mr(e->mr) || ibv_destroy_cq(e->cq))
		die("closing");
	free(e->buf);
}

static void close_ends(int failures_before)
{
	close_end(&near);
	close_end(&far);
	if (failures == failures_before)
		printf("ok %s\n", check);
}

/* --- Work ------------------------------------------------------------------------------------- */

static void post_recv(struct end *e, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)e->buf, length, e->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 7, .sg_list = &sge, .num_sge = 1 }, *bad;
	int ret;

	if (e->qp->srq)
		ret = ibv_post_srq_recv(e->qp->srq, &wr, &bad);
	else
		ret = ibv_post_recv(e->qp, &wr, &bad);
	if (ret)
		die("ibv_post_recv");
}

/* Of the near end. Remote memory is the far end's, from @offset on. */
static void post(enum ibv_wr_opcode opcode, uint32_t length, uint32_t rkey, long offset)
{
	struct ibv_sge sge = { (uintptr_t)near.buf, length, near.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 8,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.imm_data = htonl(0x1234),
	}, *bad;

	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)far.buf + offset;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 5;
		wr.wr.atomic.swap = 99;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)far.buf + offset;
		wr.wr.rdma.rkey = rkey;
	}
	if (opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = rkey;
	if (ibv_post_send(near.qp, &wr, &bad))
		die("ibv_post_send");
}

/* The next completion must have this status. */
static struct ibv_wc expect(struct end *e, enum ibv_wc_status status)
{
	long end = now_ms() + bound_ms;
	struct ibv_wc wc = {};
	int n;

	while ((n = ibv_poll_cq(e->cq, 1, &wc)) == 0 && now_ms() < end)
		pause_ms(1);
	if (n <= 0) {
		printf("FAILED %s: no completion at port %d\n", check, e->port);
		failures++;
		return wc;
	}
	if (wc.status != status)
		printf("FAILED %s: port %d: '%s' instead of '%s'\n", check, e->port,
		       ibv_wc_status_str(wc.status), ibv_wc_status_str(status));
	failures += wc.status != status;
	return wc;
}

static void expect_state(struct end *e, enum ibv_qp_state state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	if (ibv_query_qp(e->qp, &a, IBV_QP_STATE, &init))
		die("ibv_query_qp");
	differ(e == &near ? "state of the near queue pair" : "state of the far queue pair",
	       a.qp_state, state);
}

/* The next event must be this one; with NO_EVENT there must be none. */
static void expect_event(int type)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	int is = NO_EVENT;

	if (poll(&fd, 1, type == NO_EVENT ? 100 : bound_ms) > 0 &&
	    !ibv_get_async_event(ctx, &event)) {
		is = event.event_type;
		ibv_ack_async_event(&event);
	}
	differ("event", is, type);
}

/* What a message that the far end refuses does to both. */
static void expect_refusal(enum ibv_wc_status status, int event)
{
	expect(&near, status);
	expect_event(event);
	expect_state(&near, IBV_QPS_ERR);
	expect_state(&far, IBV_QPS_ERR);
}

/* --- Checks ----------------------------------------------------------------------------------- */

static void check_send(void)
{
	struct ibv_wc wc;
	int before = failures;

	connect_ends("send and receive", 0, 0);
	to_rts(&far, 0);
	memset(near.buf, 0x5a, 3000);
	post_recv(&far, BYTES);
	post(IBV_WR_SEND_WITH_IMM, 3000, 0, 0);
	expect(&near, IBV_WC_SUCCESS);
	wc = expect(&far, IBV_WC_SUCCESS);
	differ("length", wc.byte_len, 3000);
	differ("immediate data", ntohl(wc.imm_data), 0x1234);
	differ("data", memcmp(near.buf, far.buf, BYTES), 0);
	close_ends(before);
}

static void check_not_ready(void)
{
	int before = failures;

	connect_ends("no receive, one retry", 0, 1);
	to_rts(&far, 0);
	post(IBV_WR_SEND, 100, 0, 0);
	expect(&near, IBV_WC_RNR_RETRY_EXC_ERR);
	expect_state(&near, IBV_QPS_ERR);
	expect_state(&far, IBV_QPS_RTS);
	close_ends(before);
}

static void check_ready_later(void)
{
	struct ibv_wc wc;
	int before = failures;

	connect_ends("no receive at first, retried for ever", 0, 7);
	to_rts(&far, 0);
	post(IBV_WR_SEND, 100, 0, 0);
	pause_ms(300);
	differ("completions", ibv_poll_cq(near.cq, 1, &wc), 0);
	post_recv(&far, BYTES);
	expect(&near, IBV_WC_SUCCESS);
	expect(&far, IBV_WC_SUCCESS);
	close_ends(before);
}

static void check_too_long(void)
{
	int before = failures;

	connect_ends("message longer than the receive", 0, 0);
	to_rts(&far, 0);
	post_recv(&far, 50);
	post(IBV_WR_SEND, 100, 0, 0);
	expect_refusal(IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	expect(&far, IBV_WC_LOC_LEN_ERR);
	differ("first byte behind", far.buf[50], 0);
	close_ends(before);
}

static void check_rdma(void)
{
	int before = failures;

	connect_ends("RDMA write and read", ALL_ACCESS, 0);
	to_rts(&far, 0);
	memset(near.buf, 0x77, BYTES);
	post(IBV_WR_RDMA_WRITE, 5000, far.mr->rkey, 100);
	expect(&near, IBV_WC_SUCCESS);
	differ("byte before", far.buf[99], 0);
	differ("data", memcmp(near.buf, far.buf + 100, 5000), 0);
	differ("byte behind", far.buf[5100], 0);
	memset(far.buf, 0x33, BYTES);
	post(IBV_WR_RDMA_READ, 4097, far.mr->rkey, 1);
	expect(&near, IBV_WC_SUCCESS);
	differ("data", memcmp(near.buf, far.buf, 4097), 0);
	differ("byte behind", near.buf[4097], 0x77);
	close_ends(before);
}

static void check_write_imm(void)
{
	struct ibv_wc wc;
	int before = failures;

	connect_ends("RDMA write with immediate data", ALL_ACCESS, 7);
	to_rts(&far, 0);
	post(IBV_WR_RDMA_WRITE_WITH_IMM, 64, far.mr->rkey, 0);
	pause_ms(50);
	post_recv(&far, 16);
	expect(&near, IBV_WC_SUCCESS);
	wc = expect(&far, IBV_WC_SUCCESS);
	differ("opcode", wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	differ("length", wc.byte_len, 64);
	close_ends(before);
}

static void check_atomic(void)
{
	uint64_t *at, *result;
	int before = failures;

	connect_ends("atomic operations", ALL_ACCESS, 0);
	to_rts(&far, 0);
	at = (uint64_t *)far.buf;
	result = (uint64_t *)near.buf;
	*at = 5;
	post(IBV_WR_ATOMIC_CMP_AND_SWP, 8, far.mr->rkey, 0);
	expect(&near, IBV_WC_SUCCESS);
	differ("value before", *result, 5);
	differ("value swapped in", *at, 99);
	post(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, far.mr->rkey, 0);
	expect(&near, IBV_WC_SUCCESS);
	differ("value before", *result, 99);
	differ("sum", *at, 104);
	post(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, far.mr->rkey, 4);
	expect_refusal(IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	close_ends(before);
}

/* A remote access that the far end must refuse, and that must leave its memory alone. */
struct intrusion {
	const char *name;
	enum ibv_wr_opcode opcode;
	int qp_access, mr_access;
	uint32_t wrong_bits;
	long offset;
	enum ibv_wc_status status;
	int event;
	bool no_key;
};

static const struct intrusion intrusions[] = {
	{ "write with a wrong key", IBV_WR_RDMA_WRITE, ALL_ACCESS, ALL_ACCESS, 0x55, 0,
	  IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, false },
	{ "write with a key of nothing", IBV_WR_RDMA_WRITE, ALL_ACCESS, ALL_ACCESS, 0x7f000000, 0,
	  IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, false },
	{ "write with key 0", IBV_WR_RDMA_WRITE, ALL_ACCESS, ALL_ACCESS, 0, 0,
	  IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, true },
	{ "read with key 0", IBV_WR_RDMA_READ, ALL_ACCESS, ALL_ACCESS, 0, 0,
	  IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, true },
	{ "write beyond the end", IBV_WR_RDMA_WRITE, ALL_ACCESS, ALL_ACCESS, 0, BYTES - 63,
	  IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, false },
	{ "write before the beginning", IBV_WR_RDMA_WRITE, ALL_ACCESS, ALL_ACCESS, 0, -1,
	  IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, false },
	{ "read far away", IBV_WR_RDMA_READ, ALL_ACCESS, ALL_ACCESS, 0, 1L << 40,
	  IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, false },
	{ "write to read-only memory", IBV_WR_RDMA_WRITE, ALL_ACCESS, IBV_ACCESS_REMOTE_READ, 0, 0,
	  IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, false },
	{ "read of write-only memory", IBV_WR_RDMA_READ, ALL_ACCESS,
	  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, 0, 0,
	  IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, false },
	{ "atomic on memory without that right", IBV_WR_ATOMIC_FETCH_AND_ADD, ALL_ACCESS,
	  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, 0, 0,
	  IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, false },
	{ "write to a queue pair without that right", IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_READ,
	  ALL_ACCESS, 0, 0, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR, false },
	{ "read of a queue pair without that right", IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_WRITE,
	  ALL_ACCESS, 0, 0, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR, false },
};

static void check_intrusion(const struct intrusion *i)
{
	bool atomic = i->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	unsigned char before_all[BYTES];
	int before = failures;

	connect_ends(i->name, i->qp_access, 0);
	to_rts(&far, 0);
	ibv_dereg_mr(far.mr);
	far.mr = ibv_reg_mr(pd, far.buf, BYTES, i->mr_access);
	if (!far.mr)
		die("ibv_reg_mr");
	memset(near.buf, 0x11, BYTES);
	memset(far.buf, 0x22, BYTES);
	memcpy(before_all, i->opcode == IBV_WR_RDMA_READ ? near.buf : far.buf, BYTES);
	post(i->opcode, atomic ? 8 : 64, i->no_key ? 0 : far.mr->rkey ^ i->wrong_bits, i->offset);
	expect_refusal(i->status, i->event);
	differ("memory", memcmp(before_all, i->opcode == IBV_WR_RDMA_READ ? near.buf : far.buf,
				BYTES), 0);
	close_ends(before);
}

static void check_stale_key(void)
{
	int before = failures;
	uint32_t stale;

	connect_ends("write with the key of memory that is given back", ALL_ACCESS, 0);
	to_rts(&far, 0);
	stale = far.mr->rkey;
	ibv_dereg_mr(far.mr);
	post(IBV_WR_RDMA_WRITE, 64, stale, 0);
	expect_refusal(IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	far.mr = ibv_reg_mr(pd, far.buf, BYTES, ALL_ACCESS);
	close_ends(before);
}

static void check_invalidate(void)
{
	int before = failures;
	struct ibv_wc wc;

	connect_ends("send that invalidates a key", ALL_ACCESS, 0);
	to_rts(&far, 0);
	post_recv(&far, BYTES);
	post(IBV_WR_SEND_WITH_INV, 100, far.mr->rkey, 0);
	expect(&near, IBV_WC_SUCCESS);
	wc = expect(&far, IBV_WC_SUCCESS);
	differ("invalidated key", wc.invalidated_rkey, far.mr->rkey);
	post(IBV_WR_RDMA_WRITE, 64, far.mr->rkey, 0);
	expect_refusal(IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	close_ends(before);
}

static void check_flush(void)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };
	int before = failures, i;

	connect_ends("error state flushes both queues", 0, 7);
	to_rts(&far, 0);
	for (i = 0; i < 3; i++) {
		post(IBV_WR_SEND, 100, 0, 0);
		post_recv(&near, 100);
	}
	pause_ms(50);
	ibv_modify_qp(near.qp, &a, IBV_QP_STATE);
	for (i = 0; i < 6; i++)
		expect(&near, IBV_WC_WR_FLUSH_ERR);
	/* (a receive posted now may stay where it is: libraries write it into the queue alone) */
	post(IBV_WR_SEND, 100, 0, 0);
	expect(&near, IBV_WC_WR_FLUSH_ERR);
	close_ends(before);
}

static void check_nobody(void)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_RESET };
	int before = failures;

	connect_ends("nobody answers", 0, 7);
	ibv_modify_qp(far.qp, &a, IBV_QP_STATE);
	post(IBV_WR_SEND, 100, 0, 0);
	expect(&near, IBV_WC_RETRY_EXC_ERR);
	expect_state(&near, IBV_QPS_ERR);
	close_ends(before);
}

static void check_established(void)
{
	int before = failures;

	connect_ends("first message before the far end may send", 0, 7);
	post_recv(&far, BYTES);
	post(IBV_WR_SEND, 100, 0, 0);
	expect(&near, IBV_WC_SUCCESS);
	expect(&far, IBV_WC_SUCCESS);
	expect_event(IBV_EVENT_COMM_EST);
	post_recv(&far, BYTES);
	post(IBV_WR_SEND, 100, 0, 0);
	expect(&far, IBV_WC_SUCCESS);
	expect_event(NO_EVENT);
	close_ends(before);
}

/* In order: limit, then messages below it, which do not raise it again; last WQE on error. */
static void check_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = DEPTH, .max_sge = 1 } };
	struct ibv_srq_attr arm = { .srq_limit = 3 };
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };
	int before = failures, i;

	srq = ibv_create_srq(pd, &init);
	if (!srq)
		die("ibv_create_srq");
	connect_ends("shared receive queue: limit and last WQE", 0, 7);
	to_rts(&far, 0);
	for (i = 0; i < 4; i++)
		post_recv(&far, BYTES);
	if (ibv_modify_srq(srq, &arm, IBV_SRQ_LIMIT))
		die("ibv_modify_srq");
	for (i = 0; i < 3; i++) {
		post(IBV_WR_SEND, 100, 0, 0);
		expect(&near, IBV_WC_SUCCESS);
		expect(&far, IBV_WC_SUCCESS);
	}
	expect_event(IBV_EVENT_SRQ_LIMIT_REACHED);
	expect_event(NO_EVENT);
	ibv_modify_qp(far.qp, &a, IBV_QP_STATE);
	expect_event(IBV_EVENT_QP_LAST_WQE_REACHED);
	close_ends(before);
	ibv_destroy_srq(srq);
	srq = NULL;
}

static void open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		die(name);
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		die("ibv_alloc_pd");
}

static void check_all(void)
{
	unsigned int i;

	check_send();
	check_not_ready();
	check_ready_later();
	check_too_long();
	check_rdma();
	check_write_imm();
	check_atomic();
	for (i = 0; i < sizeof(intrusions) / sizeof(intrusions[0]); i++)
		check_intrusion(&intrusions[i]);
	check_stale_key();
	check_invalidate();
	check_flush();
	check_nobody();
	check_established();
	check_srq();
}

int main(int argc, char **argv)
{
	const char *only = argc > 2 ? argv[2] : "";
	const char *bound = getenv("HCA_CHECKS_BOUND_MS");

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2) {
		fprintf(stderr, "usage: hca_checks DEVICE [send|srq]\n");
		return 2;
	}
	if (bound)
		bound_ms = atoi(bound);
	open_device(argv[1]);
	if (!strcmp(only, "send"))
		check_send();
	else if (!strcmp(only, "srq"))
		check_srq();
	else
		check_all();
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	printf("%d failures\n", failures);
	return failures != 0;
}
