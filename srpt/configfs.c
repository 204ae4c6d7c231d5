// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration: target ports, portal groups, ACLs and attributes, below
 * /sys/kernel/config/target/srpt.
 *
 * Copyright the ib_srpt authors
 *
 * Nothing here refers to a device. A target port is a name; when a login comes in by a port, the
 * port's names are compared with those of the target ports that stand at that moment. So a
 * configuration may be made before its device comes, outlives it, and is live again when the
 * device returns, with no hand laid on it.
 */
#include <linux/kstrtox.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <rdma/ib_cache.h>
#include <scsi/scsi_proto.h>

#include "ib_srpt.h"

#define SRPT_DEF_RDMA_SIZE	65536U
#define SRPT_DEF_RSP_SIZE	256U
#define SRPT_DEF_SQ_SIZE	512U

/* Target ports; under srpt_lock. */
static LIST_HEAD(srpt_tports);

static struct srpt_tpg *srpt_tpg_of(struct se_portal_group *tpg)
{
	return container_of(tpg, struct srpt_tpg, tpg);
}

static struct srpt_tport *srpt_tport_of(struct se_wwn *wwn)
{
	return container_of(wwn, struct srpt_tport, wwn);
}

/* The names of a port as they are now: the low half of GID 0, and all of it. */
static void srpt_port_names(const struct srpt_port *sport, struct srpt_name names[2])
{
	union ib_gid gid = {};

	names[0].kind = SRPT_NAME_NONE;
	names[1].kind = SRPT_NAME_NONE;
	if (rdma_query_gid(sport->sdev->device, sport->port, 0, &gid))
		return;
	srpt_guid_name(&names[0], gid.raw);
	srpt_id_name(&names[1], gid.raw);
}

static bool srpt_is_named(const struct srpt_tport *tport, const struct srpt_name names[2])
{
	return srpt_same_name(&tport->name, &names[0]) || srpt_same_name(&tport->name, &names[1]);
}

/* Finds the ACL of @tpg that knows the initiator by @name. */
static bool srpt_find_acl(struct srpt_tpg *tpg, const struct srpt_name *name, char *acl)
{
	struct se_node_acl *nacl;
	bool found = false;

	mutex_lock(&tpg->tpg.acl_node_mutex);
	list_for_each_entry(nacl, &tpg->tpg.acl_node_list, acl_list) {
		struct srpt_node_acl *sacl = container_of(nacl, struct srpt_node_acl, nacl);

		found = srpt_same_name(&sacl->name, name);
		if (found) {
			strscpy(acl, nacl->initiatorname, TRANSPORT_IQN_LEN);
			break;
		}
	}
	mutex_unlock(&tpg->tpg.acl_node_mutex);
	return found;
}

static bool srpt_tpg_admits(struct srpt_tpg *tpg, const struct srpt_peer *peer,
			    struct srpt_admission *adm)
{
	unsigned int i;

	for (i = 0; i < peer->count; i++) {
		if (srpt_find_acl(tpg, &peer->names[i], adm->acl)) {
			adm->tpg = tpg;
			return true;
		}
	}
	return false;
}

/* Whether one of the portal groups of @tport admits the initiator; notes if one is enabled. */
static bool srpt_tport_admits(struct srpt_tport *tport, const struct srpt_peer *peer,
			      struct srpt_admission *adm, bool *enabled)
{
	struct srpt_tpg *tpg;

	list_for_each_entry(tpg, &tport->tpgs, list) {
		if (!tpg->enabled)
			continue;
		*enabled = true;
		if (srpt_tpg_admits(tpg, peer, adm))
			return true;
	}
	return false;
}

/**
 * srpt_admit - find the portal group that admits an initiator
 * @sport: port that the login came in by
 * @peer: names of the initiator
 * @adm: filled in on success
 *
 * The first enabled portal group with an ACL for one of the names, in the order in which the
 * groups were made.
 *
 * Context: process; srpt_lock is held.
 * Return: 0, or the SRP_LOGIN_REJ reason.
 */
