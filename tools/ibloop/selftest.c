// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibloop: a look at what user space cannot reach: shared receive queues of the kernel get another
 * size while receives are posted.
 *
 * Copyright the ib_srpt authors
 */
#include "ibloop.h"

/* Post @n receives. Returns how many were taken. */
static int lb_test_post(struct ib_srq *srq, int n)
{
	struct ib_recv_wr wr = {};
	int i;

	for (i = 0; i < n; i++)
		if (ib_post_srq_recv(srq, &wr, NULL))
			break;
	return i;
}

static int lb_test_resize(struct ib_srq *srq, u32 size)
{
	struct ib_srq_attr attr = { .max_wr = size };

	return ib_modify_srq(srq, &attr, IB_SRQ_MAX_WR);
}

static bool lb_test_size_is(struct ib_srq *srq, u32 size)
{
	struct ib_srq_attr attr;

	return !ib_query_srq(srq, &attr) && attr.max_wr == size;
}

/* Ten of sixteen posted: eight are too few, twelve take two more, twenty another eight. */
static int lb_test_sizes(struct ib_srq *srq)
{
	if (!lb_test_size_is(srq, 16) || lb_test_post(srq, 10) != 10)
		return -EILSEQ;
	if (!lb_test_resize(srq, 8) || !lb_test_resize(srq, lb_params.max_srq_wr + 1))
		return -EILSEQ;
	if (lb_test_resize(srq, 12) || !lb_test_size_is(srq, 12) || lb_test_post(srq, 9) != 2)
		return -EILSEQ;
	if (lb_test_resize(srq, 20) || !lb_test_size_is(srq, 20) || lb_test_post(srq, 9) != 8)
		return -EILSEQ;
	return 0;
}

/**
 * lb_selftest() - resize a shared receive queue of the kernel
 * @ibdev: the HCA
 *
 * Context: process context.
 * Return: 0, -EILSEQ if something is not as it should be, or another negative error.
 */
int lb_selftest(struct ib_device *ibdev)
{
	struct ib_srq_init_attr attr = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.srq_type = IB_SRQT_BASIC,
	};
	struct ib_pd *pd = ib_alloc_pd(ibdev, 0);
	struct ib_srq *srq;
	int ret;

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	srq = ib_create_srq(pd, &attr);
	if (IS_ERR(srq)) {
		ib_dealloc_pd(pd);
		return PTR_ERR(srq);
	}
	ret = lb_test_sizes(srq);
	ib_destroy_srq(srq);
	ib_dealloc_pd(pd);
	return ret;
}
