/* Meddles with processes outside: its supervisor (the parent), the host (`host`, or the parent's parent) and
 * `bystander`, a process of the same user. */
#include "zoo.h"
#include <dirent.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

static pid_t parent, host, bystander;
static pid_t target;

static pid_t parent_of(pid_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    if (got <= 0) return 0;
    text[got] = 0;
    char *rest = strrchr(text, ')');
    return rest == NULL ? 0 : (pid_t)strtol(rest + 4, NULL, 10);
}

static const char *of_target(const char *what) {
    static char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", target, what);
    return path;
}

static long opened(const char *what, int flags) {
    char byte;
    int file = open(of_target(what), flags | O_CLOEXEC);
    if (file < 0) return -errno;
    if ((flags & O_ACCMODE) != O_RDONLY) return 0;
    ssize_t got = read(file, &byte, 1);
    return got < 0 && strcmp(what, "mem") != 0 ? -errno : 0;
}

static long do_attach(void) {
    long result = ptrace(PTRACE_ATTACH, target, NULL, NULL);
    if (result != 0) return -errno;
    waitpid(target, NULL, __WALL);
    ptrace(PTRACE_DETACH, target, NULL, NULL);
    return 0;
}
static long do_seize(void) { return answer_of(ptrace(PTRACE_SEIZE, target, NULL, NULL)); }
static long do_readv(void) {
    char byte;
    struct iovec here = {&byte, 1}, there = {NULL, 1};
    extern char **environ;
    there.iov_base = environ[0] != NULL ? environ[0] : (char *)environ; /* a place that is likely to be mapped */
    if (process_vm_readv(target, &here, 1, &there, 1, 0) == 1) return 0;
    return errno == EFAULT ? 0 : -errno; /* a bad address is found out only after permission was given */
}
static long do_writev(void) {
    char byte = 0;
    struct iovec here = {&byte, 1}, there = {(void *)8, 1};
    if (process_vm_writev(target, &here, 1, &there, 1, 0) == 1) return 0;
    return errno == EFAULT ? 0 : -errno;
}
static long do_mem(void) { return opened("mem", O_RDONLY); }
static long do_mem_write(void) { return opened("mem", O_RDWR); }
static long do_environ(void) { return opened("environ", O_RDONLY); }
static long do_cmdline(void) { return opened("cmdline", O_RDONLY); }
static long do_maps(void) { return opened("maps", O_RDONLY); }
static long do_status(void) { return opened("status", O_RDONLY); }
static long do_oom(void) { return opened("oom_score_adj", O_WRONLY); }
static long do_descriptors(void) {
    DIR *folder = opendir(of_target("fd"));
    return folder != NULL ? 0 : -errno;
}
static long do_steal_descriptor(void) {
    int process = (int)syscall(434, (long)target, 0L);
    if (process < 0) return -errno;
    for (long one = 0; one < 16; one++)
        if (syscall(438, (long)process, one, 0L) >= 0) return 0;
    return -errno;
}
static long do_kcmp(void) { return answer_of(syscall(SYS_kcmp, (long)getpid(), (long)target, 1L, 0L, 0L)); }
static long do_perf(void) {
    char attributes[128] = {1, 0, 0, 0, 112};
    return answer_of(syscall(SYS_perf_event_open, attributes, (long)target, -1L, -1L, 0L));
}
static long do_madvise(void) {
    int process = (int)syscall(434, (long)target, 0L);
    struct iovec range = {NULL, 4096};
    if (process < 0) return -errno;
    long result = syscall(440, (long)process, &range, 1L, 20L, 0L);
    return result >= 0 || errno == ENOMEM ? 0 : -errno;
}
static long do_move_pages(void) { return answer_of(syscall(SYS_move_pages, (long)target, 0L, NULL, NULL, NULL, 0L)); }

