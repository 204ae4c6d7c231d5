/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ib_srpt: an SRP target for the LIO core. The structures and calls that its parts share.
 *
 * Copyright the ib_srpt authors
 *
 * Three families of objects, with separate lives:
 *
 * - Configuration (&struct srpt_tport, &struct srpt_tpg) belongs to configfs. It knows ports by
 *   name only, so it may stand before the device comes and after it has gone.
 * - Devices (&struct srpt_device, &struct srpt_port, &struct srpt_srq) belong to the RDMA core.
 *   They know nothing of configuration.
 * - Channels (&struct srpt_rdma_ch) join the two: each is counted at its device and at its
 *   portal group, and both wait for that count to reach zero before they go. Every channel ends
 *   in the one teardown path of channel.c.
 *
 * srpt_lock protects the lists that link them and is never held while the connection manager is
 * called, since the connection manager calls us with its own locks held.
 */
#ifndef IB_SRPT_H
#define IB_SRPT_H

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rdma/rw.h>
#include <target/target_core_base.h>
#include <target/target_core_fabric.h>

#include "compat/compat.h"
#include "srpt/names.h"
#include "srpt/wire.h"

#define SRPT_VERSION		"0.1.0"

/* Largest IU by default: 8 KiB of immediate data behind an SRP_CMD with some room to spare. */
#define SRPT_DEF_IU_LEN		(80U + 4 + 8192)
#define SRPT_MAX_IU_LEN		65536U
/* Requests an initiator may have outstanding on one channel. */
#define SRPT_REQ_LIM		128U
/* Receive buffers a channel needs besides those of its requests: answers to our own requests. */
#define SRPT_EXTRA_RECV		2U
/* RDMA reads that we may have outstanding on one channel, if both ends can do as many. */
#define SRPT_READ_DEPTH		16U
/* Most data of one command and direction, bytes. */
#define SRPT_MAX_DATA		(16U << 20)
/* A login that is not complete after this many seconds is given up. */
#define SRPT_LOGIN_TIMEOUT	60
/* How long an SRP_T_LOGOUT may take to leave, milliseconds. */
#define SRPT_FAREWELL_TIMEOUT	1000
/* How long the last-WQE event of a queue pair is waited for, seconds. */
#define SRPT_LAST_WQE_TIMEOUT	5
/* Logins in progress at a time, over all ports, and by default for a portal group. */
#define SRPT_MAX_HALF_OPEN	1024
#define SRPT_DEF_HALF_OPEN	256
/* Channels that one initiator may have in a portal group by default. */
#define SRPT_DEF_CHANNELS	1024
/* Data scatterlist entries that every command has at hand. */
#define SRPT_INLINE_SG		4
/* Latencies are counted in buckets, four for each doubling, from 1 us (2^10 ns) to a minute. */
#define SRPT_LATENCY_BUCKETS	105
/* Kinds of data buffers: single pages and larger pieces. */
#define SRPT_POOL_KINDS		2

struct seq_file;
struct srpt_rdma_ch;
struct srpt_send_ioctx;
struct srpt_task_set;

/**
 * struct srpt_port - one port of an RDMA device
 * @sdev: the device
 * @port: port number, from 1
 * @nr_channels: channels that came in by it; the port goes only when there are none
 * @refresh_work: calls srpt_refresh_port() after an event
 * @mad_agent: answers device management queries; NULL if there is none
 * @told_no_mads: it has been logged that there is none
 * @capability_set: we have set the port's device management bit
 * @offered_size: largest RDMA transfer as offered to initiators, bytes; 0: no portal group of the
 *	port's name is enabled; under srpt_lock
 * @change_id: differs whenever what is offered does; under srpt_lock
 */
struct srpt_port {
	struct srpt_device	*sdev;
	u32			port;
	atomic_t		nr_channels;
	struct work_struct	refresh_work;
	struct ib_mad_agent	*mad_agent;
	bool			told_no_mads;
	bool			capability_set;
	u32			offered_size;
	u16			change_id;
};

/**
 * struct srpt_pool - data buffers that are kept between commands
 * @lock: protects the rest
 * @free: buffers of each kind, the last used first
 * @count: their numbers
 * @idle: how many of them nobody needed since the last trim
 * @trimming: @trim is on its way
 * @trim: gives back what nobody needs
 */
struct srpt_pool {
	spinlock_t		lock;
	struct list_head	free[SRPT_POOL_KINDS];
	u32			count[SRPT_POOL_KINDS];
	u32			idle[SRPT_POOL_KINDS];
	bool			trimming;
	struct delayed_work	trim;
};

