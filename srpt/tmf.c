// SPDX-License-Identifier: GPL-2.0-only
/*
 * Task management: SRP_TSK_MGMT in, always an SRP_RSP with response data out.
 *
 * Copyright the ib_srpt authors
 *
 * The target core aborts single tasks and resets logical units. ABORT TASK SET and CLEAR TASK SET
 * it does not know: they are carried out here, by having it abort one task after the other. The
 * tasks are listed when the function arrives; one that ends by itself meanwhile counts as ended.
 *
 * While it works on such a list the request's se_cmd serves one abort after the other. It may be
 * used again once the core has released it, which is when srpt_task_set_next() is called.
 */
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "ib_srpt.h"

/**
 * struct srpt_task - a task to be aborted
 * @ch: its channel, with a reference, which keeps session and portal group as well
 * @lun: the logical unit, as its nexus numbers it
 * @tag: its tag
 */
struct srpt_task {
	struct srpt_rdma_ch	*ch;
	u64			lun;
	u64			tag;
};

/**
 * struct srpt_task_set - tasks to be aborted for one function
 * @ctx: the function
 * @work: aborts the next one
 * @next: which that is
 * @count: number of tasks
 * @room: room for so many
 * @task: the tasks
 */
struct srpt_task_set {
	struct srpt_send_ioctx	*ctx;
	struct work_struct	work;
	u32			next;
	u32			count;
	u32			room;
	struct srpt_task	task[];
};

/* What the target core calls SRP's task management functions. */
static const struct {
	u8	srp;
	u8	core;
} srpt_tmr_names[] = {
	{ SRP_TSK_LUN_RESET,		TMR_LUN_RESET },
	{ SRP_TSK_ABORT_TASK,		TMR_ABORT_TASK },
	{ SRP_TSK_ABORT_TASK_SET,	TMR_ABORT_TASK_SET },
	{ SRP_TSK_CLEAR_TASK_SET,	TMR_CLEAR_TASK_SET },
	{ SRP_TSK_CLEAR_ACA,		TMR_CLEAR_ACA },
};

/* The target core's name of an SRP task management function, or TMR_UNKNOWN. */
static u8 srpt_tmr_function(u8 func)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(srpt_tmr_names); i++)
		if (srpt_tmr_names[i].srp == func)
			return srpt_tmr_names[i].core;
	return TMR_UNKNOWN;
}

/* SRP's response code for what the core made of a function (SAM: an unknown task is no failure). */
static u8 srpt_tmr_code(const struct se_tmr_req *tmr)
{
	switch (tmr->response) {
	case TMR_FUNCTION_COMPLETE:
	case TMR_TASK_DOES_NOT_EXIST:
		return SRPT_RSP_NO_FAILURE;
	case TMR_TASK_MGMT_FUNCTION_NOT_SUPPORTED:
		return SRPT_RSP_TMF_NOT_SUPPORTED;
	case TMR_LUN_DOES_NOT_EXIST:
		return SRPT_RSP_INVALID_FIELDS;
	default:
		return SRPT_RSP_TMF_FAILED;
	}
}

/**
 * srpt_build_tskmgmt_rsp - what the response to a task management function says
 * @ctx: the request
 * @rsp: filled in
 * @code: SRPT_RSP_*
 *
 * Response data is always valid: an initiator cannot tell success from failure without it.
 *
 * Context: any.
 */
static void srpt_build_tskmgmt_rsp(struct srpt_send_ioctx *ctx, struct srpt_rsp *rsp, u8 code)
{
	*rsp = (struct srpt_rsp) { .tag = ctx->iu.tag, .has_rsp_code = true, .rsp_code = code };
}

static void srpt_answer_tsk_mgmt(struct srpt_send_ioctx *ctx, u8 code)
{
	struct srpt_rsp rsp;

	srpt_build_tskmgmt_rsp(ctx, &rsp, code);
	srpt_set_cmd_state(ctx, SRPT_STATE_MGMT_RSP_SENT);
	srpt_queue_response(ctx, &rsp);
}

