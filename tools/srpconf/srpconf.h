/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * srpconf: does an SRP target keep to the standard? The structures and calls that its parts share.
 *
 * Copyright the ib_srpt authors
 *
 * From the bottom up: transport.c makes connections, iu.c turns structures into information units
 * and back, session.c logs in and keeps the model of the request limit, scsi.c sends commands and
 * looks at their answers. The cases-*.c files have the cases, each file a table of them; tap.c
 * prints and counts, main.c has the options and runs the cases one after the other.
 *
 * A case is a function that calls fail() or skip() when it has seen enough; both leave it for good,
 * and the runner closes the sessions and frees the memory that it had. No wait is without a bound.
 */
#ifndef SRPCONF_H
#define SRPCONF_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PRINTF(at)	__attribute__((format(printf, at, at + 1)))

/* Opcodes of information units (SRP clause 6.1). */
enum {
	SRP_LOGIN_REQ = 0x00, SRP_TSK_MGMT = 0x01, SRP_CMD = 0x02, SRP_I_LOGOUT = 0x03,
	SRP_CRED_RSP = 0x41, SRP_AER_RSP = 0x42,
	SRP_T_LOGOUT = 0x80, SRP_CRED_REQ = 0x81, SRP_AER_REQ = 0x82,
	SRP_LOGIN_RSP = 0xc0, SRP_RSP = 0xc1, SRP_LOGIN_REJ = 0xc2,
};

/* Reasons of an SRP_LOGIN_REJ (clause 6.4). */
enum {
	REJ_UNABLE		= 0x00010000,
	REJ_RESOURCES		= 0x00010001,
	REJ_IU_LENGTH		= 0x00010002,
	REJ_ASSOCIATE		= 0x00010003,
	REJ_FORMAT		= 0x00010004,
	REJ_MULTICHANNEL	= 0x00010005,
	REJ_CHANNEL_LIMIT	= 0x00010006,
};

/* Task management functions (clause 6.7) and response codes (clause 6.9). */
enum {
	TMF_ABORT_TASK = 0x01, TMF_ABORT_TASK_SET = 0x02, TMF_CLEAR_TASK_SET = 0x04,
	TMF_LUN_RESET = 0x08, TMF_CLEAR_ACA = 0x40,
};

enum { CODE_OK = 0, CODE_FIELDS = 2, CODE_UNSUPPORTED = 4, CODE_FAILED = 5 };

/* Formats of data buffer descriptors. */
enum { FMT_NONE, FMT_DIRECT, FMT_INDIRECT, FMT_IMM };
enum { LOGIN_FMT_DIRECT = 2, LOGIN_FMT_INDIRECT = 4 };

/* Byte 26 of a login and of its response. */
enum { LOGIN_MULTI = 1, LOGIN_LOSOLNT = 0x10, LOGIN_CRSOLNT = 0x20, LOGIN_AESOLNT = 0x40,
       LOGIN_IMM = 0x80 };
enum { RSP_NO_CHANNEL = 0, RSP_TERMINATED = 1, RSP_MAINTAINED = 2, RSP_IMM = 0x80 };

/* Byte 1 of requests, and of what answers them. */
enum { SOLNT = 1, SCSOLNT = 2, UCSOLNT = 4 };

/* Byte 18 of an SRP_RSP. */
enum { RSPVALID = 1, SNSVALID = 2, DOOVER = 4, DOUNDER = 8, DIOVER = 16, DIUNDER = 32 };

enum { CMD_LEN = 48, TSK_LEN = 48, RSP_LEN = 36, DESC_LEN = 16, TABLE_LEN = 20 };
#define IU_ROOM		(66 * 1024)
#define MAX_SENSE	252
#define RX_SIZE		1024
#define RX_COUNT	320	/* at least; more for a session that wants more */
#define TX_COUNT	32
#define CDB_ROOM	(16 + 252)

enum { GOOD = 0x00, CHECK_CONDITION = 0x02, BUSY = 0x08, RESERVATION_CONFLICT = 0x18,
       TASK_SET_FULL = 0x28, TASK_ABORTED = 0x40 };
