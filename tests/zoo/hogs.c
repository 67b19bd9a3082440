/* Takes as much as it gets of one thing, up to `upto`, and says how much that was. */
#include "zoo.h"
#include <dirent.h>
#include <sys/mman.h>

static void say_limits(void) {
    static const struct {
        const char *name;
        int which;
    } LIMITS[] = {{"core", RLIMIT_CORE}, {"nofile", RLIMIT_NOFILE}, {"as", RLIMIT_AS}, {"data", RLIMIT_DATA},
                  {"cpu", RLIMIT_CPU}, {"fsize", RLIMIT_FSIZE}, {"nproc", RLIMIT_NPROC}};
    char name[32];
    for (size_t one = 0; one < sizeof LIMITS / sizeof *LIMITS; one++) {
        struct rlimit value;
        getrlimit(LIMITS[one].which, &value);
        say_number(LIMITS[one].name, value.rlim_cur == RLIM_INFINITY ? -1 : (long)value.rlim_cur);
        snprintf(name, sizeof name, "%s_hard", LIMITS[one].name);
        say_number(name, value.rlim_max == RLIM_INFINITY ? -1 : (long)value.rlim_max);
    }
}

static long memory(long upto) { /* MiB written to */
    long taken = 0;
    for (; taken < upto; taken++) {
        char *one = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (one == MAP_FAILED) break;
        for (long page = 0; page < 1 << 20; page += 4096) one[page] = 1;
    }
    return taken;
}

/* In a child, which ends where it takes too much; what it had by then stands in memory that both have. */
static long in_child(long upto, int (*take)(void)) {
    int status;
    volatile long *taken = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (taken == MAP_FAILED) return -errno;
    pid_t child = fork();
    if (child == 0) {
        while (*taken < upto && take()) *taken += 1;
        _exit(0);
    }
    waitpid(child, &status, 0);
    return *taken;
}
static int take_shared(void) {
    char *one = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (one == MAP_FAILED) return 0;
    memset(one, 1, 1 << 20);
    return 1;
}
static int take_memfd(void) {
    static int file = -1;
    static char chunk[1 << 20];
    if (file < 0) file = (int)syscall(SYS_memfd_create, "zoo", 0L);
    return file >= 0 && write(file, chunk, sizeof chunk) == sizeof chunk;
}

static long descriptors(long upto) {
    int highest = 2;
    for (long one = 0; one < upto; one++) {
        int made = dup(0);
        if (made < 0) break;
        highest = made;
    }
    return highest + 1;
}

static long disk(long upto) { /* MiB of one file */
    static char chunk[1 << 20];
    signal(SIGXFSZ, SIG_IGN);
    int file = open("huge", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return -errno;
    if (ftruncate(file, (off_t)upto << 20) == 0) { /* sparse: costs no disk */
        if (pwrite(file, chunk, 1, ((off_t)upto << 20) - 1) == 1) return upto;
    }
    long taken = 0;
    while (taken < upto && write(file, chunk, sizeof chunk) == (ssize_t)sizeof chunk) taken++;
    return taken;
}

static void core(void) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) abort();
    waitpid(child, &status, 0);
    say_number("aborted", WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    say_number("dumped", WIFSIGNALED(status) && WCOREDUMP(status));
}

static long processes(long upto) {
    long made = 0;
    while (made < upto) {
        pid_t child = fork();
        if (child == 0)
            for (;;) pause();
        if (child < 0) break;
        made++;
    }
    return made;
}

/* Makes the private directory hard to remove: deep beyond any path, closed, pointing outside, oddly named. */
static long nest(void) {
    char name[201];
    long depth = 0;
    memset(name, 'd', 200);
    name[200] = 0;
    if (symlink(field("place"), "outside") != 0) return -errno;
    mkdir("closed", 0);
    mkdir("half-closed", 0700);
    close(open("half-closed/file", O_CREAT | O_WRONLY, 0));
    mkdir("half-closed/inner", 0700);
    close(open("half-closed/inner/file", O_CREAT | O_WRONLY, 0));
    chmod("half-closed/inner", 0100); /* refused where modes are */
    chmod("half-closed", 0);
    close(open("new\nline \377\"", O_CREAT | O_WRONLY, 0400));
    for (; depth < 300; depth++)
        if (mkdir(name, 0700) != 0 || chdir(name) != 0) break;
    return depth;
}

int hog(const char *animal) {
    long upto = number("upto");
    if (strcmp(animal, "limits") == 0) say_limits();
    else if (strcmp(animal, "memory_hog") == 0) say_number("taken", memory(upto));
    else if (strcmp(animal, "shared_hog") == 0) say_number("taken", in_child(upto, take_shared));
    else if (strcmp(animal, "memfd_hog") == 0) say_number("taken", in_child(upto, take_memfd));
    else if (strcmp(animal, "fd_hog") == 0) say_number("taken", descriptors(upto));
    else if (strcmp(animal, "disk_hog") == 0) say_number("taken", disk(upto));
    else if (strcmp(animal, "core_dumper") == 0) core();
    else if (strcmp(animal, "process_hog") == 0) say_number("taken", processes(upto));
    else if (strcmp(animal, "nester") == 0) say_number("depth", nest());
    else if (strcmp(animal, "limit_raiser") == 0) {
        struct rlimit value;
        getrlimit(RLIMIT_NOFILE, &value);
        value.rlim_cur = value.rlim_max = value.rlim_max + 1;
        say_number("raised", setrlimit(RLIMIT_NOFILE, &value) == 0);
        getrlimit(RLIMIT_CORE, &value);
        value.rlim_cur = value.rlim_max = 1 << 20;
        say_number("raised_core", setrlimit(RLIMIT_CORE, &value) == 0);
    } else if (strcmp(animal, "cpu_spinner") == 0) {
        for (;;) continue;
    } else return 0;
    return 1;
}