u32 srpt_admit(const struct srpt_port *sport, const struct srpt_peer *peer,
	       struct srpt_admission *adm)
{
	struct srpt_tport *tport;
	struct srpt_name names[2];
	bool enabled = false;

	lockdep_assert_held(&srpt_lock);
	srpt_port_names(sport, names);
	list_for_each_entry(tport, &srpt_tports, list) {
		if (srpt_is_named(tport, names) && srpt_tport_admits(tport, peer, adm, &enabled))
			return 0;
	}
	/* Not enabled yet is worth another try, not known is not. */
	return enabled ? SRP_LOGIN_REJ_UNABLE_ESTABLISH_CHANNEL :
			 SRP_LOGIN_REJ_INSUFFICIENT_RESOURCES;
}

static u32 srpt_tport_size(const struct srpt_tport *tport)
{
	const struct srpt_tpg *tpg;
	u32 size = 0;

	list_for_each_entry(tpg, &tport->tpgs, list)
		if (tpg->enabled)
			size = min_not_zero(size, READ_ONCE(tpg->max_rdma_size));
	return size;
}

/**
 * srpt_offered_size - what a port offers to initiators, in one number
 * @sport: port
 *
 * Which portal group an initiator will get is not known before its login, so the least of those
 * that are enabled is told.
 *
 * Context: process; srpt_lock is held.
 * Return: the largest RDMA transfer, bytes; 0 if no portal group of the port's name is enabled.
 */
u32 srpt_offered_size(const struct srpt_port *sport)
{
	struct srpt_tport *tport;
	struct srpt_name names[2];
	u32 size = 0;

	lockdep_assert_held(&srpt_lock);
	srpt_port_names(sport, names);
	list_for_each_entry(tport, &srpt_tports, list)
		if (srpt_is_named(tport, names))
			size = min_not_zero(size, srpt_tport_size(tport));
	return size;
}

static int srpt_init_nodeacl(struct se_node_acl *nacl, const char *name)
{
	struct srpt_node_acl *sacl = container_of(nacl, struct srpt_node_acl, nacl);
	int ret;

	ret = srpt_parse_acl_name(&sacl->name, name);
	if (ret)
		pr_err("ACL name '%s' can never match: give a GUID (5054:00ff:fe12:3456), a GID, an IP address or an initiator port ID (0x and 32 hex digits)\n",
		       name);
	else
		srpt_add_acl_stats(sacl);
	return ret;
}

/**
 * srpt_make_tport - mkdir of a target port
 * @tf: fabric
 * @group: configfs group
 * @name: port GUID as four groups, or 0x and the 32 digits of GID 0
 *
 * The port need not exist yet.
 *
 * Context: process; may sleep.
 * Return: the target port, or an ERR_PTR.
 */
static struct se_wwn *srpt_make_tport(struct target_fabric_configfs *tf,
				      struct config_group *group, const char *name)
{
	struct srpt_tport *tport;
	int ret;

	tport = kzalloc(sizeof(*tport), GFP_KERNEL);
	if (!tport)
		return ERR_PTR(-ENOMEM);
	ret = srpt_parse_port_name(&tport->name, name);
	if (ret) {
		pr_err("target port name '%s' can never match: give the port GUID (5054:00ff:fe12:3456) or GID 0 (0x and 32 hex digits)\n",
		       name);
		kfree(tport);
		return ERR_PTR(ret);
	}
	strscpy(tport->text, name, sizeof(tport->text));
	INIT_LIST_HEAD(&tport->tpgs);
	mutex_lock(&srpt_lock);
	list_add_tail(&tport->list, &srpt_tports);
	mutex_unlock(&srpt_lock);
	return &tport->wwn;
}

/**
 * srpt_drop_tport - rmdir of a target port
 * @wwn: target port, without portal groups
 *
 * Context: process; may sleep.
 */
