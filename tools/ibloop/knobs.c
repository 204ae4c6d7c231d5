// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibloop: knobs for tests, below /sys/kernel/debug/ibloop. README.md has the list.
 *
 * Copyright the ib_srpt authors
 */
#include <linux/debugfs.h>
#include <linux/uaccess.h>
#include "ibloop.h"

static struct dentry *lb_root;

/* --- plug, unplug ----------------------------------------------------------------------------- */

static int lb_plug(void *data, u64 index)
{
	return index < lb_params.hcas ? lb_hca_add(index) : -EINVAL;
}

static int lb_unplug(void *data, u64 index)
{
	if (index >= lb_params.hcas)
		return -EINVAL;
	lb_hca_remove(index);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(lb_plug_fops, NULL, lb_plug, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE(lb_unplug_fops, NULL, lb_unplug, "%llu\n");

/* --- portN/link ------------------------------------------------------------------------------- */

static int lb_link_get(void *data, u64 *up)
{
	*up = READ_ONCE(((struct lb_port *)data)->phys) == LB_PHYS_LINK_UP;
	return 0;
}

static int lb_link_set(void *data, u64 up)
{
	lb_port_pull(data, !up);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(lb_link_fops, lb_link_get, lb_link_set, "%llu\n");

/* --- portN/refuse_class ----------------------------------------------------------------------- */

static DEFINE_MUTEX(lb_hog_mutex);

static void lb_hog_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	ib_free_send_mad(wc->send_buf); /* nothing is ever sent */
}

static void lb_hog_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			    struct ib_mad_recv_wc *wc)
{
	ib_free_recv_mad(wc);
}

static void lb_unhog(struct lb_port *port)
{
	if (port->hog)
		ib_unregister_mad_agent(port->hog);
	port->hog = NULL;
	port->hog_class = 0;
}

/* Who comes second is refused, so be the first to register for the class. */
static int lb_hog(struct lb_port *port, u8 class)
{
	struct ib_mad_reg_req req = { .mgmt_class = class, .mgmt_class_version = 1 };
	struct ib_mad_agent *agent;

	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	set_bit(IB_MGMT_METHOD_SET, req.method_mask);
	agent = ib_register_mad_agent(&port->hca->rdi.ibdev, port->num, IB_QPT_GSI, &req, 0,
				      lb_hog_sent, lb_hog_received, NULL, 0);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	port->hog = agent;
	port->hog_class = class;
	return 0;
}

static int lb_refuse_get(void *data, u64 *class)
{
	*class = READ_ONCE(((struct lb_port *)data)->hog_class);
	return 0;
}

static int lb_refuse_set(void *data, u64 class)
{
	struct lb_port *port = data;
	int ret = 0;

	if (class > U8_MAX)
		return -EINVAL;
	mutex_lock(&lb_hog_mutex);
	lb_unhog(port);
	if (class)
		ret = lb_hog(port, class);
	mutex_unlock(&lb_hog_mutex);
	return ret;
}

DEFINE_DEBUGFS_ATTRIBUTE(lb_refuse_fops, lb_refuse_get, lb_refuse_set, "%llu\n");

/* --- event ------------------------------------------------------------------------------------ */

struct lb_event_name {
	const char *name;
	enum ib_event_type type;
};

static const struct lb_event_name lb_qp_events[] = {
	{ "fatal", IB_EVENT_QP_FATAL },
	{ "request", IB_EVENT_QP_REQ_ERR },
	{ "access", IB_EVENT_QP_ACCESS_ERR },
	{ "established", IB_EVENT_COMM_EST },
	{ "last-wqe", IB_EVENT_QP_LAST_WQE_REACHED },
	{ "migrated", IB_EVENT_PATH_MIG },
	{ }
};

static const struct lb_event_name lb_srq_events[] = {
	{ "limit", IB_EVENT_SRQ_LIMIT_REACHED },
	{ "error", IB_EVENT_SRQ_ERR },
	{ }
};

static const struct lb_event_name lb_port_events[] = {
	{ "error", IB_EVENT_PORT_ERR },
	{ "active", IB_EVENT_PORT_ACTIVE },
	{ "lid", IB_EVENT_LID_CHANGE },
	{ "pkey", IB_EVENT_PKEY_CHANGE },
	{ "sm", IB_EVENT_SM_CHANGE },
	{ "reregister", IB_EVENT_CLIENT_REREGISTER },
	{ "gid", IB_EVENT_GID_CHANGE },
	{ }
};

static int lb_event_type(const struct lb_event_name *names, const char *name)
{
	for (; names->name; names++)
		if (!strcmp(names->name, name))
			return names->type;
	return -EINVAL;
}

/* A queue pair by its number, with a reference; QP0 and QP1 are not for events. */
static struct rvt_qp *lb_get_qp(struct lb_hca *hca, u32 num)
{
	struct rvt_qp *qp = NULL;

	if (num <= 1)
		return NULL;
	rcu_read_lock();
	qp = rvt_lookup_qpn(&hca->rdi, &hca->ports[0].rvp, num);
	if (qp)
		rvt_get_qp(qp);
	rcu_read_unlock();
	return qp;
}

static int lb_event_qp(struct lb_hca *hca, u32 num, const char *name)
{
	int type = lb_event_type(lb_qp_events, name);
	struct rvt_qp *qp;

	if (type < 0)
		return type;
	qp = lb_get_qp(hca, num);
	if (!qp)
		return -ENOENT;
	if (type == IB_EVENT_QP_FATAL || type == IB_EVENT_QP_REQ_ERR ||
	    type == IB_EVENT_QP_ACCESS_ERR)
		lb_qp_error(qp, IB_WC_WR_FLUSH_ERR);
	lb_qp_raise(qp, type);
	rvt_put_qp(qp);
	return 0;
}

/* The queue is named by a queue pair that uses it, which keeps it alive. */
static int lb_event_srq(struct lb_hca *hca, u32 num, const char *name)
{
	struct ib_event event = { .device = &hca->rdi.ibdev };
	int type = lb_event_type(lb_srq_events, name), ret = -ENOENT;
	struct rvt_qp *qp;

	if (type < 0)
		return type;
	qp = lb_get_qp(hca, num);
	if (!qp)
		return ret;
	event.event = type;
	event.element.srq = qp->ibqp.srq;
	if (event.element.srq && event.element.srq->event_handler) {
		event.element.srq->event_handler(&event, event.element.srq->srq_context);
		ret = 0;
	}
	rvt_put_qp(qp);
	return ret;
}

static int lb_event_port(struct lb_hca *hca, u32 num, const char *name)
{
	int type = lb_event_type(lb_port_events, name);

	if (type < 0 || num < 1 || num > hca->nports)
		return -EINVAL;
	lb_port_event(&hca->ports[num - 1], type);
	return 0;
}

static int lb_event_device(struct lb_hca *hca)
{
	struct ib_event event = {
		.device = &hca->rdi.ibdev,
		.event = IB_EVENT_DEVICE_FATAL,
	};

	ib_dispatch_event(&event);
	return 0;
}

static int lb_event(struct lb_hca *hca, const char *line)
{
	char object[8] = "", name[16] = "";
	u32 num = 0;

	if (!strncmp(line, "device fatal", 12))
		return lb_event_device(hca);
	if (sscanf(line, "%7s %i %15s", object, (int *)&num, name) != 3)
		return -EINVAL;
	if (!strcmp(object, "qp"))
		return lb_event_qp(hca, num, name);
	if (!strcmp(object, "srq"))
		return lb_event_srq(hca, num, name);
	if (!strcmp(object, "port"))
		return lb_event_port(hca, num, name);
	return -EINVAL;
}

static ssize_t lb_event_write(struct file *file, const char __user *from, size_t count,
			      loff_t *pos)
{
	char line[64];
	int ret;

	if (count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, count))
		return -EFAULT;
	line[count] = 0;
	ret = lb_event(file_inode(file)->i_private, line);
	return ret ? ret : count;
}

