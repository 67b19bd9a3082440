/* Reads `secret`, a file of the user's that nobody granted, in every way there is. */
#include "zoo.h"
#include <dirent.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/xattr.h>

static const char *secret;
static int parent;

static long taken(int file) {
    char byte;
    if (file < 0) return -errno;
    ssize_t got = read(file, &byte, 1);
    return got == 1 ? 0 : got == 0 ? -ENODATA : -errno;
}

static long through(const char *root) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s%s", root, secret);
    return taken(open(path, O_RDONLY | O_CLOEXEC));
}

static const char *folder(void) {
    static char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", secret);
    *strrchr(path, '/') = 0;
    return path;
}

static long do_open(void) { return taken(open(secret, O_RDONLY | O_CLOEXEC)); }
static long do_openat2(void) {
    unsigned long long how[3] = {O_RDONLY | O_CLOEXEC, 0, 0};
    return taken((int)syscall(437, AT_FDCWD, secret, how, sizeof how));
}
static long do_path_only(void) {
    char path[64];
    int file = open(secret, O_PATH | O_CLOEXEC);
    if (file < 0) return -errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return taken(open(path, O_RDONLY | O_CLOEXEC));
}
static long do_own_root(void) { return through("/proc/self/root"); }
static long do_parent_root(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root", parent);
    return through(path);
}
static long do_first_root(void) { return through("/proc/1/root"); }
static long do_parent_cwd(void) {
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/cwd/../../../../../../../../..", parent);
    return through(path);
}
static long do_hard_link(void) {
    if (link(secret, "linked") != 0) return -errno;
    return taken(open("linked", O_RDONLY | O_CLOEXEC));
}
static long do_symlink(void) {
    if (symlink(secret, "pointer") != 0) return -errno;
    return taken(open("pointer", O_RDONLY | O_CLOEXEC));
}
static long do_rename(void) {
    if (rename(secret, "moved") != 0) return -errno;
    return taken(open("moved", O_RDONLY | O_CLOEXEC));
}
static long do_handle(void) {
    union {
        struct file_handle head;
        char room[sizeof(struct file_handle) + 128];
    } handle;
    int mount_id;
    handle.head.handle_bytes = 128;
    if (name_to_handle_at(AT_FDCWD, secret, &handle.head, &mount_id, 0) != 0) return -errno;
    int root = open("/usr/bin", O_RDONLY | O_DIRECTORY);
    if (root < 0) return -errno;
    return taken(open_by_handle_at(root, &handle.head, O_RDONLY));
}
static long do_list(void) {
    DIR *open_folder = opendir(folder());
    if (open_folder == NULL) return -errno;
    return readdir(open_folder) != NULL ? 0 : -errno;
}
static long do_list_home(void) {
    const char *home = getenv("HOME");
    if (home == NULL) return -ENOENT;
    DIR *open_folder = opendir(home);
    return open_folder != NULL ? 0 : -errno;
}
static long do_execute(void) {
    execl(secret, secret, (char *)NULL); /* only its failure returns; success would say nothing at all */
    return -errno;
}
static long do_watch(void) {
    int watcher = inotify_init1(IN_CLOEXEC);
    if (watcher < 0) return -errno;
    return answer_of(inotify_add_watch(watcher, folder(), IN_ALL_EVENTS));
}
static long do_attribute(void) {
    char value[64];
    return answer_of(getxattr(secret, "user.there", value, sizeof value));
}
static long do_fanotify(void) {
    int watcher = (int)syscall(SYS_fanotify_init, 0x200L, (long)O_RDONLY); /* FAN_REPORT_FID: needs no privilege */
    if (watcher < 0) return -errno;
    return answer_of(syscall(SYS_fanotify_mark, (long)watcher, 1L, 0x20L, AT_FDCWD, folder()));
}
static long do_swap(void) {
    return answer_of(syscall(SYS_swapon, secret, 0L));
}
static long do_kernel_log(void) { return taken(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)); }
static long do_disk(void) {
    const char *disks[] = {"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/root"};
    for (size_t one = 0; one < 4; one++) {
        int disk = open(disks[one], O_RDONLY | O_CLOEXEC);
        if (disk >= 0) return 0;
        if (errno != ENOENT) return -errno;
    }
    return -ENOENT;
}
static long do_mem(void) { return taken(open("/proc/kcore", O_RDONLY | O_CLOEXEC)); }

int read_outside(const char *animal) {
    if (strcmp(animal, "plain_reader") == 0) {
        secret = field("secret");
        attempt("open", do_open);
        attempt("list", do_list);
        return 1;
    }
    if (strcmp(animal, "reader") != 0) return 0;
    secret = field("secret");
    parent = getppid();
    attempt("open", do_open);
    attempt("openat2", do_openat2);
    attempt("path_only", do_path_only);
    attempt("own_root", do_own_root);
    attempt("parent_root", do_parent_root);
    attempt("parent_cwd", do_parent_cwd);
    attempt("first_root", do_first_root);
    attempt("hard_link", do_hard_link);
    attempt("symlink", do_symlink);
    attempt("rename", do_rename);
    attempt("handle", do_handle);
    attempt("list", do_list);
    attempt("list_home", do_list_home);
    attempt("execute", do_execute);
    attempt("about_fanotify", do_fanotify);
    attempt("swap", do_swap);
    attempt("kernel_log", do_kernel_log);
    attempt("disk", do_disk);
    attempt("kernel_memory", do_mem);
    /* Not the bytes of the file, but what is known about it and who uses it. */
    attempt("about_watch", do_watch);
    attempt("about_attribute", do_attribute);
    return 1;
}
