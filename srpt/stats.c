// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an operator sees in numbers: counters of a session, states of channels, latencies.
 *
 * Copyright the ib_srpt authors
 *
 * Counters are kept by those who know (&struct srpt_counters) and read here without a lock, since
 * one that is off by one for a moment hurts nobody.
 *
 * How long a command takes is measured only while somebody has the file "latency" open: a static
 * key keeps the code out of the way at other times. A command that was received before the
 * measurement began has an old time stamp, or none, and does not count.
 */
#include <linux/debugfs.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

#include "ib_srpt.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

DEFINE_STATIC_KEY_FALSE(srpt_latency_key);

/* Readers of the file "latency", and since when there are any, ns; under srpt_readers_lock. */
static DEFINE_MUTEX(srpt_readers_lock);
static u32 srpt_readers;
static u64 srpt_readers_since;

static struct dentry *srpt_debugfs;

/* The bucket of @ns: 0 below 2^10, then four for each doubling; the last one is open. */
static u32 srpt_bucket(u64 ns)
{
	u32 octave = ns ? fls64(ns) - 1 : 0;

	if (octave < 10)
		return 0;
	return min_t(u32, 1 + (octave - 10) * 4 + ((ns >> (octave - 2)) & 3),
		     SRPT_LATENCY_BUCKETS - 1);
}

/* Where a bucket begins, in ns. */
static u64 srpt_bucket_start(u32 bucket)
{
	return bucket ? (4ULL + (bucket - 1) % 4) << ((bucket - 1) / 4 + 8) : 0;
}

static enum srpt_latency_kind srpt_latency_kind(const struct srpt_iu *iu)
{
	if (iu->in.kind != SRPT_BUF_NONE)
		return SRPT_LATENCY_READ;
	return iu->out.kind != SRPT_BUF_NONE ? SRPT_LATENCY_WRITE : SRPT_LATENCY_OTHER;
}

/**
 * srpt_count_latency - a command is over: count how long it took, if somebody measures
 * @ctx: request whose response has left
 *
 * Context: any.
 */
void srpt_count_latency(struct srpt_send_ioctx *ctx)
{
	u64 now;

	if (!static_branch_unlikely(&srpt_latency_key))
		return;
	now = ktime_get_ns();
	if (ctx->iu.opcode == SRP_CMD && ctx->arrived >= READ_ONCE(srpt_readers_since))
		this_cpu_inc(ctx->ch->tpg->latencies->count[srpt_latency_kind(&ctx->iu)]
							   [srpt_bucket(now - ctx->arrived)]);
}

static u64 srpt_sum_bucket(struct srpt_tpg *tpg, u32 kind, u32 bucket)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(tpg->latencies, cpu)->count[kind][bucket]);
	return sum;
}

static void srpt_print_word(struct seq_file *m, const char *key, const char *word)
{
	seq_printf(m, "%s=", key);
	seq_escape(m, word, " \t\n\\");
	seq_putc(m, ' ');
}

static void srpt_print_tpg(struct seq_file *m, struct srpt_tpg *tpg)
{
	srpt_print_word(m, "target", tpg->tport->text);
	srpt_print_word(m, "group", config_item_name(&tpg->tpg.tpg_group.cg_item));
}

/**
 * srpt_print_tpg_latencies - print how long the commands of a portal group took
 * @m: where to
 * @tpg: portal group
 *
 * A line for each kind, with the number of commands that took at least so many ns, and less than
 * the next larger bucket's.
 *
 * Context: process; srpt_lock is held.
 */
void srpt_print_tpg_latencies(struct seq_file *m, struct srpt_tpg *tpg)
{
	static const char *const kinds[] = { "read", "write", "other" };
	u32 kind, bucket;
	u64 count;

	for (kind = 0; kind < SRPT_LATENCY_KINDS; kind++) {
		srpt_print_tpg(m, tpg);
		seq_printf(m, "kind=%s", kinds[kind]);
		for (bucket = 0; bucket < SRPT_LATENCY_BUCKETS; bucket++) {
			count = srpt_sum_bucket(tpg, kind, bucket);
			if (count)
				seq_printf(m, " %llu:%llu", srpt_bucket_start(bucket), count);
		}
		seq_putc(m, '\n');
	}
}

static int srpt_latency_open(struct inode *inode, struct file *file)
{
	int ret = single_open(file, srpt_print_latencies, NULL);

	if (ret)
		return ret;
	mutex_lock(&srpt_readers_lock);
	if (!srpt_readers++) {
		WRITE_ONCE(srpt_readers_since, ktime_get_ns());
		static_branch_enable(&srpt_latency_key);
	}
	mutex_unlock(&srpt_readers_lock);
	return 0;
}

static int srpt_latency_release(struct inode *inode, struct file *file)
{
	mutex_lock(&srpt_readers_lock);
	if (!--srpt_readers)
		static_branch_disable(&srpt_latency_key);
	mutex_unlock(&srpt_readers_lock);
	return single_release(inode, file);
}

static const struct file_operations srpt_latency_fops = {
	.owner		= THIS_MODULE,
	.open		= srpt_latency_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= srpt_latency_release,
};

