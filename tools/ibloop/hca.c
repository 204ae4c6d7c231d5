// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibloop: an HCA comes and goes; what it offers.
 *
 * Copyright the ib_srpt authors
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/utsname.h>
#include "ibloop.h"

/* Guards which HCAs there are, their cables, and the MAD agents of knobs. */
DEFINE_MUTEX(lb_hca_mutex);
static struct lb_hca *lb_hcas[LB_MAX_HCAS];

/* rdmavt prints its messages about a PCI device; it uses nothing else of it. */
static struct pci_dev lb_no_pci_dev = { .dev = { .init_name = "ibloop" } };

#define LB_ON_CONNECTED	(BIT(IB_QPT_RC) | BIT(IB_QPT_UC))
#define LB_ON_ANY	(LB_ON_CONNECTED | BIT(IB_QPT_UD) | BIT(IB_QPT_GSI) | BIT(IB_QPT_SMI))

static const struct rvt_operation_params lb_post_parms[RVT_OPERATION_MAX] = {
	[IB_WR_SEND] = { sizeof(struct ib_send_wr), LB_ON_ANY },
	[IB_WR_SEND_WITH_IMM] = { sizeof(struct ib_send_wr), LB_ON_ANY },
	[IB_WR_SEND_WITH_INV] = { sizeof(struct ib_send_wr), BIT(IB_QPT_RC) },
	[IB_WR_RDMA_WRITE] = { sizeof(struct ib_rdma_wr), LB_ON_CONNECTED },
	[IB_WR_RDMA_WRITE_WITH_IMM] = { sizeof(struct ib_rdma_wr), LB_ON_CONNECTED },
	[IB_WR_RDMA_READ] = { sizeof(struct ib_rdma_wr), BIT(IB_QPT_RC), RVT_OPERATION_ATOMIC },
	[IB_WR_ATOMIC_CMP_AND_SWP] = { sizeof(struct ib_atomic_wr), BIT(IB_QPT_RC),
				       RVT_OPERATION_ATOMIC | RVT_OPERATION_ATOMIC_SGE },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = { sizeof(struct ib_atomic_wr), BIT(IB_QPT_RC),
					 RVT_OPERATION_ATOMIC | RVT_OPERATION_ATOMIC_SGE },
	[IB_WR_REG_MR] = { sizeof(struct ib_reg_wr), LB_ON_CONNECTED, RVT_OPERATION_LOCAL },
	[IB_WR_LOCAL_INV] = { sizeof(struct ib_send_wr), LB_ON_CONNECTED, RVT_OPERATION_LOCAL },
};

static const enum ib_wc_opcode lb_wc_opcode[] = {
	[IB_WR_SEND] = IB_WC_SEND,
	[IB_WR_SEND_WITH_IMM] = IB_WC_SEND,
	[IB_WR_SEND_WITH_INV] = IB_WC_SEND,
	[IB_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_READ] = IB_WC_RDMA_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP] = IB_WC_COMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD] = IB_WC_FETCH_ADD,
	[IB_WR_REG_MR] = IB_WC_REG_MR,
	[IB_WR_LOCAL_INV] = IB_WC_LOCAL_INV,
};

/* Queues of the limit that was asked for, but for the RDMA core's own: QP0 and QP1 need theirs. */
static int lb_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	bool special = attr->qp_type == IB_QPT_SMI || attr->qp_type == IB_QPT_GSI;
	u32 most = lb_params.max_send_wr;

	if (!special && (attr->cap.max_send_wr > most ||
			 (!attr->srq && attr->cap.max_recv_wr > most)))
		return -EINVAL;
	return lb_ibdev_hca(ibqp->device)->rvt_create_qp(ibqp, attr, udata);
}

static int lb_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			   struct ib_udata *udata)
{
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;
	*attr = ib_to_rvt(ibdev)->dparms.props;
	attr->max_qp_wr = lb_params.max_send_wr;
	return 0;
}

/*
 * Called when rdmavt has put its verbs in and before anybody can use them: some go through ours.
 * (rdmavt exports none, and those that a driver sets beforehand it leaves alone for good.)
 */