static void srpt_drop_tport(struct se_wwn *wwn)
{
	struct srpt_tport *tport = srpt_tport_of(wwn);

	mutex_lock(&srpt_lock);
	list_del(&tport->list);
	mutex_unlock(&srpt_lock);
	kfree(tport);
}

/**
 * srpt_make_tpg - mkdir of a portal group
 * @wwn: target port
 * @name: any name
 *
 * Context: process; may sleep.
 * Return: the portal group, or an ERR_PTR.
 */
static struct se_portal_group *srpt_make_tpg(struct se_wwn *wwn, const char *name)
{
	struct srpt_tport *tport = srpt_tport_of(wwn);
	struct srpt_tpg *tpg;
	int ret;

	tpg = kzalloc(sizeof(*tpg), GFP_KERNEL);
	if (!tpg)
		return ERR_PTR(-ENOMEM);
	tpg->latencies = alloc_percpu(struct srpt_latencies);
	if (!tpg->latencies) {
		ret = -ENOMEM;
		goto free_tpg;
	}
	tpg->tport = tport;
	tpg->max_rdma_size = SRPT_DEF_RDMA_SIZE;
	tpg->max_rsp_size = SRPT_DEF_RSP_SIZE;
	tpg->sq_size = SRPT_DEF_SQ_SIZE;
	tpg->use_srq = true;
	tpg->max_channels = SRPT_DEF_CHANNELS;
	tpg->max_half_open = SRPT_DEF_HALF_OPEN;
	mutex_lock(&srpt_lock);
	tpg->tag = ++tport->next_tag;
	mutex_unlock(&srpt_lock);
	ret = core_tpg_register(wwn, &tpg->tpg, SCSI_PROTOCOL_SRP);
	if (ret)
		goto free_latencies;
	mutex_lock(&srpt_lock);
	list_add_tail(&tpg->list, &tport->tpgs);
	mutex_unlock(&srpt_lock);
	return &tpg->tpg;

free_latencies:
	free_percpu(tpg->latencies);
free_tpg:
	kfree(tpg);
	return ERR_PTR(ret);
}

/* Takes no more logins, closes the channels and waits until they are gone. */
static void srpt_disable_tpg(struct srpt_tpg *tpg, const char *why)
{
	mutex_lock(&srpt_lock);
	tpg->enabled = false;
	srpt_refresh_offers();
	mutex_unlock(&srpt_lock);
	srpt_close_tpg(tpg, why);
	wait_var_event(&tpg->nr_channels, !atomic_read(&tpg->nr_channels));
}

/**
 * srpt_drop_tpg - rmdir of a portal group
 * @se_tpg: portal group
 *
 * Its channels are closed first; that takes as long as the back ends need for what they have.
 *
 * Context: process; may sleep.
 */
static void srpt_drop_tpg(struct se_portal_group *se_tpg)
{
	struct srpt_tpg *tpg = srpt_tpg_of(se_tpg);

	srpt_disable_tpg(tpg, "portal group removed");
	/* The last channel wakes us with the lock held, and has then let go of the group. */
	mutex_lock(&srpt_lock);
	list_del(&tpg->list);
	mutex_unlock(&srpt_lock);
	core_tpg_deregister(se_tpg);
	free_percpu(tpg->latencies);
	kfree(tpg);
}

static int srpt_enable_tpg(struct se_portal_group *se_tpg, bool enable)
{
	struct srpt_tpg *tpg = srpt_tpg_of(se_tpg);

	if (!enable) {
		srpt_disable_tpg(tpg, "portal group disabled");
		return 0;
	}
	mutex_lock(&srpt_lock);
	tpg->enabled = true;
	srpt_refresh_offers();
	mutex_unlock(&srpt_lock);
	return 0;
}

/**
 * srpt_print_latencies - print how long commands took, for each portal group
 * @m: where to
 * @unused: as the file's show call has it
 *
 * Context: process; may sleep.
 * Return: 0.
 */
