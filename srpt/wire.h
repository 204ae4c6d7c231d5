/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SRP information units and device management attributes: from bytes to structures and back.
 *
 * Copyright the ib_srpt authors
 *
 * Everything a peer sends is hostile until a function of wire.c has passed it. These functions
 * are pure: they get a buffer, its length and the limits that were agreed on, and fill in a
 * structure. They allocate nothing, lock nothing, know no device, and compile in user space.
 *
 * Clause numbers are those of the T10 SRP standard, revision 16a; immediate data is of SRP-2.
 * Device management is that of the InfiniBand Architecture Specification (IBA), volume 1.
 */
#ifndef SRPT_WIRE_H
#define SRPT_WIRE_H

#include <linux/types.h>
#include <scsi/srp.h>

/* Smallest SRP_LOGIN_REQ "requested maximum IU length" that a target may accept, bytes. */
#define SRPT_MIN_IU_LEN		64U
/* Where the Linux initiator puts immediate data: an SRP_CMD, a 16 byte longer CDB, a length. */
#define SRPT_IMM_OFFSET		(sizeof(struct srp_cmd) + 16 + sizeof(struct srp_imm_buf))
/* Longest additional CDB that the format can express, bytes (6 bits of 4 byte words). */
#define SRPT_MAX_ADD_CDB_LEN	252U
/* Most memory descriptors that one indirect table may have. */
#define SRPT_MAX_DESCS		4096U

/* What &srpt_iu.asc says: additional sense code << 8 | qualifier, as in SPC. */
#define SRPT_ASC_IU_TOO_SHORT		0x0e01
#define SRPT_ASC_IU_INVALID_FIELD	0x0e03

/**
 * enum srpt_login_layout - how the private data of a connection request is laid out
 * @SRPT_LOGIN_IB: &struct srp_login_req, 64 bytes, in an IB/CM REQ
 * @SRPT_LOGIN_RDMA: &struct srp_login_req_rdma, 56 bytes, in an RDMA/CM request
 */
enum srpt_login_layout {
	SRPT_LOGIN_IB,
	SRPT_LOGIN_RDMA,
};

/**
 * struct srpt_login_rules - what this target accepts in a login
 * @max_iu_len: largest information unit that a receive buffer holds, bytes
 * @service_guid: the GUID that must stand in both halves of the target port ID
 */
struct srpt_login_rules {
	u32	max_iu_len;
	u64	service_guid;
};

/**
 * struct srpt_login - a checked SRP_LOGIN_REQ
 * @tag: to be sent back in the answer, in the byte order it came in
 * @iu_len: largest information unit the initiator wants to send, bytes
 * @imm_offset: offset of immediate data in an SRP_CMD, bytes; 0: no immediate data was asked
 *	for, or the offset asked for cannot be used
 * @multichannel: true: keep the nexus's other channels; false: end them
 * @sol_logout: an SRP_T_LOGOUT shall raise a solicited event (LOSOLNT)
 * @sol_credit: an SRP_CRED_REQ shall raise a solicited event (CRSOLNT)
 * @i_port_id: initiator port identifier
 * @t_port_id: target port identifier
 */
struct srpt_login {
	u64	tag;
	u32	iu_len;
	u16	imm_offset;
	bool	multichannel;
	bool	sol_logout;
	bool	sol_credit;
	u8	i_port_id[16];
	u8	t_port_id[16];
};

/**
 * struct srpt_login_answer - what an SRP_LOGIN_RSP says
 * @tag: tag of the request
 * @req_lim: requests that the initiator may have outstanding
 * @max_it_iu_len: largest IU from initiator to target, bytes
 * @max_ti_iu_len: largest IU from target to initiator, bytes
 * @rsp_flags: SRP_LOGIN_RSP_MULTICHAN_* and SRP_LOGIN_RSP_IMMED_SUPP
 */
struct srpt_login_answer {
	u64	tag;
	u32	req_lim;
	u32	max_it_iu_len;
	u32	max_ti_iu_len;
	u8	rsp_flags;
};

/**
 * enum srpt_iu_end - what is to become of a received information unit
 * @SRPT_IU_OK: well formed, act on it
 * @SRPT_IU_SENSE: refused; there is a tag to answer with CHECK CONDITION, ILLEGAL REQUEST
 * @SRPT_IU_DISCONNECT: refused; there is nothing to answer, the channel must be closed
 */
enum srpt_iu_end {
	SRPT_IU_OK,
	SRPT_IU_SENSE,
	SRPT_IU_DISCONNECT,
};

/**
 * struct srpt_iu_rules - what was agreed on at login
 * @max_data: most data that one command may move in one direction, bytes
 * @imm_offset: offset of immediate data, bytes; 0: not agreed on
 * @max_add_cdb: longest additional CDB that the target core takes, bytes
 * @ext_table: descriptor tables may reach into initiator memory
 */
struct srpt_iu_rules {
	u32	max_data;
	u16	imm_offset;
	u8	max_add_cdb;
	bool	ext_table;
};

