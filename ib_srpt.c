// SPDX-License-Identifier: GPL-2.0-only
/*
 * ib_srpt: the module, and the RDMA devices that come and go under it.
 *
 * Copyright the ib_srpt authors
 *
 * A device is published last when it is added: first on srpt_devices, where a login finds it, then
 * to those who ask by device management, to IB/CM, and to events. When it is removed all that is
 * undone first; then its channels are closed and waited for. No failure of one port costs the
 * device.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/wait_bit.h>

#include "ib_srpt.h"

/* Protects srpt_devices, the channels on it, and the target ports. */
DEFINE_MUTEX(srpt_lock);
LIST_HEAD(srpt_devices);

/* Runs all that channels and shared receive queues have to do outside of events. */
struct workqueue_struct *srpt_wq;

static int srpt_set_size(const char *val, const struct kernel_param *kp, u32 least, u32 most)
{
	unsigned int size;
	int ret = kstrtouint(val, 0, &size);

	if (!ret && size >= least && size <= most) {
		*(unsigned int *)kp->arg = size;
		return 0;
	}
	pr_err("parameter %s must be a number from %u to %u\n", kp->name, least, most);
	return ret ?: -EINVAL;
}

static int srpt_set_req_size(const char *val, const struct kernel_param *kp)
{
	return srpt_set_size(val, kp, SRPT_MIN_IU_LEN, SRPT_MAX_IU_LEN);
}

static const struct kernel_param_ops srpt_req_size_ops = {
	.set = srpt_set_req_size,
	.get = param_get_uint,
};

unsigned int srp_max_req_size = SRPT_DEF_IU_LEN;
module_param_cb(srp_max_req_size, &srpt_req_size_ops, &srp_max_req_size, 0444);
MODULE_PARM_DESC(srp_max_req_size,
		 "Largest information unit that an initiator may send, in bytes.");

static int srpt_set_srq_size(const char *val, const struct kernel_param *kp)
{
	return srpt_set_size(val, kp, 16, 1U << 20);
}

static const struct kernel_param_ops srpt_srq_size_ops = {
	.set = srpt_set_srq_size,
	.get = param_get_uint,
};

unsigned int srpt_srq_size = 16384;
module_param_cb(srpt_srq_size, &srpt_srq_size_ops, &srpt_srq_size, 0444);
MODULE_PARM_DESC(srpt_srq_size, "Upper bound of a shared receive queue, in entries.");

/* 0 until a parameter or the first device sets it. */
static u64 srpt_guid;

static int srpt_set_guid(const char *val, const struct kernel_param *kp)
{
	u64 guid;
	int ret = srpt_parse_service_guid(&guid, val);

	if (ret) {
		pr_err("parameter srpt_service_guid must be up to 16 hex digits and not 0\n");
		return ret;
	}
	WRITE_ONCE(srpt_guid, srpt_legal_service_id(guid));
	return 0;
}

static int srpt_get_guid(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "0x%016llx\n", srpt_service_guid());
}

static const struct kernel_param_ops srpt_guid_ops = {
	.set = srpt_set_guid,
	.get = srpt_get_guid,
};

module_param_cb(srpt_service_guid, &srpt_guid_ops, NULL, 0444);
MODULE_PARM_DESC(srpt_service_guid,
		 "Service ID and IOC GUID, in hex; by default made from the first device's node GUID.");

/**
 * srpt_service_guid - the GUID that names this target in logins and in discovery
 *
 * Return: the GUID; 0 as long as there is neither a parameter nor a device.
 */
u64 srpt_service_guid(void)
{
	return READ_ONCE(srpt_guid);
}

/**
 * srpt_lookup_port - the port that a login came in by
 * @device: RDMA device
 * @port: port number
 *
 * Context: process; srpt_lock is held.
 * Return: the port, which stands as long as the lock is held or a channel counts at it; NULL if
 * the device is not known (yet, or any more).
 */
