// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operator's hand: a program that makes things happen at the target.
 *
 * Copyright the ib_srpt authors
 *
 * "COMMAND ACTION" is run by a shell. Status 0: done; 77: this operator cannot do that, and the
 * case is skipped. While it runs the sessions of the case are looked after, since an action may
 * wait for what the target and the initiator have to tell each other.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "srpconf.h"

#define CANNOT		77
#define HOOK_MS		300000

extern char **environ;

static pid_t start(const char *action, int out)
{
	posix_spawn_file_actions_t files;
	char line[512];
	char *argv[] = { "sh", "-c", line, NULL };
	pid_t pid;
	int ret;

	snprintf(line, sizeof(line), "%s %s", opt.hook, action);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	ret = posix_spawn(&pid, "/bin/sh", &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return ret ? -1 : pid;
}

static void look_after(struct test *t)
{
	struct session *s;

	for (s = t->sessions; s; s = s->next)
		if (s->l.events)
			link_pump(s, 0);
	nap(20);
}

static int wait_end(struct test *t, pid_t pid)
{
	long end = now_ms() + HOOK_MS;
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (now_ms() >= end) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		look_after(t);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void read_answer(int fd, char *answer, size_t size)
{
	ssize_t n = answer ? read(fd, answer, size - 1) : 0;

	if (answer)
		answer[n > 0 ? n : 0] = '\0';
	close(fd);
}

/* Runs an action. Returns its exit status, or -1. What it prints is in @answer. */
int hook(struct test *t, const char *action, char *answer, size_t size)
{
	int pipes[2], status;
	pid_t pid;

	if (!opt.hook || pipe2(pipes, O_CLOEXEC))
		return CANNOT;
	pid = start(action, pipes[1]);
	close(pipes[1]);
	status = pid > 0 ? wait_end(t, pid) : -1;
	read_answer(pipes[0], answer, size);
	return status;
}

/* Runs an action that the case cannot do without; skips the case if this operator cannot do it. */
void need_hook(struct test *t, const char *action)
{
	int status = hook(t, action, NULL, 0);

	if (status == CANNOT)
		skip(t, "the hook cannot do '%s'", action);
	if (status)
		fail(t, "the hook failed: '%s', status %d", action, status);
}

/* The same; @undo_action follows, at the latest when the case is over. */
void undoable_hook(struct test *t, const char *action, const char *undo_action)
{
	t->undo = undo_action;
	need_hook(t, action);
}

void undo(struct test *t)
{
	const char *action = t->undo;

	t->undo = NULL;
	if (action && hook(t, action, NULL, 0))
		fail(t, "the hook failed: '%s'", action);
}

/* The back end of the scratch unit completes nothing until it is released. */
void hold(struct test *t)
{
	undoable_hook(t, "hold", "release");
}

void release(struct test *t)
{
	undo(t);
}

/* What the standard leaves to the target fails a case only where the user asked for it. */
void optional(struct test *t, const char *feature, const char *missing)
{
	size_t len = strlen(feature);
	const char *at = opt.required;

	saw(t, "; %s", missing);
	while (at && *at) {
		if (!strncmp(at, feature, len) && (at[len] == ',' || !at[len]))
			fail(t, "%s, which --require asks for", missing);
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
}