int srpt_print_latencies(struct seq_file *m, void *unused)
{
	struct srpt_tport *tport;
	struct srpt_tpg *tpg;

	mutex_lock(&srpt_lock);
	list_for_each_entry(tport, &srpt_tports, list)
		list_for_each_entry(tpg, &tport->tpgs, list)
			srpt_print_tpg_latencies(m, tpg);
	mutex_unlock(&srpt_lock);
	return 0;
}

static int srpt_check_size(const char *page, u32 *val, const char *what, u32 least, u32 most)
{
	int ret = kstrtou32(page, 0, val);

	if (!ret && *val >= least && *val <= most)
		return 0;
	pr_err("%s must be a number from %u to %u\n", what, least, most);
	return ret ?: -EINVAL;
}

/* An attribute of a portal group that holds a number; it applies to logins to come. */
#define SRPT_SIZE_ATTR(_name, _field, _least, _most)					\
static ssize_t srpt_attrib_##_name##_show(struct config_item *item, char *page)	\
{											\
	return sysfs_emit(page, "%u\n", srpt_tpg_of(attrib_to_tpg(item))->_field);	\
}											\
											\
static ssize_t srpt_attrib_##_name##_store(struct config_item *item,		\
					       const char *page, size_t count)		\
{											\
	u32 val;									\
	int ret = srpt_check_size(page, &val, #_name, _least, _most);			\
											\
	if (ret)									\
		return ret;								\
	WRITE_ONCE(srpt_tpg_of(attrib_to_tpg(item))->_field, val);			\
	return count;									\
}											\
CONFIGFS_ATTR(srpt_attrib_, _name)

SRPT_SIZE_ATTR(srp_max_rdma_size, max_rdma_size, 256, SRPT_MAX_DATA);
SRPT_SIZE_ATTR(srp_max_rsp_size, max_rsp_size, sizeof(struct srp_rsp) + 4, 4096);
SRPT_SIZE_ATTR(srp_sq_size, sq_size, 16, 16384);
SRPT_SIZE_ATTR(max_channels, max_channels, 1, 65536);
SRPT_SIZE_ATTR(max_half_open, max_half_open, 1, SRPT_MAX_HALF_OPEN);

static ssize_t srpt_attrib_use_srq_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", srpt_tpg_of(attrib_to_tpg(item))->use_srq);
}

static ssize_t srpt_attrib_use_srq_store(struct config_item *item, const char *page,
					 size_t count)
{
	bool val;
	int ret = kstrtobool(page, &val);

	if (ret) {
		pr_err("use_srq must be 0 or 1\n");
		return ret;
	}
	WRITE_ONCE(srpt_tpg_of(attrib_to_tpg(item))->use_srq, val);
	return count;
}
CONFIGFS_ATTR(srpt_attrib_, use_srq);

static struct configfs_attribute *srpt_attrib_attrs[] = {
	&srpt_attrib_attr_use_srq,
	&srpt_attrib_attr_srp_sq_size,
	&srpt_attrib_attr_srp_max_rsp_size,
	&srpt_attrib_attr_srp_max_rdma_size,
	&srpt_attrib_attr_max_channels,
	&srpt_attrib_attr_max_half_open,
	NULL,
};

static ssize_t srpt_rdma_cm_port_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", srpt_listening_port());
}

static ssize_t srpt_rdma_cm_port_store(struct config_item *item, const char *page, size_t count)
{
	u16 port;
	int ret = kstrtou16(page, 0, &port);

	if (ret) {
		pr_err("rdma_cm_port must be a number from 0 (off) to 65535\n");
		return ret;
	}
	return srpt_listen(port) ?: count;
}
CONFIGFS_ATTR(srpt_, rdma_cm_port);

static struct configfs_attribute *srpt_discovery_attrs[] = {
	&srpt_attr_rdma_cm_port,
	NULL,
};

