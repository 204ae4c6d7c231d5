/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the ib_srpt authors */
#ifndef SHIM_LINUX_INET_H
#define SHIM_LINUX_INET_H

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <linux/types.h>

/* The kernel's parsers take numbers with any count of zeros before them; C libraries do not. */
static inline void shim_drop_zeros(char *to, const char *text, size_t room)
{
	bool inside = false;

	for (; *text && room > 1; text++) {
		if (!inside && *text == '0' && isxdigit((unsigned char)text[1]))
			continue;
		inside = isxdigit((unsigned char)*text);
		*to++ = *text;
		room--;
	}
	*to = '\0';
}

/* Only what names.c asks for: the whole text, or nothing. */
static inline int shim_pton(int family, const char *text, u8 *to, const char **end)
{
	char plain[256];
	int fine;

	shim_drop_zeros(plain, text, sizeof(plain));
	fine = inet_pton(family, plain, to) == 1;
	*end = fine ? text + strlen(text) : text;
	return fine;
}

static inline int in4_pton(const char *text, int len, u8 *to, int delim, const char **end)
{
	(void)len;
	(void)delim;
	return shim_pton(AF_INET, text, to, end);
}

static inline int in6_pton(const char *text, int len, u8 *to, int delim, const char **end)
{
	(void)len;
	(void)delim;
	return shim_pton(AF_INET6, text, to, end);
}

#endif /* SHIM_LINUX_INET_H */
