/* Animals that leave processes behind which want to live on. */
#include "zoo.h"
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

static int told[2];
static struct timespec born;

static void linger(void) {
    alarm(LIFE_SECONDS);
    for (;;) pause();
}

static int is_old(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec - born.tv_sec > (number("life") > 0 ? number("life") : LIFE_SECONDS);
}

static void tell(void) {
    if (write(told[1], "!", 1) < 0) _exit(1);
}

/* Wait until `count` of the started processes have said that they are where they wanted to be. */
static void hear(int count) {
    char sign;
    for (int heard = 0; heard < count; heard++)
        if (read(told[0], &sign, 1) != 1) break;
}

static int start(void (*life)(void)) {
    pid_t child = fork();
    if (child == 0) {
        close(told[0]);
        life();
        linger();
    }
    return child > 0;
}

static void leave(void) { /* fork again, the middle one ends */
    setsid();
    if (fork() != 0) _exit(0);
}

static void be_daemon(void) {
    leave();
    if (chdir("/") != 0) errno = 0;
    for (int one = 0; one < 3; one++) close(one);
    tell();
}

static void be_leaf(void) { tell(); }

static void be_branch(void) {
    setpgid(0, 0);
    for (int leaf = 0; leaf < 3; leaf++) start(be_leaf);
    tell();
}

static void be_comet(void) {
    setsid();
    tell();
    while (!is_old())
        if (fork() > 0) _exit(0);
    _exit(0);
}

static void be_one_of_a_swarm(void) {
    setsid();
    tell();
}

static void be_deaf(void) {
    setsid();
    for (int one = 1; one < 65; one++)
        if (one != SIGALRM) signal(one, SIG_IGN);
    tell();
}

static void be_stopped(void) {
    setsid();
    tell();
    raise(SIGSTOP);
}

static void be_leaker(void) {
    int ends[2];
    leave();
    for (int one = 0; one < 20; one++) {
        if (pipe(ends) != 0) break;
        if (dup(one % 3) < 0) break;
    }
    tell();
}

static void be_holder(void) { tell(); }

static void be_vforked(void) {
    setsid();
    tell();
    if (vfork() == 0) { /* the parent waits uninterruptibly for a child that never moves again */
        raise(SIGSTOP);
        _exit(0);
    }
}

static void be_spinner(void) {
    setsid();
    tell();
    while (!is_old()) continue;
    _exit(0);
}

static void *stay_in_a_thread(void *nothing) {
    (void)nothing;
    tell();
    linger();
    return NULL;
}

static void be_headless(void) { /* its first thread has ended, so it looks ended, and is not */
    pthread_t thread;
    setsid();
    if (pthread_create(&thread, NULL, stay_in_a_thread, NULL) != 0) _exit(1);
    syscall(SYS_exit, 0);
}

static void be_hoarder(void) {
    leave();
    for (int one = 0; one < 100; one++)
        if (fork() == 0) _exit(0);
    tell();
}

static void be_another_program(void) {
    leave();
    tell();
    execl("/bin/sleep", "sleep", "60", (char *)NULL);
    _exit(1);
}

static int clone_a_sibling(void) {
    long child = syscall(SYS_clone, (long)(CLONE_PARENT | SIGCHLD), 0L, 0L, 0L, 0L);
    if (child == 0) {
        setsid();
        tell();
        linger();
    }
    return child > 0;
}

static int *forked; /* how often, in memory that all share */

static void be_bomb(void) { /* everybody forks, until there have been `upto` */
    setsid();
    tell();
    while (__atomic_fetch_add(forked, 1, __ATOMIC_SEQ_CST) < number("upto"))
        if (fork() == 0) setsid();
}

static const struct {
    const char *name;
    void (*life)(void);
    int starts, tells;
} LIVES[] = {
    {"daemoniser", be_daemon, 1, 1}, {"tree", be_branch, 2, 8},         {"comet", be_comet, 1, 1},
    {"swarm", be_one_of_a_swarm, 64, 64}, {"deaf", be_deaf, 1, 1},      {"stopped", be_stopped, 1, 1},
    {"leaker", be_leaker, 1, 1},     {"holder", be_holder, 2, 2},       {"vforked", be_vforked, 1, 1},
    {"spinner", be_spinner, 2, 2},   {"headless", be_headless, 1, 1},   {"hoarder", be_hoarder, 1, 1},
    {"execer", be_another_program, 1, 1}, {"subreaper", be_daemon, 4, 4}, {"comets", be_comet, 8, 8},
    {"spinners", be_spinner, 16, 16}, {"storm", be_comet, 0, 0},       {"bomb", be_bomb, 1, 1},
};

int survive(const char *animal) {
    int left = 0, known = 0;
    sigset_t signs;
    int sign;
    sigemptyset(&signs);
    sigaddset(&signs, SIGUSR1);
    clock_gettime(CLOCK_MONOTONIC, &born);
    if (pipe2(told, O_CLOEXEC) != 0) return 0;
    if (strcmp(animal, "subreaper") == 0) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (strcmp(animal, "sibling") == 0) {
        known = 1;
        left = clone_a_sibling();
        hear(left);
    }
    for (size_t one = 0; one < sizeof LIVES / sizeof *LIVES; one++) {
        if (strcmp(animal, LIVES[one].name) != 0) continue;
        known = 1;
        int started = 0;
        int starts = LIVES[one].starts != 0 ? LIVES[one].starts : (int)number("upto");
        forked = mmap(NULL, sizeof *forked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        for (int turn = 0; turn < starts; turn++) started += start(LIVES[one].life);
        left = started == LIVES[one].starts ? LIVES[one].tells : started; /* fewer where forking was refused */
        hear(left);
    }
    if (!known) {
        close(told[0]);
        close(told[1]);
        return 0;
    }
    say_number("left", left);
    if (*field("stay")) { /* wait, visibly, for the sign to end */
        sigprocmask(SIG_BLOCK, &signs, NULL);
        prctl(PR_SET_NAME, "zoo-ready", 0, 0, 0);
        alarm(LIFE_SECONDS);
        sigwait(&signs, &sign);
    }
    if (strcmp(field("end"), "failure") == 0) _exit(3);
    if (strcmp(field("end"), "crash") == 0) raise(SIGKILL);
    return 1;
}