struct srpt_port *srpt_lookup_port(struct ib_device *device, u32 port)
{
	struct srpt_device *sdev;

	lockdep_assert_held(&srpt_lock);
	if (!rdma_is_port_valid(device, port))
		return NULL;
	list_for_each_entry(sdev, &srpt_devices, list)
		if (sdev->device == device)
			return &sdev->port[port - 1];
	return NULL;
}

/**
 * srpt_release_sport - close all channels of a port and wait until they are gone
 * @sport: port of a device that is no longer published
 *
 * Context: process; sleeps as long as the back ends need for the commands they have.
 */
static void srpt_release_sport(struct srpt_port *sport)
{
	srpt_close_port(sport, "device removed");
	wait_var_event(&sport->nr_channels, !atomic_read(&sport->nr_channels));
}

/* After these a port may have another name, other partitions or other capabilities. */
#define SRPT_PORT_EVENTS	(BIT(IB_EVENT_GID_CHANGE) | BIT(IB_EVENT_PKEY_CHANGE) |		\
				 BIT(IB_EVENT_LID_CHANGE) | BIT(IB_EVENT_SM_CHANGE) |		\
				 BIT(IB_EVENT_PORT_ERR) | BIT(IB_EVENT_PORT_ACTIVE) |		\
				 BIT(IB_EVENT_CLIENT_REREGISTER))

static void srpt_refresh_work(struct work_struct *work)
{
	srpt_refresh_port(container_of(work, struct srpt_port, refresh_work));
}

static void srpt_device_failed(struct srpt_device *sdev)
{
	u32 port;

	pr_err("%s: the device failed; its channels are closed\n", dev_name(&sdev->device->dev));
	rdma_for_each_port(sdev->device, port)
		srpt_close_port(&sdev->port[port - 1], "device failed");
}

/**
 * srpt_event_handler - an asynchronous event of a device or one of its ports
 * @handler: &srpt_device.handler
 * @event: the event
 *
 * Whatever changes about a port has the port refreshed, and leaves its channels alone: those whose
 * connection has not survived hear of it by their queue pairs. A device that has failed for good
 * loses its channels.
 *
 * Context: process (the RDMA core's event work queue).
 */
static void srpt_event_handler(struct ib_event_handler *handler, struct ib_event *event)
{
	struct srpt_device *sdev = container_of(handler, struct srpt_device, handler);
	u32 port = event->element.port_num;

	if (event->event == IB_EVENT_DEVICE_FATAL)
		srpt_device_failed(sdev);
	else if (SRPT_PORT_EVENTS & BIT(event->event) && rdma_is_port_valid(sdev->device, port))
		queue_work(srpt_wq, &sdev->port[port - 1].refresh_work);
	else
		pr_debug("%s: event %s\n", dev_name(&sdev->device->dev),
			 ib_event_msg(event->event));
}

/* Change IDs go on from the time of day, so that they differ from those before a reload. */
static void srpt_init_port(struct srpt_device *sdev, u32 port)
{
	struct srpt_port *sport = &sdev->port[port - 1];

	sport->sdev = sdev;
	sport->port = port;
	sport->change_id = ktime_get_real_seconds();
	INIT_WORK(&sport->refresh_work, srpt_refresh_work);
}

static struct srpt_device *srpt_alloc_device(struct ib_device *device)
{
	struct srpt_device *sdev;
	u32 port;

	sdev = kzalloc(struct_size(sdev, port, device->phys_port_cnt), GFP_KERNEL);
	if (!sdev)
		return NULL;
	sdev->device = device;
	mutex_init(&sdev->srq_lock);
	srpt_init_pool(&sdev->pool);
	INIT_LIST_HEAD(&sdev->channels);
	rdma_for_each_port(device, port)
		srpt_init_port(sdev, port);
	return sdev;
}