/**
 * struct srpt_device - an RDMA device; one for each call of srpt_add_one()
 * @device: the RDMA core's device
 * @pd: protection domain of all channels
 * @handler: events of the device and its ports
 * @listener: takes IB/CM logins; NULL if there is none
 * @list: entry of srpt_devices; under srpt_lock
 * @channels: &srpt_rdma_ch.dev_entry of the channels on this device; under srpt_lock
 * @gone: no new channels; under srpt_lock
 * @srq_lock: protects @srq; a mutex, taken inside nothing but the channel's work
 * @srq: the shared receive queue of new channels, or NULL
 * @pool: data buffers
 * @next_vector: completion vector of the next channel
 * @port: the ports, by number - 1
 */
struct srpt_device {
	struct ib_device	*device;
	struct ib_pd		*pd;
	struct ib_event_handler	handler;
	struct ib_cm_id		*listener;
	struct list_head	list;
	struct list_head	channels;
	bool			gone;
	struct mutex		srq_lock;
	struct srpt_srq		*srq;
	struct srpt_pool	pool;
	atomic_t		next_vector;
	struct srpt_port	port[];
};

/**
 * struct srpt_chunk - memory that several I/O contexts have their buffers in
 * @mem: kernel address
 * @dma: its DMA address
 * @order: its size, as a power of two of pages
 * @users: I/O contexts with a buffer in here
 */
struct srpt_chunk {
	void		*mem;
	dma_addr_t	dma;
	unsigned int	order;
	unsigned int	users;
};

/**
 * struct srpt_ioctx - what receive and send contexts have in common: a buffer
 * @buf: the buffer, in @chunk
 * @dma: its DMA address
 * @chunk: the memory it lies in
 */
struct srpt_ioctx {
	void			*buf;
	dma_addr_t		dma;
	struct srpt_chunk	*chunk;
};

/**
 * struct srpt_ring_shape - what the contexts of a ring look like
 * @count: number of contexts
 * @ctx_size: bytes of one context, which starts with a &struct srpt_ioctx
 * @buf_size: bytes of one buffer
 * @align: distance that buffers keep, a power of two, bytes
 * @offset: where in an aligned slot the buffer starts, bytes
 * @dir: DMA direction
 */
struct srpt_ring_shape {
	u32			count;
	size_t			ctx_size;
	u32			buf_size;
	u32			align;
	u32			offset;
	enum dma_data_direction	dir;
};

/**
 * struct srpt_ioctx_ring - an array of I/O contexts with their buffers
 * @shape: as asked for
 * @list: entry of &srpt_srq.rings
 * @last: the chunk that still has room
 * @fill: slots taken in @last
 * @ctx: the contexts, &srpt_ring_shape.ctx_size apart
 */
struct srpt_ioctx_ring {
	struct srpt_ring_shape	shape;
	struct list_head	list;
	struct srpt_chunk	*last;
	u32			fill;
	void			*ctx;
};

/**
 * struct srpt_recv_ioctx - a receive buffer
 * @ioctx: the buffer
 * @cqe: completion of the receive
 * @sge: the buffer as the receive queue wants it
 * @wait: entry of &srpt_rdma_ch.parked or &srpt_srq.spare
 * @len: bytes received
 */
struct srpt_recv_ioctx {
	struct srpt_ioctx	ioctx;
	struct ib_cqe		cqe;
	struct ib_sge		sge;
	struct list_head	wait;
	u32			len;
};

/**
 * enum srpt_command_state - where a command is
 * @SRPT_STATE_NEW: received, or with the target core
 * @SRPT_STATE_NEED_DATA: waits for RDMA reads
 * @SRPT_STATE_DATA_IN: RDMA reads done, with the target core
 * @SRPT_STATE_CMD_RSP_SENT: response (and data) on the way
 * @SRPT_STATE_MGMT: task management, with the target core
 * @SRPT_STATE_MGMT_RSP_SENT: its response on the way
 * @SRPT_STATE_OWN_REQ: no request of the initiator's, but one of our own on the way
 * @SRPT_STATE_DONE: over
 */
enum srpt_command_state {
	SRPT_STATE_NEW,
	SRPT_STATE_NEED_DATA,
	SRPT_STATE_DATA_IN,
	SRPT_STATE_CMD_RSP_SENT,
	SRPT_STATE_MGMT,
	SRPT_STATE_MGMT_RSP_SENT,
	SRPT_STATE_OWN_REQ,
	SRPT_STATE_DONE,
};