static const struct file_operations lb_event_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = lb_event_write,
};

/* --- selftest --------------------------------------------------------------------------------- */

static int lb_selftest_set(void *data, u64 value)
{
	return lb_selftest(&((struct lb_hca *)data)->rdi.ibdev);
}

DEFINE_DEBUGFS_ATTRIBUTE(lb_selftest_fops, NULL, lb_selftest_set, "%llu\n");

/* --- Folders ---------------------------------------------------------------------------------- */

static void lb_knobs_of_faults(struct dentry *dir, struct lb_faults *faults)
{
	debugfs_create_u32("delay_us", 0600, dir, &faults->delay_us);
	debugfs_create_u32("retry_ms", 0600, dir, &faults->retry_ms);
	debugfs_create_u32("last_wqe", 0600, dir, &faults->last_wqe);
	debugfs_create_atomic_t("fail_sends", 0600, dir, &faults->fail_sends);
	debugfs_create_atomic_t("drop_send_wc", 0600, dir, &faults->drop_send_wc);
	debugfs_create_atomic_t("drop_recv_wc", 0600, dir, &faults->drop_recv_wc);
	debugfs_create_u32("mad_class", 0600, dir, &faults->mad_class);
	debugfs_create_u32("mad_attr", 0600, dir, &faults->mad_attr);
	debugfs_create_atomic_t("mad_skip", 0600, dir, &faults->mad_skip);
	debugfs_create_atomic_t("mad_drop", 0600, dir, &faults->mad_drop);
}