/**
 * enum srpt_buf_kind - where the data of one direction is
 * @SRPT_BUF_NONE: no data in this direction
 * @SRPT_BUF_DIRECT: one memory descriptor
 * @SRPT_BUF_INDIRECT: a table of memory descriptors
 * @SRPT_BUF_IMM: behind the command, in the same information unit
 */
enum srpt_buf_kind {
	SRPT_BUF_NONE,
	SRPT_BUF_DIRECT,
	SRPT_BUF_INDIRECT,
	SRPT_BUF_IMM,
};

/**
 * struct srpt_buf - the data buffer of one direction, checked
 * @kind: what sort of buffer
 * @len: its size, bytes
 * @count: memory descriptors at @desc; 0 while @table_count of them have to be fetched first
 * @desc: descriptors that came in the information unit, in wire order and possibly unaligned;
 *	valid as long as the IU is. For %SRPT_BUF_IMM the data itself, @len bytes.
 * @table_count: descriptors of the whole table; more than @count only with
 *	&srpt_iu_rules.ext_table, then all of them have to be fetched through @table (the first of
 *	them may have come in the information unit as well, which is of no use)
 * @table: where the whole table is in initiator memory, wire order
 */
struct srpt_buf {
	enum srpt_buf_kind	kind;
	u32			len;
	u32			count;
	const void		*desc;
	u32			table_count;
	struct srp_direct_buf	table;
};

/**
 * struct srpt_iu - a checked information unit from the initiator
 * @opcode: SRP_CMD, SRP_TSK_MGMT, SRP_I_LOGOUT, SRP_CRED_RSP or SRP_AER_RSP
 * @sol_success: the response to a success shall raise a solicited event (SCSOLNT)
 * @sol_failure: the response to a failure shall raise a solicited event (UCSOLNT)
 * @task_attr: task attribute as in the SRP_CMD: 0 simple, 1 head of queue, 2 ordered, 4 ACA
 * @tsk_mgmt_func: SRP_TSK_*
 * @tag: tag of the request, in the byte order it came in
 * @task_tag: SRP_TSK_MGMT: tag of the task to be managed, byte order as above
 * @lun: logical unit, as received
 * @cdb: the CDB; valid as long as the IU is. The additional bytes follow the first 16.
 * @cdb_len: bytes at @cdb, at least 16
 * @out: data from initiator to target
 * @in: data from target to initiator
 * @asc: with %SRPT_IU_SENSE: additional sense code << 8 | qualifier
 * @logout: with %SRPT_IU_DISCONNECT: SRPT_LOGOUT_*, to be given as the reason
 * @error: with anything but %SRPT_IU_OK: what is wrong, for the log; static
 */
struct srpt_iu {
	u8		opcode;
	bool		sol_success;
	bool		sol_failure;
	u8		task_attr;
	u8		tsk_mgmt_func;
	u64		tag;
	u64		task_tag;
	struct scsi_lun	lun;
	const u8	*cdb;
	u32		cdb_len;
	struct srpt_buf	out;
	struct srpt_buf	in;
	u16		asc;
	u8		logout;
	const char	*error;
};

/**
 * struct srpt_resid - how far a transfer missed the buffer it was given
 * @count: bytes
 * @over: the command had @count bytes more than the buffer
 * @under: the command had @count bytes less than the buffer
 */
struct srpt_resid {
	u32	count;
	bool	over;
	bool	under;
};

/**
 * struct srpt_rsp - what an SRP_RSP says
 * @tag: tag of the request
 * @req_lim_delta: credits given back
 * @status: SCSI status
 * @solicited: sets SOLNT
 * @out: residual of the data-out buffer
 * @in: residual of the data-in buffer
 * @sense: sense data or NULL
 * @sense_len: bytes at @sense; cut to what fits
 * @has_rsp_code: @rsp_code is to be sent (task management always)
 * @rsp_code: response code, clause 6.9: SRPT_RSP_*
 */
struct srpt_rsp {
	u64			tag;
	u32			req_lim_delta;
	u8			status;
	bool			solicited;
	struct srpt_resid	out;
	struct srpt_resid	in;
	const void		*sense;
	u32			sense_len;
	bool			has_rsp_code;
	u8			rsp_code;
};

/* Response codes of an SRP_RSP (byte 3 of the response data). */
enum {
	SRPT_RSP_NO_FAILURE		= 0x00,
	SRPT_RSP_INVALID_FIELDS		= 0x02,
	SRPT_RSP_TMF_NOT_SUPPORTED	= 0x04,
	SRPT_RSP_TMF_FAILED		= 0x05,
};

/* Reasons of an SRP_T_LOGOUT, clause 6.6. */
enum {
	SRPT_LOGOUT_NO_REASON		= 0x00,
	SRPT_LOGOUT_IU_TYPE		= 0x02,
	SRPT_LOGOUT_NEW_LOGIN		= 0x04,
};

