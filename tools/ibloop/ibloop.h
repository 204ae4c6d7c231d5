/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ibloop, a software InfiniBand HCA for tests: what its files share.
 *
 * Copyright the ib_srpt authors
 *
 * Locks. Those of rdmavt nest as r_lock, s_hlock, s_lock of one queue pair; no path here holds
 * locks of two queue pairs at once. lb_port.lock and lb_copy_lock come below all of them. Handlers
 * of consumers (events) are called without any of these locks.
 */
#ifndef IBLOOP_H
#define IBLOOP_H

#include <linux/atomic.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_mad.h>
#include <rdma/rdma_vt.h>
#include <rdma/rdmavt_qp.h>
#include <rdma/rdmavt_cq.h>

#define LB_MAX_HCAS	4
#define LB_MAX_PORTS	8
#define LB_MAX_QP_WR	16383	/* queue entries, however low the limit of others is */
#define LB_PKEYS	32	/* one block of the P_KeyTable attribute */
#define LB_GUIDS	8	/* one block of the GUIDInfo attribute */
#define LB_VENDOR_ID	0x00ffff	/* no vendor's: a private value */
#define LB_DEVICE_ID	0x1b1b
#define LB_GID_PREFIX	0xfe80000000000000ULL

/* PortPhysicalState of the PortInfo attribute, in IBTA's numbers */
enum lb_phys {
	LB_PHYS_POLLING	= 2,
	LB_PHYS_LINK_UP	= 5,
};

/* last_wqe: what becomes of the last-WQE-reached event; other values are milliseconds of delay */
#define LB_LAST_WQE_NEVER	U32_MAX

/**
 * struct lb_counters - what a port has carried, for the performance management class
 * @xmit_bytes: payload that left
 * @xmit_packets: packets that left
 * @rcv_bytes: payload that came
 * @rcv_packets: packets that came
 * @xmit_discards: packets with nowhere to go
 * @link_downed: how often the link went from up to down
 */
struct lb_counters {
	atomic64_t xmit_bytes;
	atomic64_t xmit_packets;
	atomic64_t rcv_bytes;
	atomic64_t rcv_packets;
	atomic64_t xmit_discards;
	atomic64_t link_downed;
};

/**
 * struct lb_faults - knobs of a port, set through debugfs at any time; 0 is off
 * @delay_us: a send of a connected queue pair completes this many microseconds after its data are
 *            there
 * @retry_ms: time-out of a request without an answer in place of the queue pair's own, in
 *            milliseconds
 * @last_wqe: delay of the last-WQE event in milliseconds, or LB_LAST_WQE_NEVER
 * @fail_sends: this many more sends of reliable queue pairs fail with "retries exceeded"
 * @drop_send_wc: the n-th successful send completion from now is lost
 * @drop_recv_wc: the n-th receive completion of a connected queue pair from now is lost
 * @mad_class: management class of the MADs of QP1 that are lost on their way out ...
 * @mad_attr: ... and their attribute ...
 * @mad_skip: ... after this many have passed ...
 * @mad_drop: ... and how many then are
 */
struct lb_faults {
	u32 delay_us;
	u32 retry_ms;
	u32 last_wqe;
	atomic_t fail_sends;
	atomic_t drop_send_wc;
	atomic_t drop_recv_wc;
	u32 mad_class;
	u32 mad_attr;
	atomic_t mad_skip;
	atomic_t mad_drop;
};