/**
 * struct srpt_rw - one RDMA transfer between local pages and one piece of a remote buffer
 * @ctx: the RDMA core's part
 * @sg: local memory
 * @nents: entries at @sg
 * @sqe: send queue entries that it takes
 */
struct srpt_rw {
	struct rdma_rw_ctx	ctx;
	struct scatterlist	*sg;
	u32			nents;
	u32			sqe;
};

/**
 * struct srpt_send_ioctx - a request from its arrival until its response has been sent
 * @ioctx: the buffer of the response
 * @ch: the channel; a context in use holds a reference to it
 * @recv: the request's receive buffer, or NULL when it has been given back
 * @cmd: the target core's part
 * @in_core: @cmd is known to the target core
 * @cmd_state: enum srpt_command_state, changed by srpt_set_cmd_state() and
 *	srpt_test_and_set_cmd_state() only
 * @entry: in &srpt_rdma_ch.free_ctx, or waiting in @sq_wait or @limbo of the channel
 * @iu: the request, parsed; its pointers are valid while @recv is
 * @arrived: when it was received, in ns of ktime_get_ns(), if latencies were measured then
 * @respond: the response is to follow the transfers
 * @rsp_wr: sends the response
 * @rsp_sge: the response
 * @send_cqe: completion of the response
 * @rdma_cqe: completion of the last RDMA transfer of a batch
 * @first_wr: the prepared work requests
 * @done: what completes them
 * @sqe: send queue entries that they take
 * @rw: RDMA transfers of the command, @nr_rw of them
 * @nr_rw: number of entries at @rw
 * @next_rw: first entry of @rw that has not been posted yet
 * @rw_dir: DMA direction of @rw
 * @rw_len: bytes that @rw moves
 * @map_work: maps what could not be mapped where the back end completed
 * @one_rw: @rw of a command with one transfer
 * @rw_sg: scatterlist made for @rw, or NULL
 * @table: descriptor table while it is being fetched from the initiator's memory
 * @data_sg: data buffer of @data_nents entries from the pool, handed to the target core
 * @data_nents: number of entries at @data_sg; 0 if it is not from the pool
 * @inline_sg: for @data_sg, if it is short
 * @task_set: for a function that ends many commands: which
 * @sense: sense data from the target core
 */
struct srpt_send_ioctx {
	struct srpt_ioctx	ioctx;
	struct srpt_rdma_ch	*ch;
	struct srpt_recv_ioctx	*recv;
	struct se_cmd		cmd;
	bool			in_core;
	atomic_t		cmd_state;
	struct list_head	entry;
	struct srpt_iu		iu;
	u64			arrived;
	bool			respond;
	struct ib_send_wr	rsp_wr;
	struct ib_sge		rsp_sge;
	struct ib_cqe		send_cqe;
	struct ib_cqe		rdma_cqe;
	struct ib_send_wr	*first_wr;
	struct ib_cqe		*done;
	u32			sqe;
	struct srpt_rw		*rw;
	u32			nr_rw;
	u32			next_rw;
	enum dma_data_direction	rw_dir;
	u32			rw_len;
	struct work_struct	map_work;
	struct srpt_rw		one_rw;
	struct scatterlist	*rw_sg;
	void			*table;
	struct scatterlist	*data_sg;
	u32			data_nents;
	struct scatterlist	inline_sg[SRPT_INLINE_SG];
	struct srpt_task_set	*task_set;
	u8			sense[TRANSPORT_SENSE_BUFFER];
};

/**
 * struct srpt_srq - a shared receive queue with its buffers
 * @ref: held by the device and by each channel that uses it
 * @sdev: the device
 * @srq: the verbs object
 * @lock: protects @granted, @total, @rings; a mutex
 * @rings: the buffers; grows, never shrinks
 * @max: upper bound of @total
 * @total: buffers that exist
 * @granted: buffers promised to channels
 * @spare_lock: protects @spare
 * @spare: buffers that could not be posted; @work tries again
 * @work: refills or grows after a limit event
 * @free_work: destroys the queue after the last reference
 * @failed: the queue is in error and is no longer used for new channels
 */
struct srpt_srq {
	struct kref		ref;
	struct srpt_device	*sdev;
	struct ib_srq		*srq;
	struct mutex		lock;
	struct list_head	rings;
	u32			max;
	u32			total;
	u32			granted;
	spinlock_t		spare_lock;
	struct list_head	spare;
	struct work_struct	work;
	struct work_struct	free_work;
	bool			failed;
};