enum { ILLEGAL_REQUEST = 5, UNIT_ATTENTION = 6 };

struct test;
struct session;

/* --- Options (main.c) ---------------------------------------------------------- */

/**
 * struct options - the command line
 * @address: the target's address; for IB its GID
 * @service: its port; for IB the service ID
 * @ib: IB/CM through AF_IB addresses
 * @pkey: partition key, for IB
 * @i_port_id: who we are
 * @other_id: another initiator that the target admits; used when @has_other
 * @t_port_id: the target port
 * @lun: a logical unit, eight bytes as in the IU
 * @scratch: a logical unit that may be overwritten, when @has_scratch
 * @hook: the operator's program, or NULL
 * @seed: of everything random
 * @seconds: how long fuzzing lasts
 * @count: commands of the long credit case
 * @half_open: logins of the half-open case
 * @timeout_ms: bound of a wait for something that a target does at once
 * @login_timeout_ms: bound of a wait for a target to give up on a login
 * @iu_len: IU length that a usual login asks for; found out if 0
 * @required: optional features that the target has to have, words with a comma behind each
 */
struct options {
	const char	*address;
	const char	*service;
	bool		ib;
	uint16_t	pkey;
	uint8_t		i_port_id[16];
	uint8_t		other_id[16];
	bool		has_other;
	uint8_t		t_port_id[16];
	uint8_t		lun[8];
	uint8_t		scratch[8];
	bool		has_scratch;
	const char	*hook;
	uint64_t	seed;
	unsigned int	seconds;
	unsigned int	count;
	unsigned int	half_open;
	int		timeout_ms;
	int		login_timeout_ms;
	uint32_t	iu_len;
	const char	*required;
};

/**
 * struct target - what the first logins found out about the target
 * @max_iu: largest IU that it takes, bytes
 * @imm: it takes immediate data
 * @multi: it takes several channels
 * @block: block size of the scratch unit, bytes; 0: none
 * @blocks: its size
 */
struct target {
	uint32_t	max_iu;
	bool		imm;
	bool		multi;
	uint32_t	block;
	uint64_t	blocks;
};

extern struct options opt;
extern struct target target;

/* --- Cases (tap.c, main.c) ------------------------------------------------------ */

enum result { PASSED, FAILED, SKIPPED };

/* What a case needs; it is skipped when that is not there. */
enum {
	NEED_SCRATCH	= 1 << 0,
	NEED_HOOK	= 1 << 1,
	NEED_IMM	= 1 << 2,
	NEED_MULTI	= 1 << 3,
	NEED_OTHER	= 1 << 4,
};

/**
 * struct test_case - a case
 * @name: group/what/which
 * @clause: of the standard
 * @expected: in words
 * @run: carries it out
 * @arg: its parameters, of a type that @run knows
 * @needs: NEED_*
 */
struct test_case {
	const char	*name;
	const char	*clause;
	const char	*expected;
	void		(*run)(struct test *t, const void *arg);
	const void	*arg;
	unsigned int	needs;
};

#define CASE(_name, _clause, _expected, _run, ...) \
	{ .name = _name, .clause = _clause, .expected = _expected, .run = _run, __VA_ARGS__ }
#define ARG(type, ...)	.arg = &(const type){ __VA_ARGS__ }
#define NEEDS(what)	.needs = (what)

struct group {
	const char		*name;
	const char		*about;
	const struct test_case	*cases;
	size_t			count;
};

