// SPDX-License-Identifier: GPL-2.0-only
/* Copyright the ib_srpt authors */
/* Answers to device management queries, byte for byte. */
#include "unit.h"

static const struct srpt_dm_offer offer = {
	.present = true,
	.change_id = 0x1234,
	.guid = 0x00123456789abcdeULL,
	.vendor_id = 0x0002c9,
	.device_id = 0x1011,
	.device_version = 0x00a1,
	.queue_depth = 128,
	.read_depth = 16,
	.max_iu_len = 8276,
	.max_rdma_size = 0x40000,
};

static const struct srpt_dm_offer nothing = { .change_id = 0xfedc };

/* Asks, and hands the data over; to be freed. Exactly as large as it has to be, and unaligned. */
static u8 *ask(u16 attr, u32 modifier, const struct srpt_dm_offer *what, u16 status)
{
	u8 *data = calloc(1, SRPT_DM_DATA_LEN + 1);

	if (!data)
		abort();
	assert_int_equal(srpt_mgmt_method_get(attr, modifier, what, data + 1), status);
	memmove(data, data + 1, SRPT_DM_DATA_LEN);
	return data;
}

static void expect(u16 attr, u32 modifier, const struct srpt_dm_offer *what, const u8 *want)
{
	u8 *data = ask(attr, modifier, what, 0);

	assert_memory_equal(data, want, SRPT_DM_DATA_LEN);
	free(data);
}

static void refuse(u16 attr, u32 modifier, const struct srpt_dm_offer *what, u16 status)
{
	static const u8 zeros[SRPT_DM_DATA_LEN];
	u8 *data = ask(attr, modifier, what, status);

	assert_memory_equal(data, zeros, SRPT_DM_DATA_LEN);
	free(data);
}

static void class_port_info(void **state)
{
	static const u8 want[SRPT_DM_DATA_LEN] = { 1, 1, 0, 0, 0, 0, 0, 20 };
	u32 bit;

	(void)state;
	expect(1, 0, &offer, want);
	expect(1, 0, &nothing, want);
	for (bit = 0; bit < 32; bit++)
		refuse(1, 1U << bit, &offer, 0x1c);
}

static void iou_info(void **state)
{
	u8 want[SRPT_DM_DATA_LEN] = { 0x12, 0x34, 16, 0, 0x10 };
	u32 bit;

	(void)state;
	memset(want + 12, 0xff, 120);
	expect(0x10, 0, &offer, want);
	want[0] = 0xfe;
	want[1] = 0xdc;
	want[4] = 0;
	expect(0x10, 0, &nothing, want);
	for (bit = 0; bit < 32; bit++)
		refuse(0x10, 1U << bit, &offer, 0x1c);
}

static void set_ioc(void **state)
{
	u8 list[128], want[128];
	u32 slot;

	(void)state;
	for (slot = 1; slot <= 256; slot++) {
		memset(list, 0xaa, sizeof(list));
		memset(want, 0xaa, sizeof(want));
		want[(slot - 1) / 2] = slot % 2 ? 0x1a : 0xa1;
		srpt_set_ioc(list, slot, SRPT_IOC_PRESENT);
		assert_memory_equal(list, want, sizeof(want));
		want[(slot - 1) / 2] = slot % 2 ? 0xfa : 0xaf;
		srpt_set_ioc(list, slot, SRPT_IOC_NO_SLOT);
		assert_memory_equal(list, want, sizeof(want));
		want[(slot - 1) / 2] = slot % 2 ? 0x0a : 0xa0;
		srpt_set_ioc(list, slot, SRPT_IOC_NONE);
		assert_memory_equal(list, want, sizeof(want));
	}
}