/**
 * enum srpt_ch_state - where in its life a channel is; only ever grows
 * @SRPT_CH_LOGIN: login in progress
 * @SRPT_CH_CONNECTING: accepted; information units are parked until the peer confirms
 * @SRPT_CH_LIVE: in use
 * @SRPT_CH_CLOSING: teardown has begun
 */
enum srpt_ch_state {
	SRPT_CH_LOGIN,
	SRPT_CH_CONNECTING,
	SRPT_CH_LIVE,
	SRPT_CH_CLOSING,
};

/**
 * enum srpt_ch_drain - the wait for the last-WQE event of a queue pair on an SRQ
 * @SRPT_DRAIN_NONE: not begun
 * @SRPT_DRAIN_ARMED: waiting; the event cuts the wait short
 * @SRPT_DRAIN_BEGUN: the wait is over
 */
enum srpt_ch_drain {
	SRPT_DRAIN_NONE,
	SRPT_DRAIN_ARMED,
	SRPT_DRAIN_BEGUN,
};

/**
 * enum srpt_ch_farewell - what the initiator is told before its connection goes
 * @SRPT_FAREWELL_NONE: nothing
 * @SRPT_FAREWELL_WANTED: an SRP_T_LOGOUT is to be sent
 * @SRPT_FAREWELL_SENT: it is under way
 * @SRPT_FAREWELL_OVER: it has left, or is given up on
 */
enum srpt_ch_farewell {
	SRPT_FAREWELL_NONE,
	SRPT_FAREWELL_WANTED,
	SRPT_FAREWELL_SENT,
	SRPT_FAREWELL_OVER,
};

/**
 * struct srpt_nexus - an I_T nexus: a session of the target core and the channels that share it
 * @ref: one per channel
 * @sess: the target core's session
 */
struct srpt_nexus {
	struct kref		ref;
	struct se_session	*sess;
};

/**
 * struct srpt_counters - what has happened on a channel, for an operator to see
 * @requests: SRP_CMD and SRP_TSK_MGMT received, good and bad ones
 * @tsk_mgmt: SRP_TSK_MGMT among them
 * @imm_cmds: commands with immediate data
 * @bytes_in: bytes written to the initiator
 * @bytes_out: bytes read from the initiator, immediate data included
 * @parked: requests that had to wait for the channel to be live or for a context
 * @sq_waits: transfers and responses that had to wait for room in the send queue
 * @ext_tables: descriptor tables fetched from initiator memory
 * @errors: responses with another status than GOOD
 * @refused: commands answered with BUSY or TASK SET FULL for want of memory, or at the end
 * @silent: requests that ended without a response: aborted, or the channel closed
 * @bad_cmds: commands not well formed, answered with sense
 * @bad_ius: information units not well formed that ended the channel
 * @stray_answers: answers to nothing that we asked for, dropped
 * @floods: requests beyond the limit, which ended the channel
 * @cred_reqs: SRP_CRED_REQ sent
 * @cred_rsps: SRP_CRED_RSP received in answer to them
 *
 * No lock is taken for these: each is changed where something else keeps others out, mostly
 * &srpt_rdma_ch.lock or the order of the completion queue. Where nothing does, now and then one
 * is lost, which does not matter. Reading them needs no lock either.
 */
struct srpt_counters {
	u64	requests;
	u64	tsk_mgmt;
	u64	imm_cmds;
	u64	bytes_in;
	u64	bytes_out;
	u64	parked;
	u64	sq_waits;
	u64	ext_tables;
	u64	errors;
	u64	refused;
	u64	silent;
	u64	bad_cmds;
	u64	bad_ius;
	u64	stray_answers;
	u64	floods;
	u64	cred_reqs;
	u64	cred_rsps;
};