/* Hands a function to the core, for a session and a logical unit of it. */
static int srpt_submit_tmr(struct srpt_send_ioctx *ctx, struct se_session *sess, u64 lun,
			   u8 function, u64 tag)
{
	struct se_cmd *cmd = &ctx->cmd;
	int ret;

	memset(cmd, 0, sizeof(*cmd));
	cmd->tag = get_unaligned_be64(&ctx->iu.tag);
	ctx->in_core = true;
	ret = target_submit_tmr(cmd, sess, ctx->sense, lun, ctx, function, GFP_KERNEL, tag,
				TARGET_SCF_ACK_KREF);
	if (ret)
		ctx->in_core = false;
	return ret;
}

static void srpt_end_task_set(struct srpt_send_ioctx *ctx)
{
	struct srpt_task_set *set = ctx->task_set;
	u32 i;

	ctx->task_set = NULL;
	ctx->in_core = false;
	srpt_answer_tsk_mgmt(ctx, SRPT_RSP_NO_FAILURE);
	for (i = 0; i < set->count; i++)
		srpt_put_ch(set->task[i].ch);
	kvfree(set);
}

static void srpt_task_set_work(struct work_struct *work)
{
	struct srpt_task_set *set = container_of(work, struct srpt_task_set, work);
	const struct srpt_task *task;

	while (set->next < set->count) {
		task = &set->task[set->next++];
		if (!srpt_submit_tmr(set->ctx, task->ch->nexus->sess, task->lun,
				     TMR_ABORT_TASK, task->tag))
			return;
	}
	srpt_end_task_set(set->ctx);
}

/**
 * srpt_task_set_next - the core is done with one abort of a task set
 * @ctx: the function; its se_cmd is free again
 *
 * Context: any.
 */
void srpt_task_set_next(struct srpt_send_ioctx *ctx)
{
	queue_work(srpt_wq, &ctx->task_set->work);
}

static bool srpt_is_task(const struct srpt_send_ioctx *ctx)
{
	int state = atomic_read(&ctx->cmd_state);

	return ctx->in_core && (state == SRPT_STATE_NEW || state == SRPT_STATE_NEED_DATA ||
				state == SRPT_STATE_DATA_IN);
}

/* Whether @ctx is one of the tasks of logical unit @lun; of nexus @only if that is given. */
static bool srpt_in_task_set(const struct srpt_send_ioctx *ctx, const struct se_lun *lun,
			     const struct srpt_nexus *only)
{
	return srpt_is_task(ctx) && READ_ONCE(ctx->cmd.se_lun) == lun &&
	       (!only || ctx->ch->nexus == only);
}

/* Lists the tasks of a channel that belong to the set. Under srpt_lock. */
static void srpt_list_tasks(struct srpt_task_set *set, struct srpt_rdma_ch *ch,
			    const struct se_lun *lun, const struct srpt_nexus *only)
{
	struct srpt_send_ioctx *ctx;
	u32 i;

	lockdep_assert_held(&srpt_lock);
	for (i = 0; i < ch->send_ring->shape.count && set->count < set->room; i++) {
		ctx = srpt_ring_ctx(ch->send_ring, i);
		/* A channel without references has no tasks any more. */
		if (!srpt_in_task_set(ctx, lun, only) || !refcount_inc_not_zero(&ch->ref))
			continue;
		set->task[set->count++] = (struct srpt_task) {
			.ch = ch, .lun = ctx->cmd.orig_fe_lun, .tag = ctx->cmd.tag,
		};
	}
}

/* How many contexts the channels with a session have; with a @set, their tasks are listed. */
static u32 srpt_scan_channels(struct srpt_task_set *set, const struct se_lun *lun,
			      const struct srpt_nexus *only)
{
	struct srpt_device *sdev;
	struct srpt_rdma_ch *ch;
	u32 count = 0;

	lockdep_assert_held(&srpt_lock);
	list_for_each_entry(sdev, &srpt_devices, list) {
		list_for_each_entry(ch, &sdev->channels, dev_entry) {
			/* With a session it has its contexts. */
			if (!ch->nexus || !ch->send_ring)
				continue;
			count += ch->send_ring->shape.count;
			if (set)
				srpt_list_tasks(set, ch, lun, only);
		}
	}
	return count;
}