static void ioc_profile(void **state)
{
	static const u8 want[SRPT_DM_DATA_LEN] = {
		0x00, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde,	/* GUID */
		0x00, 0x02, 0xc9, 0, 0x00, 0x00, 0x10, 0x11,	/* vendor, device */
		0x00, 0xa1, 0, 0, 0x00, 0x02, 0xc9, 0,		/* revision, subsystem's vendor */
		0x00, 0x00, 0x10, 0x11, 0x01, 0x00, 0x60, 0x9e,	/* subsystem, class, subclass */
		0x01, 0x08, 0x00, 0x01, 0, 0, 0, 0,		/* protocol, version */
		0x00, 0x80, 0, 0x10, 0x00, 0x00, 0x20, 0x54,	/* queue, reads, send size */
		0x00, 0x04, 0x00, 0x00, 0x2b, 0, 0x01, 0,	/* RDMA size, operations, entries */
		0, 0, 0, 0, 0, 0, 0, 0,
		'S', 'R', 'P', ' ', 't', 'a', 'r', 'g', 'e', 't', ' ', 'o', 'f', ' ',
		'i', 'b', '_', 's', 'r', 'p', 't',
	};

	(void)state;
	expect(0x11, 1, &offer, want);
}

static void ioc_slots(void **state)
{
	u32 slot;

	(void)state;
	for (slot = 0; slot < 0x400; slot++) {
		refuse(0x11, slot, &nothing, slot >= 1 && slot <= 16 ? 0x100 : 0x1c);
		if (slot != 1)
			refuse(0x11, slot, &offer, slot >= 1 && slot <= 16 ? 0x100 : 0x1c);
	}
	refuse(0x11, 0x10001, &offer, 0x1c);
	refuse(0x11, 0xffffffff, &offer, 0x1c);
}

static void svc_entries(void **state)
{
	static const u8 want[SRPT_DM_DATA_LEN] = {
		'S', 'R', 'P', '.', 'T', '1', '0', ':', '0', '0', '1', '2', '3', '4', '5', '6',
		'7', '8', '9', 'a', 'b', 'c', 'd', 'e', 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde,
	};

	(void)state;
	expect(0x12, 0x10000, &offer, want);
}

/* Every range of entries: four at a time, in order, and there is only one. */
static void svc_ranges(void **state)
{
	u32 first, last;

	(void)state;
	for (first = 0; first < 256; first++)
		for (last = 0; last < 256; last++) {
			bool valid = last >= first && last < first + 4;

			if (first || last)
				refuse(0x12, 0x10000 | last << 8 | first, &offer,
				       valid ? 0x200 : 0x1c);
		}
}

static void svc_slots(void **state)
{
	u32 slot;

	(void)state;
	for (slot = 0; slot < 0x400; slot++) {
		refuse(0x12, slot << 16, &nothing, slot >= 1 && slot <= 16 ? 0x100 : 0x1c);
		if (slot != 1)
			refuse(0x12, slot << 16, &offer, slot >= 1 && slot <= 16 ? 0x100 : 0x1c);
	}
	refuse(0x12, 0xffffffff, &offer, 0x1c);
}

static void other_attributes(void **state)
{
	u32 attr;

	(void)state;
	for (attr = 0; attr <= 0xffff; attr++)
		if (attr != 1 && (attr < 0x10 || attr > 0x12))
			refuse(attr, 0, &offer, 0x0c);
}

void add_dm_tests(struct test_list *list)
{
	add_test(list, "ClassPortInfo", class_port_info, NULL);
	add_test(list, "IOUnitInfo", iou_info, NULL);
	add_test(list, "slots of a controller list", set_ioc, NULL);
	add_test(list, "IOControllerProfile", ioc_profile, NULL);
	add_test(list, "IOControllerProfile, slots", ioc_slots, NULL);
	add_test(list, "ServiceEntries", svc_entries, NULL);
	add_test(list, "ServiceEntries, ranges", svc_ranges, NULL);
	add_test(list, "ServiceEntries, slots", svc_slots, NULL);
	add_test(list, "other attributes", other_attributes, NULL);
}