/**
 * struct srpt_rdma_ch - an RDMA channel: one connection of an initiator
 * @ref: one until the queues are drained, one for each request in progress, one for each end
 *	marker in a queue; the last one that is put sets off @release_work
 * @state: enum srpt_ch_state; changed under @lock, in channel.c only
 * @lock: protects @state, @free_ctx, @parked, @credit
 * @sdev: the device
 * @sport: the port it came in by
 * @tpg: the portal group that admitted it; counts it in &srpt_tpg.nr_channels
 * @nexus: its session, once the login got that far
 * @dev_entry: in &srpt_device.channels; in order of arrival
 * @cm_id: the connection, if it is one of the RDMA/CM
 * @ib_cm_id: the connection, if it is one of the IB/CM; else NULL
 * @rq_psn: with IB/CM: sequence number of the first packet that comes
 * @qp: the queue pair
 * @cq: completions of both its queues
 * @srq: shared receive queue, or NULL when @recv_ring is used
 * @login: what the initiator asked for
 * @rules: what was agreed on
 * @acl: spelling of the ACL that admitted it
 * @name: for the log: how the initiator is known
 * @id: number of the channel since the module was loaded
 * @half_open: the login counts as being in progress
 * @gated: the login waits for earlier channels of its nexus to go; under srpt_lock
 * @accepted: the connection manager has been told to accept
 * @initialized: the queue pair has left the reset state
 * @connected: the queue pair has been ready to receive
 * @read_depth: RDMA reads that we may have outstanding
 * @rej_reason: SRP_LOGIN_REJ reason to close an unanswered login with
 * @rsp_flags: for the login response
 * @why: reason of the close, for the log
 * @farewell: how far the teardown has got with the SRP_T_LOGOUT; under @lock
 * @logout: SRPT_LOGOUT_*, its reason
 * @req_lim: most requests the initiator may have outstanding
 * @credit: requests that it may still send by what it has been told
 * @owed: credits to be given back with the next response
 * @own_tag: tag of our last request to the initiator
 * @cred_asked: it is an SRP_CRED_REQ without an answer yet
 * @cred_answers: the initiator has answered one
 * @rsp_len: size of a response buffer, bytes
 * @send_ring: contexts of requests
 * @recv_ring: receive buffers, without SRQ
 * @free_ctx: contexts not in use
 * @parked: receives that have to wait, in order of arrival
 * @draining: somebody works on @parked
 * @last_wqe: the last-WQE event has come
 * @drain: how far the teardown has got with waiting for it; under @lock
 * @sq_lock: protects @sq_avail, @sq_wait, @limbo, @drained
 * @sq_avail: free entries of the send queue
 * @sq_size: entries of the send queue, besides that of the end marker
 * @max_inline: bytes that a send can carry inline
 * @may_use_mr: RDMA transfers may need memory registrations, which are made where one can sleep
 * @sq_wait: requests waiting for @sq_avail
 * @limbo: requests that could not be posted whole; completed when the queue is drained
 * @drained: nothing that was posted is left in the send queue
 * @counters: what has happened
 * @sq_marker: completion of the end marker in the send queue
 * @rq_marker: same for the receive queue
 * @parked_work: runs @parked
 * @login_work: does what a login needs and cannot be done in the handler of an event
 * @login_timer: gives up on the login
 * @close_work: begins the teardown
 * @drain_work: goes on with it once the last WQE event came or is given up on
 * @release_work: ends it
 */
struct srpt_rdma_ch {
	refcount_t		ref;
	enum srpt_ch_state	state;
	spinlock_t		lock;
	struct srpt_device	*sdev;
	struct srpt_port	*sport;
	struct srpt_tpg		*tpg;
	struct srpt_nexus	*nexus;
	struct list_head	dev_entry;
	struct rdma_cm_id	*cm_id;
	struct ib_cm_id		*ib_cm_id;
	u32			rq_psn;
	struct ib_qp		*qp;
	struct ib_cq		*cq;
	struct srpt_srq		*srq;
	struct srpt_login	login;
	struct srpt_iu_rules	rules;
	char			acl[TRANSPORT_IQN_LEN];
	char			name[SRPT_NAME_LEN];
	u32			id;
	bool			half_open;
	bool			gated;
	bool			accepted;
	bool			initialized;
	bool			connected;
	u8			read_depth;
	u32			rej_reason;
	u8			rsp_flags;
	const char		*why;
	enum srpt_ch_farewell	farewell;
	u32			logout;
	u32			req_lim;
	s32			credit;
	u32			owed;
	u32			own_tag;
	bool			cred_asked;
	bool			cred_answers;
	u32			rsp_len;
	struct srpt_ioctx_ring	*send_ring;
	struct srpt_ioctx_ring	*recv_ring;
	struct list_head	free_ctx;
	struct list_head	parked;
	bool			draining;
	bool			last_wqe;
	enum srpt_ch_drain	drain;
	spinlock_t		sq_lock;
	int			sq_avail;
	u32			sq_size;
	u32			max_inline;
	bool			may_use_mr;
	struct list_head	sq_wait;
	struct list_head	limbo;
	bool			drained;
	struct srpt_counters	counters;
	struct ib_cqe		sq_marker;
	struct ib_cqe		rq_marker;
	struct work_struct	parked_work;
	struct work_struct	login_work;
	struct delayed_work	login_timer;
	struct delayed_work	close_work;
	struct delayed_work	drain_work;
	struct work_struct	release_work;
};