static int lb_enable(struct ib_device *ibdev)
{
	struct lb_hca *hca = lb_ibdev_hca(ibdev);

	hca->rvt_create_qp = ibdev->ops.create_qp;
	ibdev->ops.create_qp = lb_create_qp;
	hca->rvt_post_send = ibdev->ops.post_send;
	ibdev->ops.post_send = lb_post_send;
	hca->rvt_create_srq = ibdev->ops.create_srq;
	ibdev->ops.create_srq = lb_params.no_srq ? NULL : lb_create_srq;
	return 0;
}

static const struct attribute_group *lb_port_groups[] = { NULL };

/* The driver ID decides which library drives the HCA from userspace: hfi1's, a plain rdmavt one. */
static const struct ib_device_ops lb_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_HFI1,
	.enable_driver = lb_enable,
	.modify_device = lb_modify_device,
	.modify_srq = lb_modify_srq,
	.port_groups = lb_port_groups,
	.process_mad = lb_process_mad,
	.query_device = lb_query_device,
};

static struct pci_dev *lb_get_pci_dev(struct rvt_dev_info *rdi)
{
	return &lb_no_pci_dev;
}

static int lb_comp_vector_cpu(struct rvt_dev_info *rdi, int vector)
{
	return cpumask_nth(vector % num_online_cpus(), cpu_online_mask);
}

static void lb_device_attr(struct ib_device_attr *a, __be64 guid)
{
	a->device_cap_flags = IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_BAD_QKEY_CNTR |
			      IB_DEVICE_SHUTDOWN_PORT | IB_DEVICE_SYS_IMAGE_GUID |
			      IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_PORT_ACTIVE_EVENT |
			      IB_DEVICE_SRQ_RESIZE | IB_DEVICE_MEM_MGT_EXTENSIONS;
	a->sys_image_guid = guid;
	a->vendor_id = LB_VENDOR_ID;
	a->vendor_part_id = LB_DEVICE_ID;
	a->page_size_cap = PAGE_SIZE;
	a->max_mr_size = U64_MAX;
	a->max_fast_reg_page_list_len = 512;
	a->max_qp = 16384;
	a->max_qp_wr = LB_MAX_QP_WR;
	a->max_send_sge = lb_params.max_send_sge;
	a->max_recv_sge = lb_params.max_recv_sge;
	a->max_sge_rd = lb_params.max_send_sge;
	a->max_cq = 65536;
	a->max_cqe = 196607;
	a->max_mr = 65536;
	a->max_pd = 65535;
	a->max_ah = 65535;
	a->max_qp_rd_atom = 16;
	a->max_res_rd_atom = 16 * 16384;
	a->max_qp_init_rd_atom = 255;
	a->atomic_cap = IB_ATOMIC_GLOB;
	a->max_srq = lb_params.no_srq ? 0 : 1024;
	a->max_srq_wr = lb_params.no_srq ? 0 : lb_params.max_srq_wr;
	a->max_srq_sge = lb_params.no_srq ? 0 : lb_params.max_recv_sge;
	a->max_pkeys = LB_PKEYS;
	a->max_mcast_grp = 1024;
	a->max_mcast_qp_attach = 64;
	a->max_total_mcast_qp_attach = 1024 * 64;
}

static void lb_driver_params(struct lb_hca *hca)
{
	struct rvt_driver_params *d = &hca->rdi.dparms;

	lb_device_attr(&d->props, hca->rdi.ibdev.node_guid);
	d->qp_table_size = 256;
	d->lkey_table_size = 16;
	d->qpn_start = 1;
	d->qpn_inc = 1;
	d->qos_shift = 1;
	d->qpn_res_start = RVT_KDETH_QP_BASE;
	d->qpn_res_end = RVT_AIP_QP_MAX;
	d->max_rdma_atomic = 16;
	d->psn_mask = 0xffffff;
	d->psn_modify_mask = 0xffffff;
	d->psn_shift = 8;
	d->nports = hca->nports;
	d->npkeys = LB_PKEYS;
	d->node = numa_node_id();
	d->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	d->max_mad_size = IB_MGMT_MAD_SIZE;
}

static void lb_driver_calls(struct rvt_driver_provided *f)
{
	f->get_pci_dev = lb_get_pci_dev;
	f->comp_vect_cpu_lookup = lb_comp_vector_cpu;
	f->get_guid_be = lb_get_guid_be;
	f->query_port_state = lb_query_port;
	f->shut_down_port = lb_shut_down_port;
	f->cap_mask_chg = lb_cap_mask_changed;
	lb_qp_driver(f);
}

