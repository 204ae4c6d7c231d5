// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibloop: shared receive queues. rdmavt's are resized by exchanging their memory, without care for
 * who is just posting and with a lock of the old memory taken and of the new one released. The
 * kernel's queues therefore have memory for the greatest size from the beginning, and are resized
 * where they are. Those of user space keep rdmavt's layout, which their library knows, and size.
 *
 * Copyright the ib_srpt authors
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "ibloop.h"

/**
 * lb_create_srq() - the verb
 * @ibsrq: the queue
 * @attr: what is wanted
 * @udata: NULL for the kernel's queues
 *
 * Context: process context.
 * Return: 0 or a negative error.
 */
int lb_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct lb_hca *hca = lb_ibdev_hca(ibsrq->device);
	u32 wanted = attr->attr.max_wr, most = hca->rdi.dparms.props.max_srq_wr;
	int ret;

	if (udata)
		return hca->rvt_create_srq(ibsrq, attr, udata);
	if (!wanted || wanted > most)
		return -EINVAL;
	attr->attr.max_wr = most;
	ret = hca->rvt_create_srq(ibsrq, attr, NULL);
	attr->attr.max_wr = wanted;
	if (!ret)
		ibsrq_to_rvtsrq(ibsrq)->rq.size = wanted + 1;
	return ret;
}

static size_t lb_rwqe_bytes(struct rvt_rq *rq)
{
	return sizeof(struct rvt_rwqe) + rq->max_sge * sizeof(struct ib_sge);
}

/* Move what is posted to the beginning, by way of @spare, and go on with the new size. */
static void lb_srq_move(struct rvt_rq *rq, u32 posted, u32 size, void *spare)
{
	size_t bytes = lb_rwqe_bytes(rq);
	struct rvt_krwq *kwq = rq->kwq;
	u32 i, at = kwq->tail;

	for (i = 0; i < posted; i++) {
		memcpy(spare + i * bytes, rvt_get_rwqe_ptr(rq, at), bytes);
		at = at + 1 < rq->size ? at + 1 : 0;
	}
	memcpy(kwq->curr_wq, spare, posted * bytes);
	rq->size = size;
	kwq->tail = 0;
	kwq->head = posted;
	kwq->count = posted;
}

static int lb_srq_resize(struct rvt_srq *srq, u32 size, u32 limit)
{
	struct rvt_rq *rq = &srq->rq;
	struct rvt_krwq *kwq = rq->kwq;
	int ret = -EINVAL;
	void *spare;
	u32 posted;

	spare = kvcalloc(lb_params.max_srq_wr + 1, lb_rwqe_bytes(rq), GFP_KERNEL);
	if (!spare)
		return -ENOMEM;
	spin_lock_irq(&kwq->p_lock);
	spin_lock(&kwq->c_lock);
	posted = rvt_get_rq_count(rq, kwq->head, kwq->tail);
	if (posted < size && limit < size) {
		lb_srq_move(rq, posted, size, spare);
		srq->limit = limit;
		ret = 0;
	}
	spin_unlock(&kwq->c_lock);
	spin_unlock_irq(&kwq->p_lock);
	kvfree(spare);
	return ret;
}

static int lb_srq_arm(struct rvt_srq *srq, u32 limit)
{
	struct rvt_krwq *kwq = srq->rq.kwq;
	int ret = -EINVAL;

	spin_lock_irq(&kwq->c_lock);
	if (limit < srq->rq.size) {
		srq->limit = limit;
		ret = 0;
	}
	spin_unlock_irq(&kwq->c_lock);
	return ret;
}

/**
 * lb_modify_srq() - the verb
 * @ibsrq: the queue
 * @attr: what is wanted
 * @mask: which of it
 * @udata: NULL for the kernel's queues
 *
 * Context: process context.
 * Return: 0 or a negative error; -EOPNOTSUPP for another size of a queue of user space.
 */
int lb_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		  struct ib_udata *udata)
{
	struct rvt_srq *srq = ibsrq_to_rvtsrq(ibsrq);

	if (!(mask & IB_SRQ_MAX_WR))
		return mask & IB_SRQ_LIMIT ? lb_srq_arm(srq, attr->srq_limit) : 0;
	if (srq->ip)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > lb_params.max_srq_wr)
		return -EINVAL;
	return lb_srq_resize(srq, attr->max_wr + 1,
			     mask & IB_SRQ_LIMIT ? attr->srq_limit : srq->limit);
}