/**
 * struct srpt_tport - a target port as configured: a name
 * @wwn: the target core's part
 * @name: the name in the form in which names are compared
 * @text: the name as it was spelt
 * @list: entry of srpt_tports; under srpt_lock
 * @tpgs: its portal groups in order of creation; under srpt_lock
 * @next_tag: tag of the next portal group
 */
struct srpt_tport {
	struct se_wwn		wwn;
	struct srpt_name	name;
	char			text[SRPT_NAME_LEN];
	struct list_head	list;
	struct list_head	tpgs;
	u16			next_tag;
};

/**
 * enum srpt_latency_kind - kinds of commands whose latencies are counted apart
 * @SRPT_LATENCY_READ: data went to the initiator
 * @SRPT_LATENCY_WRITE: data came from it
 * @SRPT_LATENCY_OTHER: neither
 * @SRPT_LATENCY_KINDS: number of kinds
 */
enum srpt_latency_kind {
	SRPT_LATENCY_READ,
	SRPT_LATENCY_WRITE,
	SRPT_LATENCY_OTHER,
	SRPT_LATENCY_KINDS,
};

/**
 * struct srpt_latencies - how long commands took, on one CPU
 * @count: commands of each kind in each bucket, see srpt_bucket()
 */
struct srpt_latencies {
	u64	count[SRPT_LATENCY_KINDS][SRPT_LATENCY_BUCKETS];
};

/**
 * struct srpt_tpg - a portal group
 * @tpg: the target core's part
 * @tport: the target port it belongs to
 * @list: entry of &srpt_tport.tpgs
 * @tag: its number within the target port
 * @enabled: takes logins; under srpt_lock
 * @nr_channels: channels it admitted that are not gone yet
 * @max_rdma_size: advertised size of an RDMA transfer, bytes
 * @max_rsp_size: largest information unit to the initiator, bytes
 * @sq_size: send queue entries of a channel
 * @use_srq: channels share receive buffers where the device can
 * @max_channels: channels that one initiator may have
 * @max_half_open: logins that may be in progress at a time
 * @latencies: of the commands of its sessions, per CPU
 */
struct srpt_tpg {
	struct se_portal_group	tpg;
	struct srpt_tport	*tport;
	struct list_head	list;
	u16			tag;
	bool			enabled;
	atomic_t		nr_channels;
	u32			max_rdma_size;
	u32			max_rsp_size;
	u32			sq_size;
	bool			use_srq;
	u32			max_channels;
	u32			max_half_open;
	struct srpt_latencies __percpu *latencies;
};

/**
 * struct srpt_node_acl - an ACL
 * @nacl: the target core's part, first
 * @name: its name in the form in which names are compared
 * @stats: fabric_statistics/session
 */
struct srpt_node_acl {
	struct se_node_acl	nacl;
	struct srpt_name	name;
	struct config_group	stats;
};

/**
 * struct srpt_peer - how an initiator that wants to log in is known
 * @names: its names, the most particular first: GUID, GID, IP address, initiator port ID
 * @count: number of entries in @names
 */
struct srpt_peer {
	struct srpt_name	names[4];
	unsigned int		count;
};

/**
 * struct srpt_admission - who lets an initiator in
 * @tpg: the portal group, or NULL
 * @acl: spelling of the ACL's name
 */
struct srpt_admission {
	struct srpt_tpg		*tpg;
	char			acl[TRANSPORT_IQN_LEN];
};

/**
 * struct srpt_cm_req - a connection request, whatever connection manager it came by
 * @device: device it came in by
 * @port: and its port
 * @layout: layout of @priv
 * @priv: private data
 * @priv_len: bytes at @priv
 * @peer: names of the initiator
 * @login: the parsed @priv
 * @cm_id: the connection, if it is one of the RDMA/CM
 * @ib_cm_id: the connection, if it is one of the IB/CM; else NULL
 * @no_partition: the port shares no partition with the initiator that they could use
 * @read_depth: RDMA reads that the initiator can take
 */
struct srpt_cm_req {
	struct ib_device	*device;
	u32			port;
	enum srpt_login_layout	layout;
	const void		*priv;
	u32			priv_len;
	struct srpt_peer	peer;
	struct srpt_login	login;
	struct rdma_cm_id	*cm_id;
	struct ib_cm_id		*ib_cm_id;
	bool			no_partition;
	u8			read_depth;
};

/* ib_srpt.c */
extern struct mutex srpt_lock;
extern struct list_head srpt_devices;
extern struct workqueue_struct *srpt_wq;
extern unsigned int srp_max_req_size;
extern unsigned int srpt_srq_size;
u64 srpt_service_guid(void);
struct srpt_port *srpt_lookup_port(struct ib_device *device, u32 port);