static void lb_knobs_of_port(struct dentry *parent, struct lb_port *port)
{
	struct dentry *dir;
	char name[16];

	snprintf(name, sizeof(name), "port%u", port->num);
	dir = debugfs_create_dir(name, parent);
	debugfs_create_file_unsafe("link", 0600, dir, port, &lb_link_fops);
	debugfs_create_file_unsafe("refuse_class", 0600, dir, port, &lb_refuse_fops);
	lb_knobs_of_faults(dir, &port->faults);
}

/**
 * lb_knobs_add() - make the folder of an HCA
 * @hca: the HCA
 */
void lb_knobs_add(struct lb_hca *hca)
{
	unsigned int i;

	hca->debugfs = debugfs_create_dir(dev_name(&hca->rdi.ibdev.dev), lb_root);
	debugfs_create_file("event", 0200, hca->debugfs, hca, &lb_event_fops);
	debugfs_create_file_unsafe("selftest", 0200, hca->debugfs, hca, &lb_selftest_fops);
	for (i = 0; i < hca->nports; i++)
		lb_knobs_of_port(hca->debugfs, &hca->ports[i]);
}

/**
 * lb_knobs_remove() - remove it, when nobody turns a knob there any more, and let go of MAD classes
 * @hca: the HCA
 */
void lb_knobs_remove(struct lb_hca *hca)
{
	unsigned int i;

	debugfs_remove(hca->debugfs);
	mutex_lock(&lb_hog_mutex);
	for (i = 0; i < hca->nports; i++)
		lb_unhog(&hca->ports[i]);
	mutex_unlock(&lb_hog_mutex);
}

/**
 * lb_knobs_init() - make the folder of the module
 */
void lb_knobs_init(void)
{
	lb_root = debugfs_create_dir("ibloop", NULL);
	debugfs_create_file_unsafe("plug", 0200, lb_root, NULL, &lb_plug_fops);
	debugfs_create_file_unsafe("unplug", 0200, lb_root, NULL, &lb_unplug_fops);
}

/**
 * lb_knobs_exit() - remove it
 */
void lb_knobs_exit(void)
{
	debugfs_remove(lb_root);
}