#define GROUP(_group, _name, _about) \
	const struct group _group = { _name, _about, _group ## _cases, \
				      ARRAY_SIZE(_group ## _cases) }

extern const struct group login_group, command_group, data_group, task_group, credit_group,
			  notify_group, hostile_group, fuzz_group;

/**
 * struct test - a case while it runs
 * @out: where fail() and skip() go
 * @result: how it ended
 * @saw: what was seen, in words
 * @why: what was wrong, or why it was skipped
 * @sessions: all that it has
 * @rng: state of its random numbers
 * @undo: action of the hook that has to follow, however the case ends, or NULL
 * @ms: how long it took
 */
struct test {
	const struct test_case	*c;
	jmp_buf			out;
	enum result		result;
	char			saw[400];
	char			why[400];
	struct session		*sessions;
	uint64_t		rng;
	const char		*undo;
	int			ms;
};

void fail(struct test *t, const char *fmt, ...) __attribute__((noreturn)) PRINTF(2);
void skip(struct test *t, const char *fmt, ...) __attribute__((noreturn)) PRINTF(2);
void saw(struct test *t, const char *fmt, ...) PRINTF(2);
#define check(t, so, ...) do { if (!(so)) fail(t, __VA_ARGS__); } while (0)

void run_case(struct test *t, const struct test_case *c, uint64_t seed);
uint64_t rnd(struct test *t, uint64_t below);
void rnd_bytes(struct test *t, void *to, size_t len);
long now_ms(void);
void nap(int ms);

void tap_plan(unsigned int count);
void tap_case(const struct test *t);
int tap_end(const char *json);

int hook(struct test *t, const char *action, char *answer, size_t size);
void need_hook(struct test *t, const char *action);
void undoable_hook(struct test *t, const char *action, const char *undo);
void undo(struct test *t);
void hold(struct test *t);
void release(struct test *t);
void optional(struct test *t, const char *feature, const char *missing);

/* --- Connections (transport.c) --------------------------------------------------- */

enum answer { NO_ANSWER, ACCEPTED, REFUSED, NO_LISTENER, LOST };

struct region {
	struct region	*next;
	uint8_t		*at;
	size_t		len;
	struct ibv_mr	*mr;
};

/**
 * struct link - a connection
 * @on_recv: what is done with a message
 * @on_gone: where to note the end
 * @answer: how the connection request ended
 * @cm_status: the connection manager's status
 * @priv: private data of the answer, @priv_len bytes
 * @auto_confirm: confirm when accepted
 * @gone: it ended, @why
 * @send_status: status of the first send or RDMA request that failed
 * @dma_done: RDMA requests of ours that completed
 * @force_reads: send RDMA reads also when the target takes none
 * @hold_rx: no receive buffers are posted
 * @solicited_only: wait for solicited events only
 * @wakeups: events of the receive completion queue
 */
struct link {
	struct rdma_event_channel	*events;
	struct rdma_cm_id		*id;
	struct ibv_pd			*pd;
	struct ibv_comp_channel		*wake;
	struct ibv_cq			*scq;
	struct ibv_cq			*rcq;
	struct ibv_qp			*qp;
	uint8_t				*rx;
	struct ibv_mr			*rx_mr;
	unsigned int			rx_count;
	uint8_t				*tx;
	struct ibv_mr			*tx_mr;
	uint32_t			tx_size;
	uint32_t			tx_busy;
	struct region			*regions;
	enum answer			answer;
	int				cm_status;
	uint8_t				priv[256];
	uint32_t			priv_len;
	bool				confirmed;
	bool				gone;
	bool				dreq;
	const char			*why;
	enum ibv_wc_status		send_status;
	unsigned int			dma_done;
	bool				solicited_only;
	unsigned int			wakeups;
	bool				hold_rx;
	bool				force_reads;
};

bool link_open(struct link *l, unsigned int rx_count);
bool link_request(struct link *l, const void *priv, int len);
bool link_established(struct link *l);
bool link_confirm(struct link *l);
void link_pump(struct session *s, int ms);
int link_event(struct link *l, int ms);
bool link_send(struct session *s, const void *data, uint32_t len);
bool link_rdma(struct link *l, struct ibv_send_wr *wr);
void link_break(struct link *l);
void link_disconnect(struct link *l);
void link_close(struct link *l);
struct region *link_region(struct link *l, size_t len, int access);
void link_forget(struct link *l, struct region *r);

/* --- Information units (iu.c) ------------------------------------------------------ */

struct iu {
	uint32_t	len;
	uint8_t		b[IU_ROOM];
};

void put16(void *at, uint16_t v);
void put32(void *at, uint32_t v);
void put64(void *at, uint64_t v);
uint16_t get16(const void *at);
uint32_t get32(const void *at);
uint64_t get64(const void *at);

/**
 * struct login - an SRP_LOGIN_REQ
 * @junk: written to all reserved bytes
 * @cut: private data is so many bytes long instead
 * @priv_len: see @cut
 */
struct login {
	uint64_t	tag;
	uint32_t	iu_len;
	uint16_t	fmt;
	uint8_t		flags;
	uint8_t		opcode;
	uint16_t	imm;
	uint8_t		i_port_id[16];
	uint8_t		t_port_id[16];
	uint8_t		junk;
	bool		cut;
	int		priv_len;
};

struct desc {
	uint64_t	va;
	uint32_t	key;
	uint32_t	len;
};

/**
 * struct buf - data of one direction
 * @fmt: FMT_*
 * @desc: the descriptors; for %FMT_IMM not used
 * @count: how many the whole table has
 * @in_iu: how many of them go into the IU
 * @table: where the table is in our memory; its length is set from @count
 * @total: bytes, as stated to the target
 * @imm: immediate data
 * @imm_len: bytes of it that are really sent
 */
struct buf {
	uint8_t			fmt;
	const struct desc	*desc;
	uint32_t		count;
	uint32_t		in_iu;
	struct desc		table;
	uint32_t		total;
	const void		*imm;
	uint32_t		imm_len;
};

struct cmd {
	uint64_t	tag;
	uint8_t		lun[8];
	uint8_t		sol;
	uint8_t		attr;
	uint8_t		cdb[CDB_ROOM];
	uint8_t		cdb_len;
	struct buf	out;
	struct buf	in;
	struct desc	one;
};

/**
 * struct reply - an SRP_RSP taken apart
 * @order: how many messages of the session came before it
 * @has_code: response data was valid
 */
struct reply {
	uint8_t		status;
	uint8_t		flags;
	uint8_t		sol;
	bool		has_code;
	uint8_t		code;
	int32_t		delta;
	uint32_t	out_resid;
	uint32_t	in_resid;
	uint32_t	sense_len;
	uint8_t		sense[MAX_SENSE];
	uint8_t		key;
	uint8_t		asc;
	uint8_t		ascq;
	unsigned int	order;
};

uint32_t iu_login(uint8_t *to, const struct login *l);
void iu_cmd(struct iu *iu, const struct cmd *c, uint32_t imm_offset);
void iu_task(struct iu *iu, uint64_t tag, const uint8_t *lun, uint8_t function, uint64_t task);
void iu_short(struct iu *iu, uint8_t opcode, uint64_t tag);
const char *iu_read_rsp(struct reply *r, const uint8_t *b, uint32_t len);
void put_desc(uint8_t *to, const struct desc *d);

/* --- Sessions (session.c) ------------------------------------------------------------ */

struct pending {
	uint64_t	tag;
	bool		busy;
	bool		answered;
	struct reply	reply;
};

/**
 * struct session - a channel that is, or tries to be, logged in
 * @l: the connection
 * @limit: requests that we may send now, as the target told
 * @initial: what the login gave
 * @max_ti: largest IU from the target
 * @imm: offset of immediate data; 0: not agreed on
 * @rsp_flags: of the login response
 * @reason: of a refusal
 * @rej_tag: tag of a refusal
 * @fault: what is wrong with what the target sent, or NULL
 * @wild: messages may be answered under tags that we do not know, or never
 * @overrun: do not wait for the limit
 * @arrivals: messages so far
 * @deltas: request limit deltas so far
 * @cred_reqs: SRP_CRED_REQ so far
 * @aers: SRP_AER_REQ so far
 * @mute: answer neither of the two
 * @logout: an SRP_T_LOGOUT came, with @logout_reason
 */
struct session {
	struct session	*next;
	struct test	*t;
	struct link	l;
	int64_t		limit;
	int64_t		initial;
	uint32_t	max_it;
	uint32_t	max_ti;
	uint16_t	fmt;
	uint16_t	imm;
	uint8_t		rsp_flags;
	uint32_t	reason;
	uint64_t	rej_tag;
	uint64_t	login_tag;
	uint64_t	next_tag;
	char		fault[200];
	bool		wild;
	bool		overrun;
	bool		mute;
	unsigned int	arrivals;
	uint64_t	deltas;
	unsigned int	cred_reqs;
	unsigned int	aers;
	uint8_t		aer[64];
	bool		logout;
	uint8_t		logout_sol;
	uint32_t	logout_reason;
	struct pending	*pending;
	unsigned int	nr_pending;
	unsigned int	waiting;
};

void default_login(struct login *l);
struct session *new_session(struct test *t);
enum answer try_login(struct session *s, const struct login *l);
enum answer try_unconfirmed(struct session *s, const struct login *l);
const char *answer_text(const struct session *s);
struct session *log_in(struct test *t);
struct session *log_in_with(struct test *t, const struct login *l);
struct session *log_in_imm(struct test *t);
void close_session(struct session *s);
void close_sessions(struct test *t);
void session_received(struct session *s, const uint8_t *b, uint32_t len);
uint64_t take_tag(struct session *s);
bool post(struct session *s, const struct iu *iu);
bool wait_reply(struct session *s, uint64_t tag, struct reply *r);
bool poll_reply(struct session *s, uint64_t tag, struct reply *r, int ms);
void forget(struct session *s, uint64_t tag);
void forget_all(struct session *s);
bool wait_all(struct session *s);
bool wait_gone(struct session *s);
bool wait_gone_ms(struct session *s, int ms);
void wait_aer(struct session *s);
void check_model(struct session *s);

/* --- Commands (scsi.c) ------------------------------------------------------------------ */

enum { GUARD = 0xa7 };

struct region *get_region(struct session *s, size_t len, int access);
void fill_guard(struct region *r);
bool guard_intact(const struct region *r, size_t from, size_t to);
#define REMOTE	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

uint32_t most_in_iu(void);
struct desc desc_of(const struct region *r, size_t off, uint32_t len);
void in_direct(struct cmd *c, const struct region *r, uint32_t len);
void out_direct(struct cmd *c, const struct region *r, uint32_t len);
void use_table(struct buf *b, const struct desc *d, uint32_t count);
void use_ext_table(struct session *s, struct buf *b, const struct desc *d, uint32_t count,
		   uint32_t in_iu);
void set_imm(struct buf *b, const void *data, uint32_t len);

void cmd_tur(struct cmd *c);
void cmd_inquiry(struct cmd *c, uint16_t alloc);
void cmd_read(struct cmd *c, uint64_t lba, uint32_t blocks);
void cmd_write(struct cmd *c, uint64_t lba, uint32_t blocks);

uint64_t submit(struct session *s, struct cmd *c);
bool execute(struct session *s, struct cmd *c, struct reply *r);
void must(struct session *s, struct cmd *c, struct reply *r);
void must_be_good(struct session *s, struct cmd *c);
uint64_t submit_task(struct session *s, const uint8_t *lun, uint8_t function, uint64_t task);
void task(struct session *s, const uint8_t *lun, uint8_t function, uint64_t task,
	  struct reply *r);
void clear_attention(struct session *s);
void works(struct session *s);
void serves(struct test *t);
void serves_others(struct test *t);
const char *reply_text(const struct reply *r);
void probe_target(struct test *t, const void *arg);

enum end { END_GOOD, END_STATUS, END_CODE, END_GONE, END_SILENT };
enum end end_of(struct session *s, uint64_t tag, struct reply *r);
const char *end_text(enum end e, const struct reply *r);
void must_refuse(struct session *s, const struct iu *iu, uint64_t tag);
void must_end(struct session *s, const struct iu *iu, uint64_t tag);

#endif /* SRPCONF_H */