/* configfs.c */
int srpt_register_configfs(void);
void srpt_unregister_configfs(void);
u32 srpt_admit(const struct srpt_port *sport, const struct srpt_peer *peer,
	       struct srpt_admission *adm);
int srpt_print_latencies(struct seq_file *m, void *unused);
u32 srpt_offered_size(const struct srpt_port *sport);

/* dm.c */
void srpt_refresh_offers(void);
void srpt_refresh_port(struct srpt_port *sport);
void srpt_unregister_mad_agent(struct srpt_port *sport);

/* cm.c */
int srpt_listen(u16 port);
u16 srpt_listening_port(void);
void srpt_listen_ib(struct srpt_device *sdev);
void srpt_unlisten_ib(struct srpt_device *sdev);
int srpt_cm_qp_attr(struct srpt_rdma_ch *ch, struct ib_qp_attr *attr, int *mask);
int srpt_accept(struct srpt_rdma_ch *ch, const struct srpt_login_answer *answer);
void srpt_goodbye(struct srpt_rdma_ch *ch);
void srpt_destroy_cm_id(struct srpt_rdma_ch *ch);
void srpt_ch_heard(struct srpt_rdma_ch *ch);

/* login.c */
void srpt_name_gid(struct srpt_peer *peer, const union ib_gid *gid);
void srpt_name_address(struct srpt_peer *peer, const struct sockaddr *addr);
u32 srpt_cm_req_recv(struct srpt_cm_req *req);
void srpt_login_work(struct work_struct *work);
void srpt_login_timed_out(struct work_struct *work);
void srpt_login_over(struct srpt_rdma_ch *ch);
bool srpt_same_nexus(const struct srpt_rdma_ch *a, const struct srpt_rdma_ch *b);
void srpt_kick_logins(const struct srpt_rdma_ch *gone);

/* channel.c */
u32 srpt_over_limit(const struct srpt_admission *adm, const struct srpt_login *login);
struct srpt_rdma_ch *srpt_alloc_ch(struct srpt_port *sport, const struct srpt_admission *adm);
int srpt_create_ch_ib(struct srpt_rdma_ch *ch);
bool srpt_close_ch(struct srpt_rdma_ch *ch, const char *why);
bool srpt_end_ch(struct srpt_rdma_ch *ch, const char *why, u32 logout);
void srpt_farewell_over(struct srpt_rdma_ch *ch);
void srpt_close_port(struct srpt_port *sport, const char *why);
void srpt_close_tpg(struct srpt_tpg *tpg, const char *why);
void srpt_close_srq(struct srpt_srq *srq);
void srpt_close_session(struct se_session *sess);
int srpt_ch_qp_rtr(struct srpt_rdma_ch *ch, struct ib_qp *qp);
int srpt_ch_qp_rts(struct srpt_rdma_ch *ch, struct ib_qp *qp);
bool srpt_ch_connecting(struct srpt_rdma_ch *ch);
void srpt_ch_live(struct srpt_rdma_ch *ch);
void srpt_get_ch(struct srpt_rdma_ch *ch);
void srpt_put_ch(struct srpt_rdma_ch *ch);

/* ring.c */
struct srpt_ioctx_ring *srpt_alloc_ioctx_ring(struct ib_device *dev,
					      const struct srpt_ring_shape *shape);
void srpt_free_ioctx_ring(struct ib_device *dev, struct srpt_ioctx_ring *ring);
void *srpt_ring_ctx(struct srpt_ioctx_ring *ring, u32 index);

/* srq.c */
struct srpt_srq *srpt_get_srq(struct srpt_device *sdev);
void srpt_drop_device_srq(struct srpt_device *sdev, struct srpt_srq *srq);
u32 srpt_srq_promise(struct srpt_srq *srq, u32 want);
void srpt_srq_return(struct srpt_srq *srq, u32 count);
void srpt_srq_recycle(struct srpt_srq *srq, struct srpt_recv_ioctx *recv);
void srpt_put_srq(struct srpt_srq *srq);

/* recv.c */
struct srpt_ioctx_ring *srpt_alloc_recv_ring(struct srpt_device *sdev, u32 count);
void srpt_fill_recv(struct srpt_rdma_ch *ch);
void srpt_post_recv(struct srpt_rdma_ch *ch, struct srpt_recv_ioctx *recv);
void srpt_parked_work(struct work_struct *work);
void srpt_drop_parked(struct srpt_rdma_ch *ch);

