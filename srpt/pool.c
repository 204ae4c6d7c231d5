// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data buffers of medium accesses, kept between commands.
 *
 * Copyright the ib_srpt authors
 *
 * The target core allocates the pages of each command anew, one by one, and on kernels that clear
 * what they allocate each of them costs more than the rest of the command. So each device keeps
 * those that were used last, and hands them out again: single pages for small commands, 64 KiB
 * pieces for larger ones, which need fewer scatter entries and work requests besides.
 *
 * What nobody needed for a second is given back to the system. Buffers are not cleared: a medium
 * access fills what it returns, and only medium accesses get them. When there is no memory for a
 * piece the core is left to find the pages.
 *
 * A page that somebody else still has a reference to is not kept: siw sends without copying and
 * completes when TCP has the pages, not when they have left.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "ib_srpt.h"

/* Pages of a large piece, as a power of two; commands of a quarter of it and more get such. */
#define SRPT_PIECE_ORDER	4U
#define SRPT_PIECE_SIZE		((u32)PAGE_SIZE << SRPT_PIECE_ORDER)
/* Most bytes that the pool of a device keeps. */
#define SRPT_POOL_MAX		(64U << 20)

static void srpt_trim_work(struct work_struct *work)
{
	struct srpt_pool *pool = container_of(work, struct srpt_pool, trim.work);
	struct page *page, *next;
	LIST_HEAD(drop);
	int i;

	spin_lock_irq(&pool->lock);
	for (i = 0; i < SRPT_POOL_KINDS; i++) {
		for (; pool->idle[i]; pool->idle[i]--, pool->count[i]--)
			list_move(pool->free[i].prev, &drop);
		pool->idle[i] = pool->count[i];
	}
	pool->trimming = pool->count[0] || pool->count[1];
	if (pool->trimming)
		queue_delayed_work(srpt_wq, &pool->trim, HZ);
	spin_unlock_irq(&pool->lock);
	list_for_each_entry_safe(page, next, &drop, lru) {
		list_del(&page->lru);
		__free_pages(page, compound_order(page));
	}
}

/**
 * srpt_init_pool - make an empty pool
 * @pool: pool of a device
 */
void srpt_init_pool(struct srpt_pool *pool)
{
	int i;

	spin_lock_init(&pool->lock);
	for (i = 0; i < SRPT_POOL_KINDS; i++)
		INIT_LIST_HEAD(&pool->free[i]);
	INIT_DELAYED_WORK(&pool->trim, srpt_trim_work);
}

/**
 * srpt_drain_pool - give back all that a pool keeps
 * @pool: pool that nobody uses any more
 *
 * Context: process; may sleep.
 */
void srpt_drain_pool(struct srpt_pool *pool)
{
	int i;

	cancel_delayed_work_sync(&pool->trim);
	for (i = 0; i < SRPT_POOL_KINDS; i++)
		pool->idle[i] = pool->count[i];
	srpt_trim_work(&pool->trim.work);
}

static struct page *srpt_pool_take(struct srpt_pool *pool, int kind)
{
	unsigned int order = kind ? SRPT_PIECE_ORDER : 0;
	struct page *page;
	unsigned long flags;

	spin_lock_irqsave(&pool->lock, flags);
	page = list_first_entry_or_null(&pool->free[kind], struct page, lru);
	if (page) {
		list_del(&page->lru);
		pool->count[kind]--;
		pool->idle[kind] = min(pool->idle[kind], pool->count[kind]);
	}
	spin_unlock_irqrestore(&pool->lock, flags);
	if (page)
		return page;
	return alloc_pages(GFP_KERNEL | __GFP_NOWARN |
			   (order ? __GFP_COMP | __GFP_NORETRY : 0), order);
}

static void srpt_pool_give(struct srpt_pool *pool, struct page *page)
{
	int kind = compound_order(page) ? 1 : 0;
	u32 size = kind ? SRPT_PIECE_SIZE : PAGE_SIZE;
	unsigned long flags;
	bool keep;

	spin_lock_irqsave(&pool->lock, flags);
	keep = page_count(page) == 1 &&
	       pool->count[kind] < SRPT_POOL_MAX / SRPT_POOL_KINDS / size;
	if (keep) {
		list_add(&page->lru, &pool->free[kind]);
		pool->count[kind]++;
	}
	if (!pool->trimming) {
		pool->trimming = true;
		queue_delayed_work(srpt_wq, &pool->trim, HZ);
	}
	spin_unlock_irqrestore(&pool->lock, flags);
	if (!keep)
		__free_pages(page, compound_order(page));
}

static void srpt_put_entries(struct srpt_pool *pool, struct scatterlist *sg, u32 nents)
{
	for (; nents; nents--, sg = sg_next(sg))
		srpt_pool_give(pool, sg_page(sg));
}

/**
 * srpt_get_data_buf - get a data buffer for a medium access
 * @ctx: request; its scatterlist is made here
 * @len: bytes, not 0
 *
 * Context: process; may sleep.
 * Return: number of scatterlist entries at &srpt_send_ioctx.data_sg; 0 if there is no memory,
 * then nothing is left behind.
 */
u32 srpt_get_data_buf(struct srpt_send_ioctx *ctx, u32 len)
{
	struct srpt_pool *pool = &ctx->ch->sdev->pool;
	int kind = len >= SRPT_PIECE_SIZE / 4;
	u32 size = kind ? SRPT_PIECE_SIZE : PAGE_SIZE;
	u32 nents = DIV_ROUND_UP(len, size), i;
	struct scatterlist *sg = ctx->inline_sg;
	struct page *page;

	if (nents > SRPT_INLINE_SG)
		sg = kmalloc_array(nents, sizeof(*sg), GFP_KERNEL);
	if (!sg)
		return 0;
	sg_init_table(sg, nents);
	for (i = 0; i < nents; i++, len -= min(len, size)) {
		page = srpt_pool_take(pool, kind);
		if (!page)
			goto fail;
		sg_set_page(sg + i, page, min(len, size), 0);
	}
	ctx->data_sg = sg;
	ctx->data_nents = nents;
	return nents;

fail:
	srpt_put_entries(pool, sg, i);
	if (sg != ctx->inline_sg)
		kfree(sg);
	return 0;
}

/**
 * srpt_put_data_buf - undo srpt_get_data_buf()
 * @ctx: request that is over; one without a buffer is left alone
 *
 * Context: any.
 */
void srpt_put_data_buf(struct srpt_send_ioctx *ctx)
{
	if (!ctx->data_nents)
		return;
	srpt_put_entries(&ctx->ch->sdev->pool, ctx->data_sg, ctx->data_nents);
	if (ctx->data_sg != ctx->inline_sg)
		kfree(ctx->data_sg);
	ctx->data_sg = NULL;
	ctx->data_nents = 0;
}
