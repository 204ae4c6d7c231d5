// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device management: what InfiniBand's tools find a target by (IBA volume 1, chapter 16.3).
 *
 * Copyright the ib_srpt authors
 *
 * Each port that can do management datagrams has an agent, which answers queries from the moment
 * its device is there until it goes, and tells so by the port's capability bit. What it answers
 * follows the configuration: only while a portal group is enabled whose target port has the name
 * of this port there is an I/O controller to be found, and whenever that changes the port's
 * change ID does too. A port without management datagrams (iWARP, some virtual functions) serves
 * data like any other and cannot be discovered.
 *
 * Agents come and go without srpt_lock, since unregistering one waits for its handlers, which
 * take the lock to look at the configuration.
 */
#include "ib_srpt.h"

/* Fills in what a port offers, and moves the change ID if that is news. Under srpt_lock. */
static void srpt_look_at_offer(struct srpt_port *sport, struct srpt_dm_offer *offer)
{
	const struct ib_device_attr *attrs = &sport->sdev->device->attrs;
	u32 size = srpt_offered_size(sport);

	if (size != sport->offered_size) {
		sport->offered_size = size;
		sport->change_id++;
	}
	*offer = (struct srpt_dm_offer) {
		.present	= size,
		.change_id	= sport->change_id,
		.guid		= srpt_service_guid(),
		.vendor_id	= attrs->vendor_id & 0xffffff,
		.device_id	= attrs->vendor_part_id,
		.device_version	= attrs->hw_ver,
		.queue_depth	= SRPT_REQ_LIM,
		.read_depth	= min_t(u32, attrs->max_qp_init_rd_atom, SRPT_READ_DEPTH),
		.max_iu_len	= srp_max_req_size,
		.max_rdma_size	= size,
	};
}

static void srpt_refresh_offer(struct srpt_port *sport)
{
	struct srpt_dm_offer offer;

	lockdep_assert_held(&srpt_lock);
	srpt_look_at_offer(sport, &offer);
}

/**
 * srpt_refresh_offers - the configuration has changed: see what each port offers now
 *
 * Context: process; srpt_lock is held.
 */
void srpt_refresh_offers(void)
{
	struct srpt_device *sdev;
	u32 port;

	lockdep_assert_held(&srpt_lock);
	list_for_each_entry(sdev, &srpt_devices, list)
		rdma_for_each_port(sdev->device, port)
			srpt_refresh_offer(&sdev->port[port - 1]);
}

/* Builds the answer to @req in @mad, which is zero. */
static void srpt_answer(struct srpt_port *sport, const struct ib_mad_hdr *req, struct ib_mad *mad)
{
	struct srpt_dm_offer offer;
	u16 status = SRPT_DM_BAD_METHOD;

	mutex_lock(&srpt_lock);
	srpt_look_at_offer(sport, &offer);
	mutex_unlock(&srpt_lock);
	if (req->method == IB_MGMT_METHOD_GET)
		status = srpt_mgmt_method_get(be16_to_cpu(req->attr_id),
					      be32_to_cpu(req->attr_mod), &offer,
					      (u8 *)mad + IB_MGMT_DEVICE_HDR);
	mad->mad_hdr = *req;
	mad->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	mad->mad_hdr.status = cpu_to_be16(status);
}

/* A datagram that goes back to where @wc came from, with the global route that it had. */
static struct ib_mad_send_buf *srpt_create_answer(struct ib_mad_agent *agent,
						  const struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *msg;
	struct ib_ah *ah;

	ah = ib_create_ah_from_wc(agent->qp->pd, wc->wc, wc->recv_buf.grh, agent->port_num);
	if (IS_ERR(ah))
		return ERR_CAST(ah);
	msg = ib_create_send_mad(agent, wc->wc->src_qp, wc->wc->pkey_index, 0, IB_MGMT_DEVICE_HDR,
				 IB_MGMT_DEVICE_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(msg))
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	else
		msg->ah = ah;
	return msg;
}