/* cmd.c */
int srpt_alloc_send_ring(struct srpt_rdma_ch *ch);
struct srpt_send_ioctx *srpt_get_send_ioctx(struct srpt_rdma_ch *ch);
void srpt_put_send_ioctx(struct srpt_send_ioctx *ctx);
enum srpt_command_state srpt_set_cmd_state(struct srpt_send_ioctx *ctx,
					   enum srpt_command_state new);
bool srpt_test_and_set_cmd_state(struct srpt_send_ioctx *ctx, enum srpt_command_state old,
				 enum srpt_command_state new);
void srpt_end_bad_iu(struct srpt_rdma_ch *ch, const struct srpt_iu *iu);
void srpt_handle_new_iu(struct srpt_send_ioctx *ctx, struct srpt_recv_ioctx *recv);
int srpt_check_stop_free(struct se_cmd *cmd);
void srpt_release_cmd(struct se_cmd *cmd);
void srpt_aborted_task(struct se_cmd *cmd);
int srpt_get_cmd_state(struct se_cmd *cmd);

/* info.c */
ssize_t srpt_show_sessions(char *page, const struct se_node_acl *nacl);
bool srpt_uses_acl(const struct srpt_rdma_ch *ch, const struct se_node_acl *nacl);

/* stats.c */
void srpt_init_stats(void);
void srpt_exit_stats(void);
void srpt_add_acl_stats(struct srpt_node_acl *sacl);
void srpt_print_tpg_latencies(struct seq_file *m, struct srpt_tpg *tpg);
void srpt_count_latency(struct srpt_send_ioctx *ctx);
DECLARE_STATIC_KEY_FALSE(srpt_latency_key);

/* tmf.c */
void srpt_handle_tsk_mgmt(struct srpt_send_ioctx *ctx);
void srpt_task_set_next(struct srpt_send_ioctx *ctx);
void srpt_queue_tm_rsp(struct se_cmd *cmd);

/* data.c */
int srpt_map_data(struct srpt_send_ioctx *ctx, const struct srpt_buf *buf,
		  enum dma_data_direction dir);
void srpt_unmap_data(struct srpt_send_ioctx *ctx);
bool srpt_data_ready(struct srpt_send_ioctx *ctx);
int srpt_fetch_table(struct srpt_send_ioctx *ctx, const struct srpt_buf *buf);
void srpt_sync_data(struct srpt_send_ioctx *ctx);
void srpt_give_data_buf(struct srpt_send_ioctx *ctx);
int srpt_write_pending(struct se_cmd *cmd);
void srpt_rdma_read_done(struct ib_cq *cq, struct ib_wc *wc);

/* pool.c */
void srpt_init_pool(struct srpt_pool *pool);
void srpt_drain_pool(struct srpt_pool *pool);
u32 srpt_get_data_buf(struct srpt_send_ioctx *ctx, u32 len);
void srpt_put_data_buf(struct srpt_send_ioctx *ctx);

/* send.c */
void srpt_post_next(struct srpt_send_ioctx *ctx);
void srpt_sq_return(struct srpt_rdma_ch *ch, u32 count);
void srpt_end_limbo(struct srpt_rdma_ch *ch);
void srpt_send_failed(struct srpt_rdma_ch *ch, const char *what, enum ib_wc_status status);
void srpt_queue_response(struct srpt_send_ioctx *ctx, struct srpt_rsp *rsp);
void srpt_map_and_send(struct srpt_send_ioctx *ctx);
void srpt_map_work(struct work_struct *work);
int srpt_queue_data_in(struct se_cmd *cmd);
int srpt_queue_status(struct se_cmd *cmd);
void srpt_send_done(struct ib_cq *cq, struct ib_wc *wc);
void srpt_offer_credits(struct srpt_rdma_ch *ch);
bool srpt_credits_answered(struct srpt_rdma_ch *ch, u64 tag);
bool srpt_send_logout(struct srpt_rdma_ch *ch);
void srpt_refuse_cmd(struct srpt_send_ioctx *ctx, u8 status);
void srpt_refuse_iu(struct srpt_send_ioctx *ctx);

/**
 * srpt_note_arrival - note when a command came, if somebody measures latencies
 * @ctx: request
 */
static inline void srpt_note_arrival(struct srpt_send_ioctx *ctx)
{
	if (static_branch_unlikely(&srpt_latency_key))
		ctx->arrived = ktime_get_ns();
}

static inline struct srpt_send_ioctx *srpt_cmd_ctx(struct se_cmd *cmd)
{
	return container_of(cmd, struct srpt_send_ioctx, cmd);
}

#endif /* IB_SRPT_H */