/**
 * struct lb_port - a port
 * @rvp: rdmavt's part
 * @hca: whose port it is
 * @num: number, from 1
 * @peer: the port at the other end of the cable; NULL while that HCA is not there. Read under RCU.
 * @lock: guards what follows up to @pkeys, and the members of @rvp that the subnet manager sets
 * @state: logical state
 * @phys: physical state
 * @pulled: the cable was pulled by a knob
 * @removing: the HCA is on its way out, no more work may be queued
 * @lmc: LID mask control, 0..7
 * @lid: base LID, 0 before the subnet manager came
 * @mtu: neighbour MTU
 * @guids: GUIDs; 0 is the port's own, the others are the subnet manager's
 * @pkeys: partition table
 * @notices: change flags that the next trap 144 reports
 * @trap_work: sends that trap
 * @trap_lid: the LID that @rvp.sm_ah leads to; of @trap_work only
 * @counters: see there
 * @faults: see there
 * @hog: MAD agent that keeps others from registering for its class; of knobs.c only
 * @hog_class: its class
 */
struct lb_port {
	struct rvt_ibport rvp;
	struct lb_hca *hca;
	u32 num;
	struct lb_port __rcu *peer;
	spinlock_t lock;
	enum ib_port_state state;
	enum lb_phys phys;
	bool pulled;
	bool removing;
	u8 lmc;
	u16 lid;
	enum ib_mtu mtu;
	__be64 guids[LB_GUIDS];
	u16 pkeys[LB_PKEYS];
	u16 notices;
	struct work_struct trap_work;
	u16 trap_lid;
	struct lb_counters counters;
	struct lb_faults faults;
	struct ib_mad_agent *hog;
	u8 hog_class;
};

/**
 * struct lb_hca - an HCA
 * @rdi: rdmavt's part, first because rdmavt allocates the whole
 * @parent: platform device below which the RDMA device hangs
 * @rvt_create_qp: rdmavt's own verb, which ours calls
 * @rvt_create_srq: likewise
 * @rvt_post_send: likewise
 * @debugfs: folder with the knobs
 * @index: number, from 0
 * @nports: number of ports in use
 * @ports: the ports
 */
struct lb_hca {
	struct rvt_dev_info rdi;
	struct platform_device *parent;
	int (*rvt_create_qp)(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			     struct ib_udata *udata);
	int (*rvt_create_srq)(struct ib_srq *srq, struct ib_srq_init_attr *attr,
			      struct ib_udata *udata);
	int (*rvt_post_send)(struct ib_qp *qp, const struct ib_send_wr *wr,
			     const struct ib_send_wr **bad_wr);
	struct dentry *debugfs;
	unsigned int index;
	unsigned int nports;
	struct lb_port ports[LB_MAX_PORTS];
};

/**
 * struct lb_qp - our part of a queue pair
 * @qp: rdmavt's part
 * @send: processes the send queue. A queue pair's sends are executed by nothing else, so that the
 *        work request at the head of the queue stays where it is while it is executed.
 * @wait_until: no send before this time, in jiffies; of @send only
 * @waiting: @wait_until holds
 * @rnr_tries: how often the work request at the head met a receiver without a buffer
 * @tries: how often it got no answer
 * @rnr_usec: time that the receiver asked for, in microseconds
 * @last_wqe: raises the last-WQE event when that is to be late
 * @event_handler: of the consumer; the queue pair's is lb_qp_event()
 */
struct lb_qp {
	struct rvt_qp *qp;
	struct delayed_work send;
	unsigned long wait_until;
	bool waiting;
	u8 rnr_tries;
	u8 tries;
	unsigned long rnr_usec;
	struct delayed_work last_wqe;
	void (*event_handler)(struct ib_event *event, void *context);
};

/* What was given at load time; see main.c. */
struct lb_params {
	unsigned int hcas;
	unsigned int ports;
	unsigned long long guid;
	int max_send_wr;
	int max_send_sge;
	int max_recv_sge;
	int max_srq_wr;
	bool no_srq;
};

extern struct lb_params lb_params;
extern struct workqueue_struct *lb_wq;
extern struct mutex lb_hca_mutex;
extern rwlock_t lb_copy_lock;

static inline struct lb_hca *lb_rdi_hca(struct rvt_dev_info *rdi)
{
	return container_of(rdi, struct lb_hca, rdi);
}