static long do_kill(void) { return answer_of(kill(target, SIGURG)); }
static long do_kill_group(void) { return target == 1 ? -ESRCH /* -1 would mean its own */ : answer_of(kill(-target, SIGURG)); }
static long do_tgkill(void) { return answer_of(syscall(SYS_tgkill, (long)target, (long)target, (long)SIGURG)); }
static long do_tkill(void) { return answer_of(syscall(SYS_tkill, (long)target, (long)SIGURG)); }
static long do_queue(void) {
    siginfo_t what = {.si_signo = SIGURG, .si_code = SI_QUEUE};
    return answer_of(syscall(SYS_rt_sigqueueinfo, (long)target, (long)SIGURG, &what));
}
static long do_thread_queue(void) {
    siginfo_t what = {.si_signo = SIGURG, .si_code = SI_QUEUE};
    return answer_of(syscall(SYS_rt_tgsigqueueinfo, (long)target, (long)target, (long)SIGURG, &what));
}
static long do_pidfd_signal(void) {
    int process = (int)syscall(434, (long)target, 0L);
    if (process < 0) return -errno;
    return answer_of(syscall(424, (long)process, (long)SIGURG, NULL, 0L));
}
static long do_proc_signal(void) { /* a directory of /proc is a process descriptor too */
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", target);
    int process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process < 0) return -errno;
    return answer_of(syscall(424, (long)process, (long)SIGURG, NULL, 0L));
}
static long do_processor_limit(void) {
    struct rlimit one = {3600, 3600};
    return answer_of(prlimit(target, RLIMIT_CPU, &one, NULL));
}
static long do_read_limit(void) {
    struct rlimit one;
    return answer_of(prlimit(target, RLIMIT_CPU, NULL, &one));
}
static long do_owner_signal(void) { /* a descriptor that signals its owner, who is somebody else */
    int ends[2];
    if (pipe(ends) != 0) return -errno;
    if (fcntl(ends[0], F_SETOWN, target) != 0) return -errno;
    if (fcntl(ends[0], F_SETSIG, SIGUSR2) != 0) return -errno;
    if (fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) != 0) return -errno;
    if (write(ends[1], "!", 1) != 1) return -errno;
    return -EAGAIN; /* nobody says whether it arrived; the bystander does */
}
static long do_nice(void) { return answer_of(setpriority(PRIO_PROCESS, (id_t)target, 5)); }
static long do_affinity(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    return answer_of(sched_setaffinity(target, sizeof set, &set));
}
static long do_scheduler(void) {
    struct sched_param none = {0};
    return answer_of(sched_setscheduler(target, SCHED_BATCH, &none));
}
static long do_io_priority(void) { return answer_of(syscall(SYS_ioprio_set, 1L, (long)target, (2L << 13) | 7)); }

static const struct {
    const char *name;
    deed what;
} TRACING[] = {
    {"attach", do_attach}, {"seize", do_seize}, {"vm_readv", do_readv}, {"vm_writev", do_writev}, {"mem", do_mem},
    {"mem_write", do_mem_write}, {"environ", do_environ}, {"cmdline", do_cmdline}, {"maps", do_maps},
    {"status", do_status}, {"descriptors", do_descriptors}, {"steal_descriptor", do_steal_descriptor},
    {"kcmp", do_kcmp}, {"perf", do_perf}, {"madvise", do_madvise}, {"move_pages", do_move_pages},
}, SIGNALS[] = {
    {"kill", do_kill}, {"kill_group", do_kill_group}, {"tgkill", do_tgkill}, {"tkill", do_tkill},
    {"sigqueue", do_queue}, {"tgsigqueue", do_thread_queue}, {"pidfd", do_pidfd_signal},
    {"proc_directory", do_proc_signal}, {"cpu_limit", do_processor_limit}, {"owner", do_owner_signal},
}, SCHEDULING[] = {
    {"nice", do_nice}, {"affinity", do_affinity}, {"scheduler", do_scheduler}, {"io_priority", do_io_priority},
    {"oom", do_oom}, {"read_limit", do_read_limit},
};

static void on_each(const char *name, deed what) {
    char full[96];
    struct {
        const char *who;
        pid_t pid;
    } those[] = {{"parent", parent}, {"host", host}, {"bystander", bystander}};
    for (size_t one = 0; one < 3; one++) {
        if (those[one].pid <= 0 || (*field("only") && strcmp(field("only"), those[one].who) != 0)) continue;
        target = those[one].pid;
        snprintf(full, sizeof full, "%s_%s", name, those[one].who);
        attempt(full, what);
    }
}

