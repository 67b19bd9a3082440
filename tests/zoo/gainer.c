/* Wants to become more than it is: by set-user-ID `setuid` (a copy of this program), by file capabilities
 * (`capable`), by what it holds; and says what it was given that it did not ask for. */
#include "zoo.h"
#include <dirent.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>

static unsigned long long hexadecimal(const char *status, const char *name) {
    const char *found = strstr(status, name);
    return found == NULL ? ~0ULL : strtoull(found + strlen(name), NULL, 16);
}

static void say_status(const char *prefix) {
    static char status[16384];
    char name[64];
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, status, sizeof status - 1);
    if (file >= 0) close(file);
    status[got > 0 ? got : 0] = 0;
    static const char *ROWS[] = {"CapEff:\t", "CapPrm:\t", "CapInh:\t", "CapAmb:\t", "NoNewPrivs:\t", "Seccomp:\t"};
    for (size_t one = 0; one < sizeof ROWS / sizeof *ROWS; one++) {
        snprintf(name, sizeof name, "%s%.*s", prefix, (int)strcspn(ROWS[one], ":"), ROWS[one]);
        say_number(name, (long)hexadecimal(status, ROWS[one]));
    }
}

static void descriptors(void) {
    char text[512] = "", path[64], target[256];
    DIR *folder = opendir("/proc/self/fd");
    long extra = 0;
    (void)path;
    (void)target;
    for (int one = 3; one < 4096; one++) {
        if (folder != NULL && one == dirfd(folder)) continue;
        if (fcntl(one, F_GETFD) < 0) continue;
        extra++;
        snprintf(path, sizeof path, "/proc/self/fd/%d", one);
        ssize_t got = readlink(path, target, sizeof target - 1);
        target[got > 0 ? got : 0] = 0;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d=%.80s ", one, target);
    }
    say_number("extra", extra);
    say_text("which", text);
    /* What it has got may be used backwards, too. */
    say_number("stdin_writable", write(0, "x", 1) == 1);
    int again = open("/proc/self/fd/0", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    say_number("stdin_reopened", again >= 0);
}

static const char *program;
static long run_other(void) { /* the copy says its effective user and its capabilities by its exit status */
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "--doctor", "more", "/", (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) return -ENOEXEC;
    return WEXITSTATUS(status) == 1 ? 0 : -EPERM;
}
static long is_more(void) { /* asked of the kernel: a fenced child may not read /proc */
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};
    if (geteuid() != getuid()) return 0;
    if (syscall(SYS_capget, &head, data) != 0) return -errno;
    return data[0].effective | data[1].effective | data[0].permitted | data[1].permitted ? 0 : -EPERM;
}

static long do_keyring(void) { return answer_of(syscall(SYS_keyctl, (long)KEYCTL_GET_KEYRING_ID, -4L, 1L)); }
static long do_add_key(void) { return answer_of(syscall(SYS_add_key, "user", "zoo", "1", 1L, -3L)); }
static long do_bpf(void) {
    unsigned attributes[32] = {1, 4, 4, 1};
    return answer_of(syscall(SYS_bpf, 0L, attributes, sizeof attributes));
}
/* What nothing refused is taken back: it would outlive its test. */
static long do_shared_memory(void) {
    int one = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    if (one < 0) return -errno;
    shmctl(one, IPC_RMID, NULL);
    return 0;
}
static long do_queue(void) {
    int one = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    if (one < 0) return -errno;
    msgctl(one, IPC_RMID, NULL);
    return 0;
}
static long do_message_queue(void) {
    long one = syscall(SYS_mq_open, "zoo", (long)(O_CREAT | O_RDWR), 0600L, NULL);
    if (one < 0) return -errno;
    syscall(SYS_mq_unlink, "zoo");
    return 0;
}
static long do_user_namespace(void) { return answer_of(unshare(CLONE_NEWUSER)); }
static long do_mount_namespace(void) { return answer_of(unshare(CLONE_NEWNS)); }
static long do_userfault(void) { return answer_of(syscall(SYS_userfaultfd, 0L)); }
static long do_host_name(void) {
    char name[256];
    if (gethostname(name, sizeof name) != 0) return -errno;
    return answer_of(sethostname(name, strlen(name)));
}
static long do_set_user(void) { return getuid() == 65533 ? -EPERM : answer_of(setuid(65533)); }
static long do_trace_me(void) { return answer_of(syscall(SYS_ptrace, 0L, 0L, 0L, 0L)); }
static long do_outlive(void) { return answer_of(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)); }
static long do_hide(void) { return answer_of(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)); }
static long do_list_mounts(void) {
    unsigned long long request[4] = {24, ~0ULL, 0, 0}, found[16]; /* struct mnt_id_req: its size, LSMT_ROOT */
    return answer_of(syscall(458, request, found, 16L, 0L));
}

int gain(const char *animal) {
    if (strcmp(animal, "descriptors") == 0) {
        descriptors();
        return 1;
    }
    if (strcmp(animal, "more") == 0) {
        attempt("more", is_more);
        return 1;
    }
    if (strcmp(animal, "gainer") != 0) return 0;
    say_number("uid", getuid());
    say_number("euid", geteuid());
    say_status("");
    if (*field("setuid")) {
        program = field("setuid");
        attempt("setuid", run_other);
    }
    if (*field("capable")) {
        program = field("capable");
        attempt("capable", run_other);
    }
    attempt("keyring", do_keyring);
    attempt("add_key", do_add_key);
    attempt("bpf", do_bpf);
    attempt("shared_memory", do_shared_memory);
    attempt("queue", do_queue);
    attempt("message_queue", do_message_queue);
    attempt("user_namespace", do_user_namespace);
    attempt("mount_namespace", do_mount_namespace);
    attempt("userfault", do_userfault);
    attempt("host_name", do_host_name);
    attempt("set_user", do_set_user);
    attempt("trace_me", do_trace_me);
    attempt("outlive", do_outlive);
    attempt("hide", do_hide);
    attempt("list_mounts", do_list_mounts);
    return 1;
}
