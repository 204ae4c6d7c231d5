// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibloop: module parameters, load and unload.
 *
 * Copyright the ib_srpt authors
 */
#include <linux/module.h>
#include "ibloop.h"

struct lb_params lb_params = {
	.hcas = 1,
	.ports = 2,
	.guid = 0x00ffff0000000100ULL,
	.max_send_wr = LB_MAX_QP_WR,
	.max_send_sge = 32,
	.max_recv_sge = 32,
	.max_srq_wr = 8191,
};

module_param_named(hcas, lb_params.hcas, uint, 0444);
MODULE_PARM_DESC(hcas, "HCAs; with more than one, port n of HCA 0 is cabled to port n of HCA 1, and so on");
module_param_named(ports, lb_params.ports, uint, 0444);
MODULE_PARM_DESC(ports, "ports of an HCA; with one HCA, ports 1-2, 3-4, ... are cabled");
module_param_named(guid, lb_params.guid, ullong, 0444);
MODULE_PARM_DESC(guid, "node GUID of HCA 0; its ports get the next ones, each HCA 16 more");
module_param_named(max_send_wr, lb_params.max_send_wr, int, 0444);
MODULE_PARM_DESC(max_send_wr, "work requests that a queue holds at most");
module_param_named(max_send_sge, lb_params.max_send_sge, int, 0444);
MODULE_PARM_DESC(max_send_sge, "SGEs of a send at most");
module_param_named(max_recv_sge, lb_params.max_recv_sge, int, 0444);
MODULE_PARM_DESC(max_recv_sge, "SGEs of a receive at most");
module_param_named(max_srq_wr, lb_params.max_srq_wr, int, 0444);
MODULE_PARM_DESC(max_srq_wr, "receives that a shared receive queue holds at most");
module_param_named(no_srq, lb_params.no_srq, bool, 0444);
MODULE_PARM_DESC(no_srq, "no shared receive queues");

/* Sends of all queue pairs, and what a port does by itself. */
struct workqueue_struct *lb_wq;

static void lb_remove_all(void)
{
	unsigned int i;

	for (i = 0; i < lb_params.hcas; i++)
		lb_hca_remove(i);
}

static int lb_add_all(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < lb_params.hcas && !ret; i++)
		ret = lb_hca_add(i);
	return ret;
}

static int __init lb_init(void)
{
	int ret;

	lb_params.hcas = clamp(lb_params.hcas, 1U, LB_MAX_HCAS);
	lb_params.ports = clamp(lb_params.ports, 1U, LB_MAX_PORTS);
	lb_params.max_send_wr = clamp(lb_params.max_send_wr, 1, LB_MAX_QP_WR);
	lb_wq = alloc_workqueue("ibloop", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!lb_wq)
		return -ENOMEM;
	lb_knobs_init();
	ret = lb_add_all();
	if (!ret)
		return 0;
	lb_remove_all();
	lb_knobs_exit();
	destroy_workqueue(lb_wq);
	return ret;
}

static void __exit lb_exit(void)
{
	lb_remove_all();
	lb_knobs_exit();
	destroy_workqueue(lb_wq);
}

module_init(lb_init);
module_exit(lb_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("the ib_srpt authors");
MODULE_DESCRIPTION("Software InfiniBand HCA for tests, its ports cabled to each other");
