/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: each step of a login, of a command and of a teardown.
 *
 * Copyright the ib_srpt authors
 *
 * Channels are told apart by their number, which the event of the login ties to a name.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_srpt

#if !defined(SRPT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SRPT_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(srpt_login,
	TP_PROTO(const struct ib_device *device, u32 port, const struct srpt_login *login,
		 u32 reason),
	TP_ARGS(device, port, login, reason),
	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__field(u32, port)
		__array(u8, initiator, 16)
		__field(u32, iu_len)
		__field(bool, multichannel)
		__field(u32, reason)
	),
	TP_fast_assign(
		strscpy(__entry->device, dev_name(&device->dev), IB_DEVICE_NAME_MAX);
		__entry->port = port;
		memcpy(__entry->initiator, login->i_port_id, 16);
		__entry->iu_len = login->iu_len;
		__entry->multichannel = login->multichannel;
		__entry->reason = reason;
	),
	TP_printk("%s/%u initiator=0x%s iu_len=%u multichannel=%d reason=%#x",
		  __entry->device, __entry->port, __print_hex_str(__entry->initiator, 16),
		  __entry->iu_len, __entry->multichannel, __entry->reason)
);

DECLARE_EVENT_CLASS(srpt_channel_event,
	TP_PROTO(const struct srpt_rdma_ch *ch, const char *what),
	TP_ARGS(ch, what),
	TP_STRUCT__entry(
		__field(u32, id)
		__array(char, name, SRPT_NAME_LEN)
		__array(char, what, 48)
	),
	TP_fast_assign(
		__entry->id = ch->id;
		strscpy(__entry->name, ch->name, SRPT_NAME_LEN);
		strscpy(__entry->what, what, 48);
	),
	TP_printk("ch=%u initiator=%s %s", __entry->id, __entry->name, __entry->what)
);

DEFINE_EVENT(srpt_channel_event, srpt_channel,
	TP_PROTO(const struct srpt_rdma_ch *ch, const char *what),
	TP_ARGS(ch, what)
);

DEFINE_EVENT(srpt_channel_event, srpt_teardown,
	TP_PROTO(const struct srpt_rdma_ch *ch, const char *what),
	TP_ARGS(ch, what)
);

TRACE_EVENT(srpt_command,
	TP_PROTO(struct srpt_send_ioctx *ctx),
	TP_ARGS(ctx),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u64, tag)
		__field(u64, lun)
		__field(u32, in)
		__field(u32, out)
		__array(u8, cdb, 16)
	),
	TP_fast_assign(
		__entry->id = ctx->ch->id;
		__entry->tag = be64_to_cpu((__force __be64)ctx->iu.tag);
		__entry->lun = scsilun_to_int(&ctx->iu.lun);
		__entry->in = ctx->iu.in.len;
		__entry->out = ctx->iu.out.len;
		memcpy(__entry->cdb, ctx->iu.cdb, 16);
	),
	TP_printk("ch=%u tag=%#llx lun=%llu in=%u out=%u cdb=%s", __entry->id, __entry->tag,
		  __entry->lun, __entry->in, __entry->out, __print_hex_str(__entry->cdb, 16))
);

TRACE_EVENT(srpt_transfer,
	TP_PROTO(const struct srpt_send_ioctx *ctx, u32 pieces, bool response),
	TP_ARGS(ctx, pieces, response),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u64, tag)
		__field(bool, read)
		__field(u32, len)
		__field(u32, pieces)
		__field(u32, sqe)
		__field(bool, response)
	),
	TP_fast_assign(
		__entry->id = ctx->ch->id;
		__entry->tag = be64_to_cpu((__force __be64)ctx->iu.tag);
		__entry->read = ctx->rw_dir == DMA_FROM_DEVICE;
		__entry->len = ctx->rw_len;
		__entry->pieces = pieces;
		__entry->sqe = ctx->sqe;
		__entry->response = response;
	),
	TP_printk("ch=%u tag=%#llx %s=%u pieces=%u sqe=%u response=%d", __entry->id,
		  __entry->tag, __entry->read ? "rdma_read" : "rdma_write", __entry->len,
		  __entry->pieces, __entry->sqe, __entry->response)
);

TRACE_EVENT(srpt_response,
	TP_PROTO(const struct srpt_send_ioctx *ctx, const struct srpt_rsp *rsp),
	TP_ARGS(ctx, rsp),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u64, tag)
		__field(u8, status)
		__field(u8, rsp_code)
		__field(u32, sense_len)
		__field(u32, resid_in)
		__field(u32, resid_out)
	),
	TP_fast_assign(
		__entry->id = ctx->ch->id;
		__entry->tag = be64_to_cpu((__force __be64)rsp->tag);
		__entry->status = rsp->status;
		__entry->rsp_code = rsp->rsp_code;
		__entry->sense_len = rsp->sense_len;
		__entry->resid_in = rsp->in.count;
		__entry->resid_out = rsp->out.count;
	),
	TP_printk("ch=%u tag=%#llx status=%#x rsp_code=%u sense=%u resid_in=%u resid_out=%u",
		  __entry->id, __entry->tag, __entry->status, __entry->rsp_code,
		  __entry->sense_len, __entry->resid_in, __entry->resid_out)
);

TRACE_EVENT(srpt_credit,
	TP_PROTO(const struct srpt_rdma_ch *ch, u32 delta),
	TP_ARGS(ch, delta),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, delta)
		__field(s32, credit)
		__field(u32, limit)
	),
	TP_fast_assign(
		__entry->id = ch->id;
		__entry->delta = delta;
		__entry->credit = ch->credit;
		__entry->limit = ch->req_lim;
	),
	TP_printk("ch=%u delta=%u credit=%d limit=%u", __entry->id, __entry->delta,
		  __entry->credit, __entry->limit)
);

#endif /* SRPT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH srpt
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