static void lb_describe(struct lb_hca *hca)
{
	struct ib_device *ibdev = &hca->rdi.ibdev;

	dev_set_name(&ibdev->dev, "ibloop%u", hca->index);
	ibdev->dev.parent = &hca->parent->dev;
	ibdev->node_guid = cpu_to_be64(lb_params.guid + 16 * hca->index);
	ibdev->phys_port_cnt = hca->nports;
	ibdev->num_comp_vectors = num_online_cpus();
	snprintf(ibdev->node_desc, sizeof(ibdev->node_desc), "%.40s ibloop%u",
		 init_utsname()->nodename, hca->index);
	ib_set_device_ops(ibdev, &lb_dev_ops);
	hca->rdi.post_parms = lb_post_parms;
	hca->rdi.wc_opcode = lb_wc_opcode;
	lb_driver_params(hca);
	lb_driver_calls(&hca->rdi.driver_f);
}

static struct lb_hca *lb_hca_alloc(unsigned int index)
{
	struct rvt_dev_info *rdi;
	struct lb_hca *hca;
	unsigned int i;

	rdi = rvt_alloc_device(sizeof(*hca), lb_params.ports);
	if (!rdi)
		return NULL;
	hca = lb_rdi_hca(rdi);
	hca->index = index;
	hca->nports = lb_params.ports;
	hca->parent = platform_device_register_simple("ibloop", index, NULL, 0);
	if (IS_ERR(hca->parent)) {
		rvt_dealloc_device(rdi);
		return NULL;
	}
	lb_describe(hca);
	for (i = 0; i < hca->nports; i++)
		lb_port_init(hca, i + 1);
	return hca;
}

static void lb_hca_free(struct lb_hca *hca)
{
	struct platform_device *parent = hca->parent;

	rvt_dealloc_device(&hca->rdi);
	platform_device_unregister(parent);
}

/* Which port is at the other end of this one's cable? */
static struct lb_port *lb_other_end(struct lb_port *port)
{
	struct lb_hca *hca = port->hca;
	unsigned int other = (port->num - 1) ^ 1;

	if (lb_params.hcas > 1) {
		hca = lb_hcas[hca->index ^ 1];
		other = port->num - 1;
	}
	return hca && other < hca->nports ? &hca->ports[other] : NULL;
}

static void lb_hca_cable(struct lb_hca *hca)
{
	struct lb_port *peer;
	unsigned int i;

	for (i = 0; i < hca->nports; i++) {
		peer = lb_other_end(&hca->ports[i]);
		if (peer)
			lb_port_connect(&hca->ports[i], peer);
	}
}

static void lb_hca_uncable(struct lb_hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->nports; i++)
		lb_port_disconnect(&hca->ports[i]);
	synchronize_rcu(); /* sends that found a port of this HCA: they hold a queue pair now */
}

/**
 * lb_hca_add() - plug an HCA in
 * @index: its number; an HCA that is there already stays
 *
 * Context: process context; consumers are told.
 * Return: 0 or a negative error.
 */
int lb_hca_add(unsigned int index)
{
	struct lb_hca *hca;
	int ret = 0;

	mutex_lock(&lb_hca_mutex);
	if (lb_hcas[index])
		goto out;
	hca = lb_hca_alloc(index);
	if (!hca) {
		ret = -ENOMEM;
		goto out;
	}
	ret = rvt_register_device(&hca->rdi);
	if (ret) {
		lb_hca_free(hca);
		goto out;
	}
	lb_hcas[index] = hca;
	lb_hca_cable(hca);
	lb_knobs_add(hca);
out:
	mutex_unlock(&lb_hca_mutex);
	return ret;
}

/**
 * lb_hca_remove() - pull an HCA out, also while it is in use
 * @index: its number; nothing happens if it is not there
 *
 * Context: process context; returns when consumers have let go of it.
 */
void lb_hca_remove(unsigned int index)
{
	struct lb_hca *hca;
	unsigned int i;

	mutex_lock(&lb_hca_mutex);
	hca = lb_hcas[index];
	if (!hca)
		goto out;
	lb_hcas[index] = NULL;
	lb_knobs_remove(hca);
	lb_hca_uncable(hca);
	for (i = 0; i < hca->nports; i++)
		lb_port_leave(&hca->ports[i]);
	rvt_unregister_device(&hca->rdi);
	lb_hca_free(hca);
out:
	mutex_unlock(&lb_hca_mutex);
}
