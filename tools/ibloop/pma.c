// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibloop: the performance management agent (IBA 16.1): counters of a port, in 32 and 64 bits.
 *
 * Copyright the ib_srpt authors
 */
#include <rdma/ib_pma.h>
#include "ibloop.h"

#define LB_STATUS_ATTRIBUTE	cpu_to_be16(0x000c)
#define LB_STATUS_VALUE		cpu_to_be16(0x001c)
#define LB_RESPONSE_TIME	18	/* 4.096 us << 18 */
#define LB_ALL_PORTS		0xff

static u64 lb_words(atomic64_t *bytes)
{
	return atomic64_read(bytes) / 4;
}

/* Counters stay at their greatest value instead of beginning again. */
static __be32 lb_stick32(u64 value)
{
	return cpu_to_be32(min_t(u64, value, U32_MAX));
}

static __be16 lb_stick16(u64 value)
{
	return cpu_to_be16(min_t(u64, value, U16_MAX));
}

static void lb_clear_data(struct lb_counters *c, bool sent, bool received)
{
	if (sent)
		atomic64_set(&c->xmit_bytes, 0);
	if (received)
		atomic64_set(&c->rcv_bytes, 0);
}

static void lb_clear_packets(struct lb_counters *c, bool sent, bool received)
{
	if (sent)
		atomic64_set(&c->xmit_packets, 0);
	if (received)
		atomic64_set(&c->rcv_packets, 0);
}

/* Of a Set only the selection counts: selected counters become zero, whatever value is given. */
static void lb_clear_counters(struct lb_port *port, __be16 select)
{
	struct lb_counters *c = &port->counters;

	if (select & IB_PMA_SEL_LINK_DOWNED)
		atomic64_set(&c->link_downed, 0);
	if (select & IB_PMA_SEL_PORT_XMIT_DISCARDS)
		atomic64_set(&c->xmit_discards, 0);
	if (select & IB_PMA_SEL_PORT_VL15_DROPPED)
		port->rvp.n_vl15_dropped = 0;
	lb_clear_data(c, select & IB_PMA_SEL_PORT_XMIT_DATA, select & IB_PMA_SEL_PORT_RCV_DATA);
	lb_clear_packets(c, select & IB_PMA_SEL_PORT_XMIT_PACKETS,
			 select & IB_PMA_SEL_PORT_RCV_PACKETS);
}

static void lb_port_counters(struct lb_port *port, struct ib_pma_mad *mad, bool set)
{
	struct ib_pma_portcounters *pc = (struct ib_pma_portcounters *)mad->data;
	struct lb_counters *c = &port->counters;
	u8 select = pc->port_select;

	if (set)
		lb_clear_counters(port, pc->counter_select);
	memset(mad->data, 0, sizeof(mad->data));
	pc->port_select = select;
	pc->link_downed_counter = min_t(u64, atomic64_read(&c->link_downed), U8_MAX);
	pc->port_xmit_discards = lb_stick16(atomic64_read(&c->xmit_discards));
	pc->vl15_dropped = lb_stick16(port->rvp.n_vl15_dropped);
	pc->port_xmit_data = lb_stick32(lb_words(&c->xmit_bytes));
	pc->port_rcv_data = lb_stick32(lb_words(&c->rcv_bytes));
	pc->port_xmit_packets = lb_stick32(atomic64_read(&c->xmit_packets));
	pc->port_rcv_packets = lb_stick32(atomic64_read(&c->rcv_packets));
}

static void lb_port_counters_ext(struct lb_port *port, struct ib_pma_mad *mad, bool set)
{
	struct ib_pma_portcounters_ext *pc = (struct ib_pma_portcounters_ext *)mad->data;
	struct lb_counters *c = &port->counters;
	u8 select = pc->port_select;

	if (set) {
		lb_clear_data(c, pc->counter_select & IB_PMA_SELX_PORT_XMIT_DATA,
			      pc->counter_select & IB_PMA_SELX_PORT_RCV_DATA);
		lb_clear_packets(c, pc->counter_select & IB_PMA_SELX_PORT_XMIT_PACKETS,
				 pc->counter_select & IB_PMA_SELX_PORT_RCV_PACKETS);
	}
	memset(mad->data, 0, sizeof(mad->data));
	pc->port_select = select;
	pc->port_xmit_data = cpu_to_be64(lb_words(&c->xmit_bytes));
	pc->port_rcv_data = cpu_to_be64(lb_words(&c->rcv_bytes));
	pc->port_xmit_packets = cpu_to_be64(atomic64_read(&c->xmit_packets));
	pc->port_rcv_packets = cpu_to_be64(atomic64_read(&c->rcv_packets));
}

static void lb_class_port_info(struct ib_pma_mad *mad)
{
	struct ib_class_port_info *cpi = (struct ib_class_port_info *)mad->data;

	memset(mad->data, 0, sizeof(mad->data));
	cpi->base_version = IB_MGMT_BASE_VERSION;
	cpi->class_version = 1;
	cpi->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
	ib_set_cpi_resp_time(cpi, LB_RESPONSE_TIME);
}

static bool lb_counters_asked(struct lb_port *port, struct ib_pma_mad *mad)
{
	u8 select = mad->data[1];

	return select == port->num || select == LB_ALL_PORTS;
}

static __be16 lb_pma_attribute(struct lb_port *port, struct ib_pma_mad *mad, bool set)
{
	switch (mad->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		lb_class_port_info(mad);
		return 0;
	case IB_PMA_PORT_COUNTERS:
		if (!lb_counters_asked(port, mad))
			return LB_STATUS_VALUE;
		lb_port_counters(port, mad, set);
		return 0;
	case IB_PMA_PORT_COUNTERS_EXT:
		if (!lb_counters_asked(port, mad))
			return LB_STATUS_VALUE;
		lb_port_counters_ext(port, mad, set);
		return 0;
	}
	return LB_STATUS_ATTRIBUTE;
}

/**
 * lb_process_pma() - a MAD of the performance management class
 * @port: where it arrived
 * @in: the MAD
 * @out: where an answer goes
 *
 * Return: IB_MAD_RESULT flags.
 */
int lb_process_pma(struct lb_port *port, const struct ib_mad *in, struct ib_mad *out)
{
	struct ib_pma_mad *mad = (struct ib_pma_mad *)out;
	u8 method = in->mad_hdr.method;

	if (method != IB_MGMT_METHOD_GET && method != IB_MGMT_METHOD_SET)
		return IB_MAD_RESULT_SUCCESS;
	memcpy(out, in, sizeof(*out));
	mad->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	mad->mad_hdr.status = lb_pma_attribute(port, mad, method == IB_MGMT_METHOD_SET);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