/* The logical unit that the initiator means, or NULL; only to be compared with. */
static const struct se_lun *srpt_lun_of(struct srpt_send_ioctx *ctx)
{
	struct se_node_acl *nacl = ctx->ch->nexus->sess->se_node_acl;
	u64 number = scsilun_to_int(&ctx->iu.lun);
	const struct se_lun *lun = NULL;
	struct se_dev_entry *deve;

	rcu_read_lock();
	hlist_for_each_entry_rcu(deve, &nacl->lun_entry_hlist, link)
		if (deve->mapped_lun == number)
			lun = deve->se_lun;
	rcu_read_unlock();
	return lun;
}

static struct srpt_task_set *srpt_make_task_set(const struct se_lun *lun,
						const struct srpt_nexus *only)
{
	struct srpt_task_set *set;
	u32 room;

	mutex_lock(&srpt_lock);
	room = srpt_scan_channels(NULL, lun, only);
	set = kvzalloc(struct_size(set, task, room), GFP_KERNEL);
	if (set) {
		set->room = room;
		INIT_WORK(&set->work, srpt_task_set_work);
		srpt_scan_channels(set, lun, only);
	}
	mutex_unlock(&srpt_lock);
	return set;
}

/* ABORT TASK SET ends the tasks of the nexus, CLEAR TASK SET those of every nexus (SAM 7). */
static void srpt_handle_task_set(struct srpt_send_ioctx *ctx, bool everybody)
{
	const struct se_lun *lun = srpt_lun_of(ctx);
	struct srpt_task_set *set;

	if (!lun) {
		srpt_answer_tsk_mgmt(ctx, SRPT_RSP_INVALID_FIELDS);
		return;
	}
	set = srpt_make_task_set(lun, everybody ? NULL : ctx->ch->nexus);
	if (!set) {
		srpt_answer_tsk_mgmt(ctx, SRPT_RSP_TMF_FAILED);
		return;
	}
	set->ctx = ctx;
	ctx->task_set = set;
	srpt_task_set_next(ctx);
}

/**
 * srpt_handle_tsk_mgmt - carry out an SRP_TSK_MGMT
 * @ctx: the request, parsed and valid
 *
 * Always answered with response data: by srpt_queue_tm_rsp() when the core has done it, or here
 * when the core cannot take it.
 *
 * Context: process; may sleep.
 */
void srpt_handle_tsk_mgmt(struct srpt_send_ioctx *ctx)
{
	u8 function = srpt_tmr_function(ctx->iu.tsk_mgmt_func);

	srpt_set_cmd_state(ctx, SRPT_STATE_MGMT);
	switch (function) {
	case TMR_UNKNOWN:
		srpt_answer_tsk_mgmt(ctx, SRPT_RSP_TMF_NOT_SUPPORTED);
		break;
	case TMR_ABORT_TASK_SET:
	case TMR_CLEAR_TASK_SET:
		srpt_handle_task_set(ctx, function == TMR_CLEAR_TASK_SET);
		break;
	default:
		if (srpt_submit_tmr(ctx, ctx->ch->nexus->sess, scsilun_to_int(&ctx->iu.lun),
				    function, get_unaligned_be64(&ctx->iu.task_tag)))
			srpt_answer_tsk_mgmt(ctx, SRPT_RSP_TMF_FAILED);
	}
}

/**
 * srpt_queue_tm_rsp - the target core has carried out a task management function
 * @cmd: its command
 *
 * For one of the aborts of a task set there is nothing to answer yet: our reference is dropped,
 * and the next one follows when the core has dropped its own.
 *
 * Context: process.
 */
void srpt_queue_tm_rsp(struct se_cmd *cmd)
{
	struct srpt_send_ioctx *ctx = srpt_cmd_ctx(cmd);

	if (ctx->task_set)
		target_put_sess_cmd(cmd);
	else
		srpt_answer_tsk_mgmt(ctx, srpt_tmr_code(cmd->se_tmr_req));
}