static ssize_t srpt_version_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", SRPT_VERSION);
}
CONFIGFS_ATTR_RO(srpt_, version);

static struct configfs_attribute *srpt_wwn_attrs[] = {
	&srpt_attr_version,
	NULL,
};

static ssize_t srpt_acl_info_show(struct config_item *item, char *page)
{
	return srpt_show_sessions(page, acl_to_nacl(item));
}
CONFIGFS_ATTR_RO(srpt_acl_, info);

static struct configfs_attribute *srpt_acl_attrs[] = {
	&srpt_acl_attr_info,
	NULL,
};

static char *srpt_tpg_wwn(struct se_portal_group *tpg)
{
	return srpt_tpg_of(tpg)->tport->text;
}

static u16 srpt_tpg_tag(struct se_portal_group *tpg)
{
	return srpt_tpg_of(tpg)->tag;
}

static u32 srpt_tpg_depth(struct se_portal_group *tpg)
{
	return SRPT_REQ_LIM;
}

static int srpt_no(struct se_portal_group *tpg)
{
	return 0;
}

static int srpt_yes(struct se_portal_group *tpg)
{
	return 1;
}

static u32 srpt_tpg_index(struct se_portal_group *tpg)
{
	return srpt_tpg_of(tpg)->tag;
}

static u32 srpt_session_index(struct se_session *sess)
{
	return 0;
}

static void srpt_default_acl_attrs(struct se_node_acl *nacl)
{
}

static const struct target_core_fabric_ops srpt_ops = {
	.module				= THIS_MODULE,
	.fabric_name			= "srpt",
	.node_acl_size			= sizeof(struct srpt_node_acl),
	SRPT_DIRECT_SUBMIT
	SRPT_DIRECT_COMPL

	.tfc_discovery_attrs		= srpt_discovery_attrs,
	.tfc_wwn_attrs			= srpt_wwn_attrs,
	.tfc_tpg_attrib_attrs		= srpt_attrib_attrs,
	.tfc_tpg_nacl_base_attrs	= srpt_acl_attrs,

	.fabric_make_wwn		= srpt_make_tport,
	.fabric_make_tpg		= srpt_make_tpg,
	.fabric_init_nodeacl		= srpt_init_nodeacl,
	.fabric_enable_tpg		= srpt_enable_tpg,
	.fabric_drop_tpg		= srpt_drop_tpg,
	.fabric_drop_wwn		= srpt_drop_tport,

	.tpg_get_wwn			= srpt_tpg_wwn,
	.tpg_get_tag			= srpt_tpg_tag,
	.tpg_get_inst_index		= srpt_tpg_index,
	.tpg_get_default_depth		= srpt_tpg_depth,
	.tpg_check_demo_mode		= srpt_no,
	.tpg_check_demo_mode_cache	= srpt_yes,
	.tpg_check_demo_mode_write_protect = srpt_yes,
	.tpg_check_prod_mode_write_protect = srpt_no,
	.set_default_node_attributes	= srpt_default_acl_attrs,

	.sess_get_index			= srpt_session_index,
	.close_session			= srpt_close_session,

	.write_pending			= srpt_write_pending,
	.queue_data_in			= srpt_queue_data_in,
	.queue_status			= srpt_queue_status,
	.queue_tm_rsp			= srpt_queue_tm_rsp,
	.aborted_task			= srpt_aborted_task,
	.check_stop_free		= srpt_check_stop_free,
	.release_cmd			= srpt_release_cmd,
	.get_cmd_state			= srpt_get_cmd_state,
};

/**
 * srpt_register_configfs - make the fabric known to the target core
 *
 * Return: 0 or a negative error.
 */
int srpt_register_configfs(void)
{
	return target_register_template(&srpt_ops);
}

/**
 * srpt_unregister_configfs - undo srpt_register_configfs()
 *
 * Nothing is configured any more, since each item holds a reference to the module.
 */
void srpt_unregister_configfs(void)
{
	target_unregister_template(&srpt_ops);
}