static inline struct lb_hca *lb_ibdev_hca(struct ib_device *ibdev)
{
	return lb_rdi_hca(ib_to_rvt(ibdev));
}

static inline struct lb_port *lb_qp_port(struct rvt_qp *qp)
{
	return &lb_ibdev_hca(qp->ibqp.device)->ports[qp->port_num - 1];
}

/* Does the counter reach zero with this call? For "the n-th from now". */
static inline bool lb_nth(atomic_t *left)
{
	return atomic_read(left) > 0 && atomic_dec_if_positive(left) == 0;
}

/* Was the counter above zero? For "the next n". */
static inline bool lb_next(atomic_t *left)
{
	return atomic_read(left) > 0 && atomic_dec_if_positive(left) >= 0;
}

/* hca.c */
int lb_hca_add(unsigned int index);
void lb_hca_remove(unsigned int index);

/* port.c */
void lb_port_init(struct lb_hca *hca, u32 num);
void lb_port_connect(struct lb_port *port, struct lb_port *peer);
void lb_port_disconnect(struct lb_port *port);
void lb_port_leave(struct lb_port *port);
void lb_port_event(struct lb_port *port, enum ib_event_type type);
void lb_port_set_state(struct lb_port *port, enum ib_port_state state);
void lb_port_train(struct lb_port *port);
void lb_port_pull(struct lb_port *port, bool pulled);
struct lb_port *lb_route(struct lb_port *from, u16 dlid, bool smp);
u16 lb_port_pkey(struct lb_port *port, unsigned int index);
int lb_port_find_pkey(struct lb_port *port, u16 pkey);
bool lb_pkeys_match(u16 a, u16 b);
u16 lb_port_lid(struct lb_port *port);
enum ib_mtu lb_port_mtu(struct lb_port *port);
__be64 lb_port_guid(struct lb_port *port, unsigned int index);
void lb_port_count(struct lb_port *from, struct lb_port *to, u32 bytes, u32 mtu);
int lb_query_port(struct rvt_dev_info *rdi, u32 num, struct ib_port_attr *props);
int lb_get_guid_be(struct rvt_dev_info *rdi, struct rvt_ibport *rvp, int index, __be64 *guid);
int lb_shut_down_port(struct rvt_dev_info *rdi, u32 num);

/* qp.c */
void lb_qp_driver(struct rvt_driver_provided *f);
void lb_copy(struct rvt_sge_state *to, struct rvt_sge_state *from, u32 length, bool release);
void lb_wait_for_copies(void);
void lb_sge_of_wqe(struct rvt_sge_state *ss, struct rvt_swqe *wqe);
void lb_qp_raise(struct rvt_qp *qp, enum ib_event_type type);
void lb_qp_error(struct rvt_qp *qp, enum ib_wc_status status);
int lb_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);

/* rc.c */
enum ib_wc_status lb_rc_send(struct rvt_qp *sqp, struct rvt_swqe *wqe);

/* ud.c */
void lb_ud_send(struct rvt_qp *sqp, struct rvt_swqe *wqe);

/* srq.c */
int lb_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata);
int lb_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		  struct ib_udata *udata);

/* smp.c */
int lb_process_mad(struct ib_device *ibdev, int flags, u32 num, const struct ib_wc *in_wc,
		   const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		   size_t *out_size, u16 *out_pkey_index);
void lb_notify(struct lb_port *port, u16 change_flags);
void lb_cap_mask_changed(struct rvt_dev_info *rdi, u32 num);
int lb_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify);
void lb_trap_work(struct work_struct *work);

/* pma.c */
int lb_process_pma(struct lb_port *port, const struct ib_mad *in, struct ib_mad *out);

/* selftest.c */
int lb_selftest(struct ib_device *ibdev);

/* knobs.c */
void lb_knobs_init(void);
void lb_knobs_exit(void);
void lb_knobs_add(struct lb_hca *hca);
void lb_knobs_remove(struct lb_hca *hca);

#endif /* IBLOOP_H */
