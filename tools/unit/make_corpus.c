// SPDX-License-Identifier: GPL-2.0-only
/* Copyright the ib_srpt authors */
/* Writes what the fuzzer begins with: every sample, with the byte before it that says what it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_kind.h"
#include "samples.h"

static const char *const names[] = {
	"5054:00ff:fe12:3456", "0xfe80000000000000505400fffe123456", "fe80::5054:ff:fe12:3456",
	"fe80:0000:0000:0000:5054:00ff:fe12:3456", "10.0.2.15", "::ffff:10.0.2.15",
	"fe80000000000000505400fffe123456", "0x505400fffe123456\n",
};

static void write_file(const char *dir, unsigned int number, u8 kind, const struct image *image)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/seed-%02u", dir, number);
	file = fopen(path, "wb");
	if (!file || fputc(kind, file) == EOF ||
	    fwrite(image->bytes, 1, image->len, file) != image->len || fclose(file)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned int number = 0, i;
	struct image image;

	if (argc != 2) {
		fprintf(stderr, "usage: make_corpus DIRECTORY\n");
		return 2;
	}
	for (i = 0; i < SAMPLE_COUNT; i++) {
		make_sample(&image, i);
		write_file(argv[1], number++, rules_of_sample(i)->ext_table ? FUZZ_IU_EXT : FUZZ_IU,
			   &image);
	}
	make_login(&image, SRPT_LOGIN_IB);
	write_file(argv[1], number++, FUZZ_LOGIN_IB, &image);
	make_login(&image, SRPT_LOGIN_RDMA);
	write_file(argv[1], number++, FUZZ_LOGIN_RDMA, &image);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		image.len = strlen(names[i]);
		memcpy(image.bytes, names[i], image.len);
		write_file(argv[1], number++, FUZZ_NAME, &image);
	}
	return 0;
}
