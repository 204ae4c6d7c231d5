/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a case rests: clauses of T10 SRP revision 16a, by number where a clause is about one
 * information unit, else by what it is about.
 *
 * Copyright the ib_srpt authors
 */
#ifndef CLAUSES_H
#define CLAUSES_H

#define S_LOGIN_REQ	"SRP 6.2, SRP_LOGIN_REQ request"
#define S_LOGIN_RSP	"SRP 6.3, SRP_LOGIN_RSP response"
#define S_LOGIN_REJ	"SRP 6.4, SRP_LOGIN_REJ response"
#define S_I_LOGOUT	"SRP 6.5, SRP_I_LOGOUT request"
#define S_T_LOGOUT	"SRP 6.6, SRP_T_LOGOUT request"
#define S_TSK_MGMT	"SRP 6.7, SRP_TSK_MGMT request"
#define S_CMD		"SRP 6.8, SRP_CMD request"
#define S_RSP		"SRP 6.9, SRP_RSP response"
#define S_CRED		"SRP 6.10 and 6.11, SRP_CRED_REQ request and SRP_CRED_RSP response"
#define S_AER		"SRP 6.12 and 6.13, SRP_AER_REQ request and SRP_AER_RSP response"
#define S_IU		"SRP 6.1, SRP information units"
#define S_LIMIT		"SRP, request limit (flow control)"
#define S_CHANNELS	"SRP, RDMA channels and I_T nexus; single and multi RDMA channel operation"
#define S_DIRECT	"SRP, data buffer descriptors: direct"
#define S_INDIRECT	"SRP, data buffer descriptors: indirect"
#define S_SOLICITED	"SRP, solicited event notification"
#define S_IMM		"SRP-2, immediate data"
#define S_IB		"SRP annex, SRP over InfiniBand: connections"
#define S_RDMA		"SRP, RDMA communication service: memory access by key"
#define S_SAM		"SAM, task management functions"

#endif /* CLAUSES_H */