/* The counters by name; one list for debugfs and configfs. */
#define SRPT_COUNTERS(x)								\
	x(requests) x(tsk_mgmt) x(imm_cmds) x(bytes_in) x(bytes_out) x(parked)		\
	x(sq_waits) x(ext_tables) x(errors) x(refused) x(silent) x(bad_cmds)		\
	x(bad_ius) x(stray_answers) x(floods) x(cred_reqs) x(cred_rsps)

#define SRPT_PRINT_COUNTER(_name)							\
	seq_printf(m, " " #_name "=%llu", READ_ONCE(ch->counters._name));

static const char *srpt_state_name(const struct srpt_rdma_ch *ch)
{
	static const char *const names[] = {
		[SRPT_CH_LOGIN] = "login",
		[SRPT_CH_CONNECTING] = "connecting",
		[SRPT_CH_LIVE] = "live",
		[SRPT_CH_CLOSING] = "closing",
	};

	return names[READ_ONCE(ch->state)];
}

static void srpt_print_channel(struct seq_file *m, const struct srpt_rdma_ch *ch)
{
	seq_printf(m, "id=%u state=%s device=%s port=%u ", ch->id, srpt_state_name(ch),
		   dev_name(&ch->sdev->device->dev), ch->sport->port);
	srpt_print_tpg(m, ch->tpg);
	srpt_print_word(m, "acl", ch->acl);
	srpt_print_word(m, "initiator", ch->name);
	seq_printf(m, "i_port_id=0x%16phN ", ch->login.i_port_id);
	seq_printf(m, "req_lim=%u credit=%d owed=%u sq_size=%u sq_free=%d srq=%d", ch->req_lim,
		   READ_ONCE(ch->credit), READ_ONCE(ch->owed), ch->sq_size,
		   READ_ONCE(ch->sq_avail), !!ch->srq);
	SRPT_COUNTERS(SRPT_PRINT_COUNTER)
	seq_putc(m, '\n');
}

static int srpt_channels_show(struct seq_file *m, void *unused)
{
	struct srpt_device *sdev;
	struct srpt_rdma_ch *ch;

	mutex_lock(&srpt_lock);
	list_for_each_entry(sdev, &srpt_devices, list)
		list_for_each_entry(ch, &sdev->channels, dev_entry)
			srpt_print_channel(m, ch);
	mutex_unlock(&srpt_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(srpt_channels);

/* Sums up a counter of the channels that an ACL admitted. */
static ssize_t srpt_show_counter(struct config_item *item, char *page, size_t offset)
{
	struct srpt_node_acl *sacl = container_of(to_config_group(item), struct srpt_node_acl,
						  stats);
	struct srpt_device *sdev;
	struct srpt_rdma_ch *ch;
	u64 sum = 0;

	mutex_lock(&srpt_lock);
	list_for_each_entry(sdev, &srpt_devices, list)
		list_for_each_entry(ch, &sdev->channels, dev_entry)
			if (srpt_uses_acl(ch, &sacl->nacl))
				sum += READ_ONCE(*(u64 *)((char *)&ch->counters + offset));
	mutex_unlock(&srpt_lock);
	return sysfs_emit(page, "%llu\n", sum);
}

#define SRPT_COUNTER_ATTR(_name)							\
static ssize_t srpt_stat_##_name##_show(struct config_item *item, char *page)		\
{											\
	return srpt_show_counter(item, page, offsetof(struct srpt_counters, _name));	\
}											\
CONFIGFS_ATTR_RO(srpt_stat_, _name);

#define SRPT_COUNTER_REF(_name) &srpt_stat_attr_##_name,

SRPT_COUNTERS(SRPT_COUNTER_ATTR)

static struct configfs_attribute *srpt_stat_attrs[] = {
	SRPT_COUNTERS(SRPT_COUNTER_REF)
	NULL
};

static const struct config_item_type srpt_stat_type = {
	.ct_attrs	= srpt_stat_attrs,
	.ct_owner	= THIS_MODULE,
};

/**
 * srpt_add_acl_stats - give an ACL its counters: fabric_statistics/session
 * @sacl: ACL that is being made
 *
 * The core removes them with the ACL.
 *
 * Context: process.
 */
void srpt_add_acl_stats(struct srpt_node_acl *sacl)
{
	config_group_init_type_name(&sacl->stats, "session", &srpt_stat_type);
	configfs_add_default_group(&sacl->stats, &sacl->nacl.acl_fabric_stat_group);
}

/**
 * srpt_init_stats - make the files below /sys/kernel/debug/ib_srpt
 *
 * Nothing depends on them, so that their absence is no failure.
 *
 * Context: process.
 */
void srpt_init_stats(void)
{
	srpt_debugfs = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("channels", 0400, srpt_debugfs, NULL, &srpt_channels_fops);
	debugfs_create_file("latency", 0400, srpt_debugfs, NULL, &srpt_latency_fops);
}

/**
 * srpt_exit_stats - remove what srpt_init_stats() made
 *
 * Context: process; waits for those who read.
 */
void srpt_exit_stats(void)
{
	debugfs_remove(srpt_debugfs);
}
