// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an operator sees of a session: acls/<name>/info.
 *
 * Copyright the ib_srpt authors
 *
 * The form is that of the iSCSI target, which "targetcli sessions" reads.
 */
#include "ib_srpt.h"

/* States of a connection, as the iSCSI target names them. */
static const char *srpt_conn_state(const struct srpt_rdma_ch *ch)
{
	switch (READ_ONCE(ch->state)) {
	case SRPT_CH_LOGIN:
		return "IN_LOGIN";
	case SRPT_CH_CONNECTING:
		return "IN_LOGIN";
	case SRPT_CH_LIVE:
		return "LOGGED_IN";
	default:
		return "IN_LOGOUT";
	}
}

static int srpt_print_session(char *page, int at, const struct srpt_rdma_ch *ch)
{
	return sysfs_emit_at(page, at,
			     "InitiatorName: %s\n"
			     "InitiatorAlias: 0x%16phN\n"
			     "LIO Session ID: %u   SessionType: Normal\n"
			     "Session State: TARG_SESS_STATE_LOGGED_IN\n",
			     ch->acl, ch->login.i_port_id, ch->id);
}

static int srpt_print_conn(char *page, int at, const struct srpt_rdma_ch *ch)
{
	return sysfs_emit_at(page, at,
			     "CID: %u  Connection State: TARG_CONN_STATE_%s\n"
			     "   Address %s RDMA\n",
			     ch->id, srpt_conn_state(ch), ch->name);
}

/**
 * srpt_uses_acl - whether a channel's session came in by an ACL
 * @ch: channel
 * @nacl: the ACL
 *
 * Context: process; srpt_lock is held.
 * Return: true if it did.
 */
bool srpt_uses_acl(const struct srpt_rdma_ch *ch, const struct se_node_acl *nacl)
{
	return ch->nexus && ch->nexus->sess->se_node_acl == nacl;
}

/**
 * srpt_show_sessions - print the channels that an ACL admitted
 * @page: where to, a page
 * @nacl: the ACL
 *
 * Context: process; may sleep.
 * Return: bytes printed.
 */
ssize_t srpt_show_sessions(char *page, const struct se_node_acl *nacl)
{
	struct srpt_device *sdev;
	struct srpt_rdma_ch *ch;
	int at = 0;

	mutex_lock(&srpt_lock);
	list_for_each_entry(sdev, &srpt_devices, list) {
		list_for_each_entry(ch, &sdev->channels, dev_entry) {
			if (!srpt_uses_acl(ch, nacl))
				continue;
			if (!at)
				at += srpt_print_session(page, at, ch);
			at += srpt_print_conn(page, at, ch);
		}
	}
	mutex_unlock(&srpt_lock);
	if (!at)
		at = sysfs_emit(page, "No active session for this initiator\n");
	return at;
}