/* Slots for I/O controllers of an I/O unit. Our one controller is in the first. */
#define SRPT_DM_SLOTS		16U
#define SRPT_DM_SLOT		1U
/* Bytes of attribute data in a device management datagram. */
#define SRPT_DM_DATA_LEN	192U
#define SRPT_DM_CLASS_VERSION	1U

/**
 * enum srpt_dm_attr - device management attributes that are answered, IBA 16.3.3
 * @SRPT_DM_CLASS_PORT_INFO: ClassPortInfo
 * @SRPT_DM_IOU_INFO: IOUnitInfo
 * @SRPT_DM_IOC_PROFILE: IOControllerProfile; the modifier is the slot, from 1
 * @SRPT_DM_SVC_ENTRIES: ServiceEntries; the modifier has slot, last and first entry
 */
enum srpt_dm_attr {
	SRPT_DM_CLASS_PORT_INFO	= 0x0001,
	SRPT_DM_IOU_INFO	= 0x0010,
	SRPT_DM_IOC_PROFILE	= 0x0011,
	SRPT_DM_SVC_ENTRIES	= 0x0012,
};

/**
 * enum srpt_dm_status - what a status field says: those of all datagrams (IBA 13.4.7), then those
 *	of device management (IBA 16.3.1)
 * @SRPT_DM_OK: the attribute follows
 * @SRPT_DM_BAD_METHOD: method not supported
 * @SRPT_DM_BAD_ATTR: the method does not go with this attribute, or there is none such
 * @SRPT_DM_BAD_VALUE: invalid modifier
 * @SRPT_DM_NO_IOC: there is no I/O controller in the slot
 * @SRPT_DM_NO_ENTRIES: the controller has no such service entries
 */
enum srpt_dm_status {
	SRPT_DM_OK		= 0x0000,
	SRPT_DM_BAD_METHOD	= 0x0008,
	SRPT_DM_BAD_ATTR	= 0x000c,
	SRPT_DM_BAD_VALUE	= 0x001c,
	SRPT_DM_NO_IOC		= 0x0100,
	SRPT_DM_NO_ENTRIES	= 0x0200,
};

/**
 * enum srpt_ioc_slot - what is in a slot of an I/O unit, IBA 16.3.3.3
 * @SRPT_IOC_NONE: nothing
 * @SRPT_IOC_PRESENT: an I/O controller
 * @SRPT_IOC_NO_SLOT: there is no such slot
 */
enum srpt_ioc_slot {
	SRPT_IOC_NONE		= 0x0,
	SRPT_IOC_PRESENT	= 0x1,
	SRPT_IOC_NO_SLOT	= 0xf,
};

/**
 * struct srpt_dm_offer - what a port offers to who asks by device management
 * @present: there is a controller, the target; all but @change_id is about it
 * @change_id: differs whenever what is offered does
 * @guid: its GUID, which is also its service ID and the identifier extension
 * @vendor_id: vendor of the HCA, 24 bits
 * @device_id: and its number for this model
 * @device_version: and the model's revision
 * @queue_depth: requests that an initiator may have outstanding on a channel
 * @read_depth: RDMA reads that the target may have outstanding on a channel
 * @max_iu_len: largest information unit that an initiator may send, bytes
 * @max_rdma_size: largest RDMA transfer, bytes
 */
struct srpt_dm_offer {
	bool	present;
	u16	change_id;
	u64	guid;
	u32	vendor_id;
	u32	device_id;
	u16	device_version;
	u16	queue_depth;
	u8	read_depth;
	u32	max_iu_len;
	u32	max_rdma_size;
};

u32 srpt_parse_login(const void *priv, u32 len, enum srpt_login_layout layout,
		     const struct srpt_login_rules *rules, struct srpt_login *login);
enum srpt_iu_end srpt_parse_iu(const void *buf, u32 len, const struct srpt_iu_rules *rules,
			       struct srpt_iu *iu);
int srpt_check_table(const void *desc, u32 count, u32 len);
const char *srpt_login_reason(u32 reason);

u32 srpt_build_login_rsp(void *buf, const struct srpt_login_answer *answer);
u32 srpt_build_login_rej(void *buf, u64 tag, u32 reason);
u32 srpt_build_rsp(void *buf, u32 size, const struct srpt_rsp *rsp);
u32 srpt_build_cred_req(void *buf, u64 tag, u32 req_lim_delta, bool solicited);
u32 srpt_build_t_logout(void *buf, u64 tag, u32 reason, bool solicited);

void srpt_set_ioc(u8 *list, u32 slot, enum srpt_ioc_slot value);
void srpt_get_class_port_info(void *data);
void srpt_get_iou(void *data, const struct srpt_dm_offer *offer);
u16 srpt_get_ioc(void *data, u32 slot, const struct srpt_dm_offer *offer);
u16 srpt_get_svc_entries(void *data, u32 modifier, const struct srpt_dm_offer *offer);
u16 srpt_mgmt_method_get(u16 attr, u32 modifier, const struct srpt_dm_offer *offer, void *data);

#endif /* SRPT_WIRE_H */