static void srpt_free_answer(struct ib_mad_send_buf *msg)
{
	rdma_destroy_ah(msg->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(msg);
}

/**
 * srpt_mad_send_handler - an answer has been sent, or could not be: free its buffer
 * @agent: agent of the port
 * @wc: its completion
 *
 * Context: process; may sleep.
 */
static void srpt_mad_send_handler(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	srpt_free_answer(wc->send_buf);
}

/**
 * srpt_mad_recv_handler - a device management query has come
 * @agent: agent of the port; its context is the &struct srpt_port
 * @send_buf: NULL, since nothing is sent here that has an answer
 * @wc: the query; given back here
 *
 * Gets and Sets come here, and each is answered with a status (IBA 16.3.1). A query that cannot
 * be answered for lack of memory is asked again by its sender.
 *
 * Context: process; may sleep.
 */
static void srpt_mad_recv_handler(struct ib_mad_agent *agent, struct ib_mad_send_buf *send_buf,
				  struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *msg = srpt_create_answer(agent, wc);

	if (!IS_ERR(msg)) {
		srpt_answer(agent->context, &wc->recv_buf.mad->mad_hdr, msg->mad);
		if (ib_post_send_mad(msg, NULL))
			srpt_free_answer(msg);
	}
	ib_free_recv_mad(wc);
}

static void srpt_register_mad_agent(struct srpt_port *sport)
{
	struct ib_mad_reg_req req = {
		.mgmt_class		= IB_MGMT_CLASS_DEVICE_MGMT,
		.mgmt_class_version	= SRPT_DM_CLASS_VERSION,
	};
	struct ib_device *device = sport->sdev->device;
	struct ib_mad_agent *agent = ERR_PTR(-EOPNOTSUPP);

	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	set_bit(IB_MGMT_METHOD_SET, req.method_mask);
	if (rdma_cap_ib_mad(device, sport->port))
		agent = ib_register_mad_agent(device, sport->port, IB_QPT_GSI, &req, 0,
					      srpt_mad_send_handler, srpt_mad_recv_handler, sport,
					      0);
	if (!IS_ERR(agent))
		sport->mad_agent = agent;
	else if (!xchg(&sport->told_no_mads, true))
		pr_info("%s/%u: no device management (%ld): takes logins, cannot be discovered\n",
			dev_name(&device->dev), sport->port, PTR_ERR(agent));
}

/* Sets the capability bit, unless it is there already: then it is not ours to clear. */
static void srpt_set_capability(struct srpt_port *sport)
{
	struct ib_port_modify modify = { .set_port_cap_mask = IB_PORT_DEVICE_MGMT_SUP };
	struct ib_device *device = sport->sdev->device;
	struct ib_port_attr attr;

	if (ib_query_port(device, sport->port, &attr) ||
	    attr.port_cap_flags & IB_PORT_DEVICE_MGMT_SUP)
		return;
	if (!ib_modify_port(device, sport->port, 0, &modify))
		sport->capability_set = true;
}

/**
 * srpt_refresh_port - bring a port's MAD agent, capability bit and offer up to date
 * @sport: port; calls for one port do not overlap
 *
 * Needed when its device comes, and whenever something about the port has changed: its state, LID,
 * GIDs, P_Keys or subnet manager. Channels are not touched: whether their connections have
 * survived is for the transport to say.
 *
 * Context: process; may sleep.
 */
void srpt_refresh_port(struct srpt_port *sport)
{
	if (!sport->mad_agent)
		srpt_register_mad_agent(sport);
	if (sport->mad_agent)
		srpt_set_capability(sport);
	mutex_lock(&srpt_lock);
	srpt_refresh_offer(sport);
	mutex_unlock(&srpt_lock);
}

/**
 * srpt_unregister_mad_agent - end what srpt_refresh_port() began
 * @sport: port; srpt_refresh_port() is not called for it any more
 *
 * The capability bit is cleared only if we have set it.
 *
 * Context: process; waits for queries that are being answered, so srpt_lock must not be held.
 */
void srpt_unregister_mad_agent(struct srpt_port *sport)
{
	struct ib_port_modify modify = { .clr_port_cap_mask = IB_PORT_DEVICE_MGMT_SUP };

	if (sport->capability_set)
		ib_modify_port(sport->sdev->device, sport->port, 0, &modify);
	sport->capability_set = false;
	if (sport->mad_agent)
		ib_unregister_mad_agent(sport->mad_agent);
	sport->mad_agent = NULL;
}