/* Every process there is: how many others can be looked into, and whether `needle` stands in one. */
static void scan(void) {
    static const char *FILES[] = {"environ", "cmdline", "comm", "status", "mem"};
    static char text[1 << 20];
    char needle[256], path[300], answer[32];
    struct dirent *entry;
    long readable[5] = {0}, seen = 0, found = 0;
    DIR *folder = opendir("/proc");
    snprintf(needle, sizeof needle, "%s", field("needle"));
    for (char *one = needle; *one; one++) *one ^= 1; /* so that it stands in the own memory in disguise only */
    for (pid_t pid = 1; pid < 1 << 22; pid++) {
        if (folder != NULL) {
            do entry = readdir(folder);
            while (entry != NULL && (entry->d_name[0] < '0' || entry->d_name[0] > '9'));
            if (entry == NULL) break;
            pid = (pid_t)strtol(entry->d_name, NULL, 10);
        } else if (pid > 1000 && abs(pid - bystander) > 500 && abs(pid - getpid()) > 500) {
            continue; /* those that are likely to be there, where nobody lists them */
        }
        if (pid == getpid()) continue;
        seen++;
        for (int one = 0; one < 5; one++) {
            snprintf(path, sizeof path, "/proc/%d/%s", pid, FILES[one]);
            int file = open(path, O_RDONLY | O_CLOEXEC);
            if (file < 0) continue;
            ssize_t got = read(file, text, one == 4 ? 1 : sizeof text);
            close(file);
            if (one == 4 || got > 0) readable[one]++;
            for (ssize_t here = 0; one < 2 && *needle && here + (ssize_t)strlen(needle) <= got; here++) {
                size_t size = 0;
                while (needle[size] && text[here + (ssize_t)size] == needle[size]) size++;
                if (!needle[size]) {
                    found++;
                    break;
                }
            }
        }
    }
    (void)seen;
    for (int one = 0; one < 5; one++) {
        snprintf(answer, sizeof answer, "readable_%s", FILES[one]);
        say_number(answer, readable[one]);
    }
    say_number("listed", folder != NULL);
    say_number("found", found);
}

int meddle(const char *animal) {
    parent = getppid();
    bystander = (pid_t)number("bystander");
    host = (pid_t)number("host");
    if (host == 0) host = parent_of(parent);
    if (strcmp(animal, "tracer") == 0) {
        for (size_t one = 0; one < sizeof TRACING / sizeof *TRACING; one++) on_each(TRACING[one].name, TRACING[one].what);
        return 1;
    }
    if (strcmp(animal, "signaller") == 0) {
        for (size_t one = 0; one < sizeof SIGNALS / sizeof *SIGNALS; one++) on_each(SIGNALS[one].name, SIGNALS[one].what);
        return 1;
    }
    if (strcmp(animal, "scheduler") == 0) {
        for (size_t one = 0; one < sizeof SCHEDULING / sizeof *SCHEDULING; one++)
            on_each(SCHEDULING[one].name, SCHEDULING[one].what);
        return 1;
    }
    if (strcmp(animal, "killer") == 0) {
        /* A daemon first, which would profit. */
        survive("daemoniser");
        say_number("killed_parent", parent > 0 && kill(parent, SIGKILL) == 0);
        say_number("killed_host", host > 0 && kill(host, SIGKILL) == 0);
        say_number("stopped_bystander", bystander > 0 && kill(bystander, SIGKILL) == 0);
        return 1;
    }
    if (strcmp(animal, "parent_killer") == 0 || strcmp(animal, "parent_stopper") == 0) {
        int sign = strcmp(animal, "parent_killer") == 0 ? SIGKILL : SIGSTOP;
        survive("daemoniser");
        say_number("signalled_parent", parent > 0 && kill(parent, sign) == 0);
        return 1;
    }
    if (strcmp(animal, "starver") == 0) { /* its supervisor is to get no time at all */
        struct sched_param none = {0};
        cpu_set_t first;
        CPU_ZERO(&first);
        CPU_SET(0, &first);
        say_number("idled", sched_setscheduler(parent, SCHED_IDLE, &none) == 0);
        sched_setaffinity(parent, sizeof first, &first);
        setpriority(PRIO_PROCESS, (id_t)parent, 19);
        survive("spinners");
        return 1;
    }
    if (strcmp(animal, "scanner") == 0) {
        scan();
        return 1;
    }
    return 0;
}