static void srpt_publish_device(struct srpt_device *sdev)
{
	mutex_lock(&srpt_lock);
	if (!srpt_guid)
		WRITE_ONCE(srpt_guid,
			   srpt_legal_service_id(be64_to_cpu(sdev->device->node_guid)));
	list_add_tail(&sdev->list, &srpt_devices);
	mutex_unlock(&srpt_lock);
}

static struct ib_client srpt_client;

/**
 * srpt_add_one - an RDMA device has come
 * @device: the device
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error; then nothing is left behind.
 */
static int srpt_add_one(struct ib_device *device)
{
	struct srpt_device *sdev;
	u32 port;
	int ret;

	sdev = srpt_alloc_device(device);
	if (!sdev)
		return -ENOMEM;
	sdev->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(sdev->pd)) {
		ret = PTR_ERR(sdev->pd);
		pr_err("%s: not used: no protection domain: %d\n", dev_name(&device->dev), ret);
		kfree(sdev);
		return ret;
	}
	ib_set_client_data(device, &srpt_client, sdev);
	srpt_publish_device(sdev);
	rdma_for_each_port(device, port)
		srpt_refresh_port(&sdev->port[port - 1]);
	srpt_listen_ib(sdev);
	INIT_IB_EVENT_HANDLER(&sdev->handler, device, srpt_event_handler);
	ib_register_event_handler(&sdev->handler);
	return 0;
}

/* Nothing refreshes the port any more, and nobody finds it. */
static void srpt_hide_port(struct srpt_port *sport)
{
	cancel_work_sync(&sport->refresh_work);
	srpt_unregister_mad_agent(sport);
}

/**
 * srpt_remove_one - an RDMA device goes
 * @device: the device
 * @client_data: the &struct srpt_device
 *
 * Context: process; sleeps until the device's channels are gone.
 */
static void srpt_remove_one(struct ib_device *device, void *client_data)
{
	struct srpt_device *sdev = client_data;
	u32 port;

	ib_unregister_event_handler(&sdev->handler);
	srpt_unlisten_ib(sdev);
	rdma_for_each_port(device, port)
		srpt_hide_port(&sdev->port[port - 1]);
	mutex_lock(&srpt_lock);
	list_del(&sdev->list);
	mutex_unlock(&srpt_lock);
	rdma_for_each_port(device, port)
		srpt_release_sport(&sdev->port[port - 1]);
	srpt_drop_device_srq(sdev, NULL);
	/* What the last channels and the queue still have to do after they let go. */
	flush_workqueue(srpt_wq);
	srpt_drain_pool(&sdev->pool);
	ib_dealloc_pd(sdev->pd);
	kfree(sdev);
}

static struct ib_client srpt_client = {
	.name	= KBUILD_MODNAME,
	.add	= srpt_add_one,
	.remove	= srpt_remove_one,
};

/**
 * srpt_init_module - load the module
 *
 * The fabric comes after the devices, so that whatever is configured finds its device; the
 * listener comes with the configuration.
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error.
 */
static int __init srpt_init_module(void)
{
	int ret;

	srpt_wq = alloc_workqueue("ib_srpt", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!srpt_wq)
		return -ENOMEM;
	ret = ib_register_client(&srpt_client);
	if (ret)
		goto destroy_wq;
	ret = srpt_register_configfs();
	if (ret)
		goto unregister_client;
	srpt_init_stats();
	return 0;

unregister_client:
	ib_unregister_client(&srpt_client);
destroy_wq:
	destroy_workqueue(srpt_wq);
	return ret;
}

static void __exit srpt_cleanup_module(void)
{
	srpt_exit_stats();
	srpt_listen(0);
	srpt_unregister_configfs();
	ib_unregister_client(&srpt_client);
	destroy_workqueue(srpt_wq);
}

MODULE_AUTHOR("the ib_srpt authors");
MODULE_DESCRIPTION("SCSI RDMA Protocol target");
MODULE_VERSION(SRPT_VERSION);
MODULE_LICENSE("GPL");

module_init(srpt_init_module);
module_exit(srpt_cleanup_module);
