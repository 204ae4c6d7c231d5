// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of I/O contexts and the DMA memory that their buffers lie in.
 *
 * Copyright the ib_srpt authors
 *
 * Buffers are cut from chunks of some pages, each mapped once, since a buffer by itself (8276
 * bytes for an information unit with immediate data) would waste half of a slab object or most
 * of a page. A chunk goes with the last context that has a buffer in it.
 */
#include <linux/slab.h>

#include "ib_srpt.h"

/* Chunks are tried at this order first: 128 KiB with 4 KiB pages. */
#define SRPT_CHUNK_ORDER	5U

static u32 srpt_slot_size(const struct srpt_ring_shape *shape)
{
	return ALIGN(shape->buf_size, shape->align);
}

/* Slots that fit into 2^order pages; the last one need not be filled up to the next. */
static u32 srpt_slots(const struct srpt_ring_shape *shape, unsigned int order)
{
	size_t size = PAGE_SIZE << order;
	u32 first = shape->offset + shape->buf_size;

	return size < first ? 0 : 1 + (size - first) / srpt_slot_size(shape);
}

static void srpt_free_chunk(struct ib_device *dev, struct srpt_chunk *chunk,
			    enum dma_data_direction dir)
{
	ib_dma_unmap_single(dev, chunk->dma, PAGE_SIZE << chunk->order, dir);
	free_pages((unsigned long)chunk->mem, chunk->order);
	kfree(chunk);
}

static void *srpt_chunk_pages(unsigned int *order, unsigned int least)
{
	unsigned long mem;

	for (; *order > least; (*order)--) {
		mem = __get_free_pages(GFP_KERNEL | __GFP_COMP | __GFP_NORETRY | __GFP_NOWARN,
				       *order);
		if (mem)
			return (void *)mem;
	}
	return (void *)__get_free_pages(GFP_KERNEL | __GFP_COMP | __GFP_NOWARN, least);
}

static struct srpt_chunk *srpt_alloc_chunk(struct ib_device *dev,
					   const struct srpt_ring_shape *shape, u32 want)
{
	unsigned int least = get_order(shape->offset + shape->buf_size);
	size_t whole = (size_t)srpt_slot_size(shape) * want + shape->offset;
	struct srpt_chunk *chunk;

	chunk = kzalloc(sizeof(*chunk), GFP_KERNEL);
	if (!chunk)
		return NULL;
	chunk->order = clamp_t(unsigned int, get_order(whole), least,
			       max(least, SRPT_CHUNK_ORDER));
	chunk->mem = srpt_chunk_pages(&chunk->order, least);
	if (!chunk->mem)
		goto free_chunk;
	chunk->dma = ib_dma_map_single(dev, chunk->mem, PAGE_SIZE << chunk->order, shape->dir);
	if (ib_dma_mapping_error(dev, chunk->dma))
		goto free_pages;
	return chunk;

free_pages:
	free_pages((unsigned long)chunk->mem, chunk->order);
free_chunk:
	kfree(chunk);
	return NULL;
}

/**
 * srpt_alloc_ioctx - give an I/O context its buffer
 * @dev: RDMA device that the buffer is for
 * @ring: ring that the context belongs to
 * @ctx: the context
 * @want: how many contexts of the ring have no buffer yet, this one included
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
static int srpt_alloc_ioctx(struct ib_device *dev, struct srpt_ioctx_ring *ring,
			    struct srpt_ioctx *ctx, u32 want)
{
	size_t at;

	if (!ring->last || ring->fill >= srpt_slots(&ring->shape, ring->last->order)) {
		ring->last = srpt_alloc_chunk(dev, &ring->shape, want);
		ring->fill = 0;
		if (!ring->last)
			return -ENOMEM;
	}
	at = ring->shape.offset + (size_t)ring->fill++ * srpt_slot_size(&ring->shape);
	ring->last->users++;
	ctx->chunk = ring->last;
	ctx->buf = ring->last->mem + at;
	ctx->dma = ring->last->dma + at;
	return 0;
}

/**
 * srpt_free_ioctx - take the buffer from an I/O context again
 * @dev: RDMA device
 * @ctx: the context; one without a buffer is left alone
 * @dir: DMA direction of the buffer
 *
 * Context: process. No work request may refer to the buffer any more: its queue pair, and with a
 * shared receive queue that queue, must have been destroyed.
 */
static void srpt_free_ioctx(struct ib_device *dev, struct srpt_ioctx *ctx,
			    enum dma_data_direction dir)
{
	if (ctx->chunk && --ctx->chunk->users == 0)
		srpt_free_chunk(dev, ctx->chunk, dir);
	ctx->chunk = NULL;
}

/**
 * srpt_ring_ctx - the context at an index of a ring
 * @ring: the ring
 * @index: below &srpt_ring_shape.count
 *
 * Return: the context, a structure that starts with a &struct srpt_ioctx.
 */
void *srpt_ring_ctx(struct srpt_ioctx_ring *ring, u32 index)
{
	return ring->ctx + index * ring->shape.ctx_size;
}

/**
 * srpt_alloc_ioctx_ring - allocate I/O contexts and their buffers
 * @dev: RDMA device that the buffers are mapped for
 * @shape: number, sizes, alignment and direction
 *
 * The contexts are zeroed, the buffers are not.
 *
 * Context: process; may sleep.
 * Return: the ring, or NULL when memory is short; then nothing is left behind.
 */
struct srpt_ioctx_ring *srpt_alloc_ioctx_ring(struct ib_device *dev,
					      const struct srpt_ring_shape *shape)
{
	struct srpt_ioctx_ring *ring;
	u32 i;

	ring = kzalloc(sizeof(*ring), GFP_KERNEL);
	if (!ring)
		return NULL;
	ring->shape = *shape;
	ring->ctx = kvcalloc(shape->count, shape->ctx_size, GFP_KERNEL);
	if (!ring->ctx)
		goto fail;
	for (i = 0; i < shape->count; i++)
		if (srpt_alloc_ioctx(dev, ring, srpt_ring_ctx(ring, i), shape->count - i))
			goto fail;
	return ring;

fail:
	srpt_free_ioctx_ring(dev, ring);
	return NULL;
}

/**
 * srpt_free_ioctx_ring - free what srpt_alloc_ioctx_ring() allocated
 * @dev: RDMA device
 * @ring: the ring, or NULL
 *
 * Context: process; see srpt_free_ioctx() for what must be over.
 */
void srpt_free_ioctx_ring(struct ib_device *dev, struct srpt_ioctx_ring *ring)
{
	u32 i;

	if (!ring)
		return;
	for (i = 0; ring->ctx && i < ring->shape.count; i++)
		srpt_free_ioctx(dev, srpt_ring_ctx(ring, i), ring->shape.dir);
	kvfree(ring->ctx);
	kfree(ring);
}
