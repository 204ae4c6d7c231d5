// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asks a port device management queries, also such as no honest tool would ask.
 *
 * Copyright the ib_srpt authors
 *
 *   dm_query -d DEVICE [-p PORT] -l LID | -g GID [-v CLASS VERSION]
 *
 * With -g the datagrams have a global route, as RoCE wants it; source is GID index 0. The queries
 * are lines of the standard input: METHOD ATTRIBUTE MODIFIER, numbers as C writes them (get and
 * set may be written out). For each a line is printed: the status, as 0x and 4 digits, and the
 * attribute's data in hex without the zeros at its end; or "no answer".
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DM_CLASS	6
#define GSI_QP		1
#define GSI_QKEY	0x80010000
#define MAD_LEN		256
#define DATA_AT		64
#define DATA_LEN	192
#define TIMEOUT_MS	5000
#define RETRIES		3

struct mad {
	uint8_t		base_version;
	uint8_t		mgmt_class;
	uint8_t		class_version;
	uint8_t		method;
	uint16_t	status;
	uint16_t	class_specific;
	uint64_t	tid;
	uint16_t	attr_id;
	uint16_t	reserved;
	uint32_t	attr_mod;
	uint8_t		rest[MAD_LEN - 24];
};

struct peer {
	const char	*device;
	int		port;
	int		lid;
	int		class_version;
	bool		has_gid;
	uint8_t		gid[16];
};

static void die(const char *what)
{
	fprintf(stderr, "dm_query: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void usage(void)
{
	fprintf(stderr, "usage: dm_query -d DEVICE [-p PORT] -l LID | -g GID [-v VERSION]\n");
	exit(2);
}

static void parse_args(int argc, char **argv, struct peer *peer)
{
	int opt;

	while ((opt = getopt(argc, argv, "d:p:l:g:v:")) != -1) {
		switch (opt) {
		case 'd':
			peer->device = optarg;
			break;
		case 'p':
			peer->port = atoi(optarg);
			break;
		case 'l':
			peer->lid = strtol(optarg, NULL, 0);
			break;
		case 'g':
			peer->has_gid = inet_pton(AF_INET6, optarg, peer->gid) == 1;
			break;
		case 'v':
			peer->class_version = atoi(optarg);
			break;
		default:
			usage();
		}
	}
	if (!peer->device || (!peer->lid && !peer->has_gid))
		usage();
}

static void set_address(void *umad, const struct peer *peer)
{
	ib_mad_addr_t grh = { .grh_present = 1, .hop_limit = 64 };

	umad_set_addr(umad, peer->lid, GSI_QP, 0, GSI_QKEY);
	umad_set_pkey(umad, 0);
	if (!peer->has_gid)
		return;
	memcpy(grh.gid, peer->gid, sizeof(grh.gid));
	umad_set_grh(umad, &grh);
}

static void print_answer(const struct mad *mad)
{
	const uint8_t *data = (const uint8_t *)mad + DATA_AT;
	int len = DATA_LEN, i;

	while (len && !data[len - 1])
		len--;
	printf("0x%04x%s", ntohs(mad->status), len ? " " : "");
	for (i = 0; i < len; i++)
		printf("%02x", data[i]);
	printf("\n");
}

static void ask(int fd, int agent, const struct peer *peer, const unsigned long query[3])
{
	static uint64_t tid;
	void *umad = umad_alloc(1, umad_size() + MAD_LEN);
	struct mad *mad = umad_get_mad(umad);
	int len = MAD_LEN;

	memset(umad, 0, umad_size() + MAD_LEN);
	set_address(umad, peer);
	mad->base_version = 1;
	mad->mgmt_class = DM_CLASS;
	mad->class_version = peer->class_version;
	mad->method = query[0];
	mad->tid = htobe64(++tid);
	mad->attr_id = htons(query[1]);
	mad->attr_mod = htonl(query[2]);
	if (umad_send(fd, agent, umad, MAD_LEN, TIMEOUT_MS, RETRIES))
		die("umad_send");
	if (umad_recv(fd, umad, &len, TIMEOUT_MS * (RETRIES + 2)) < 0)
		die("umad_recv");
	if (umad_status(umad))
		printf("no answer\n");
	else
		print_answer(mad);
	fflush(stdout);
	umad_free(umad);
}

static unsigned long method_of(const char *text)
{
	if (!strcmp(text, "get"))
		return 1;
	return strcmp(text, "set") ? strtoul(text, NULL, 0) : 2;
}

int main(int argc, char **argv)
{
	struct peer peer = { .port = 1, .class_version = 1 };
	unsigned long query[3];
	char method[16];
	int fd, agent;

	parse_args(argc, argv, &peer);
	if (umad_init())
		die("umad_init");
	fd = umad_open_port(peer.device, peer.port);
	if (fd < 0)
		die(peer.device);
	agent = umad_register(fd, DM_CLASS, peer.class_version, 0, NULL);
	if (agent < 0)
		die("umad_register");
	while (scanf("%15s %li %li", method, (long *)&query[1], (long *)&query[2]) == 3) {
		query[0] = method_of(method);
		ask(fd, agent, &peer, query);
	}
	umad_close_port(fd);
	return 0;
}
