/* What every animal has at hand: the request's fields, attempts in a child of their own, one JSON answer. */
#ifndef ZOO_H
#define ZOO_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH_SIZE 4096
#define LIFE_SECONDS 60 /* whatever escapes ends by itself */

/* A deed returns a number >= 0 when it managed, else -errno. */
typedef long (*deed)(void);

const char *field(const char *name); /* a string field of the request, "" when it is not there */
long number(const char *name);       /* the same as a number, 0 when it is not there */
void attempt(const char *name, deed what);
void say_number(const char *name, long value);
void say_text(const char *name, const char *value);
int managed_anything(void);

static inline long answer_of(long result) { return result < 0 ? -errno : result; }

/* Join a directory of the request with a name, in a static buffer. */
const char *at(const char *directory, const char *name);

/* The animals, by chapter; each returns whether it knows the name. */
int survive(const char *animal);
int write_outside(const char *animal);
int read_outside(const char *animal);
int call_out(const char *animal);
int meddle(const char *animal);
int hog(const char *animal);
int gain(const char *animal);
#endif
