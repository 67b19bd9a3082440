/* Changes something in `place`, a directory outside, in every way there is. It holds `victim`, `folder/` and
 * `link`. */
#include "zoo.h"
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

static const char *place;

static long opened(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC, 0644);
    if (file < 0) return -errno;
    return write(file, "zoo", 3) == 3 ? 0 : -errno;
}

static const char *own(const char *name) { /* a fresh file in the private directory */
    int file = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    if (file >= 0) close(file);
    return name;
}

static long through(const char *start) { /* place/through reached from another root or directory */
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s%s/through", start, place);
    return opened(path, O_WRONLY | O_CREAT);
}

static const char *of_parent(const char *what) {
    static char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", getppid(), what);
    return path;
}

/* In an attempt's child getppid() is the animal; its own parent is noted before. */
static int parent;
static const char *of_supervisor(const char *what) {
    static char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", parent, what);
    return path;
}

static long do_write(void) { return opened(at(place, "victim"), O_WRONLY); }
static long do_read_write(void) { return opened(at(place, "victim"), O_RDWR); }
static long do_append(void) { return opened(at(place, "victim"), O_WRONLY | O_APPEND); }
static long do_create(void) { return opened(at(place, "new"), O_WRONLY | O_CREAT); }
static long do_truncate_open(void) { return answer_of(open(at(place, "victim"), O_RDONLY | O_TRUNC | O_CLOEXEC)); }
static long do_truncate(void) { return answer_of(truncate(at(place, "victim"), 1)); }
static long do_through_link(void) { return opened(at(place, "link"), O_WRONLY); }
static long do_own_link(void) {
    if (symlink(at(place, "victim"), "to-victim") != 0) return -errno;
    return opened("to-victim", O_WRONLY);
}
static long do_tmpfile(void) {
    char path[64];
    int file = open(place, O_TMPFILE | O_WRONLY, 0644);
    if (file < 0) return -errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return answer_of(linkat(AT_FDCWD, path, AT_FDCWD, at(place, "from-tmpfile"), AT_SYMLINK_FOLLOW));
}
static long do_rename_in(void) { return answer_of(rename(own("one"), at(place, "renamed-in"))); }
static long do_rename_out(void) { return answer_of(rename(at(place, "victim"), "renamed-out")); }
static long do_rename_within(void) { return answer_of(rename(at(place, "victim"), at(place, "moved"))); }
static long do_exchange(void) {
    return answer_of(syscall(SYS_renameat2, AT_FDCWD, own("two"), AT_FDCWD, at(place, "victim"), 2L));
}
static long do_link_in(void) { return answer_of(link(own("three"), at(place, "linked-in"))); }
static long do_link_out(void) {
    if (link(at(place, "victim"), "linked-out") != 0) return -errno;
    return opened("linked-out", O_WRONLY);
}
static long do_symlink(void) { return answer_of(symlink("victim", at(place, "symlink"))); }
static long do_mkdir(void) { return answer_of(mkdir(at(place, "made"), 0755)); }
static long do_rmdir(void) { return answer_of(rmdir(at(place, "folder"))); }
static long do_unlink(void) { return answer_of(unlink(at(place, "link"))); }
static long do_mkfifo(void) { return answer_of(mkfifo(at(place, "fifo"), 0644)); }
static long do_mknod(void) { return answer_of(mknod(at(place, "node"), S_IFREG | 0644, 0)); }
static long do_device(void) { return answer_of(mknod("device", S_IFCHR | 0666, (1 << 8) | 8)); }
static long do_socket_file(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int one = socket(AF_UNIX, SOCK_STREAM, 0);
    if (one < 0) return -errno;
    snprintf(name.sun_path, sizeof name.sun_path, "%.90s/socket", place);
    return answer_of(bind(one, (struct sockaddr *)&name, sizeof name));
}
static long do_chmod(void) { return answer_of(chmod(at(place, "victim"), 0777)); }
static long do_fchmod(void) {
    int file = open(at(place, "victim"), O_RDONLY);
    if (file < 0) file = open(at(place, "victim"), O_PATH);
    if (file < 0) return -errno;
    return answer_of(fchmod(file, 0777));
}
static long do_fchmodat2(void) { return answer_of(syscall(452, AT_FDCWD, at(place, "victim"), 0777L, 0L)); }
static long do_chmod_magic(void) {
    char path[64];
    int file = open(at(place, "victim"), O_PATH);
    if (file < 0) return -errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return answer_of(chmod(path, 0777));
}
static long do_chown(void) { return answer_of(chown(at(place, "victim"), getuid(), getgid())); }
static long do_lchown(void) { return answer_of(lchown(at(place, "link"), getuid(), getgid())); }
static long do_utimes(void) {
    struct timespec times[2] = {{1, 0}, {1, 0}};
    return answer_of(utimensat(AT_FDCWD, at(place, "victim"), times, 0));
}
static long do_futimes_path(void) {
    struct timespec times[2] = {{1, 0}, {1, 0}};
    int file = open(at(place, "victim"), O_RDONLY);
    if (file < 0) return -errno;
    return answer_of(futimens(file, times));
}
static long do_setxattr(void) { return answer_of(setxattr(at(place, "victim"), "user.zoo", "1", 1, 0)); }
static long do_setxattrat(void) {
    struct {
        unsigned long long value;
        unsigned size, flags;
    } arguments = {(unsigned long long)(unsigned long) "1", 1, 0};
    return answer_of(syscall(463, AT_FDCWD, at(place, "victim"), 0L, "user.zoo", &arguments, sizeof arguments));
}
static long do_removexattr(void) { return answer_of(removexattr(at(place, "victim"), "user.there")); }
/* Attributes of a file that may be read can be set through a descriptor that only reads. */
static long flags_of(const char *path) {
    int flags = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    if (ioctl(file, FS_IOC_GETFLAGS, &flags) != 0) return -errno;
    flags |= FS_NODUMP_FL;
    return answer_of(ioctl(file, FS_IOC_SETFLAGS, &flags));
}
static long do_setflags(void) { return flags_of(at(place, "victim")); }
static long do_readable_setflags(void) { return *field("readable") ? flags_of(field("readable")) : -ENOENT; }
static long do_readable_setxattr(void) {
    int file = open(field("readable"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    return answer_of(fsetxattr(file, "user.zoo", "1", 1, 0));
}
static long do_readable_chmod(void) {
    int file = open(field("readable"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    return answer_of(fchmod(file, 0777));
}
static long do_readable_utimes(void) {
    struct timespec times[2] = {{1, 0}, {1, 0}};
    int file = open(field("readable"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    return answer_of(futimens(file, times));
}
static long do_readable_write(void) { return opened(field("readable"), O_WRONLY); }
static long do_readable_lease(void) {
    int file = open(field("readable"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    return answer_of(fcntl(file, F_SETLEASE, F_RDLCK));
}
static long do_readable_notice(void) {
    int folder = open("/usr/bin", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -errno;
    return answer_of(fcntl(folder, F_NOTIFY, DN_CREATE | DN_DELETE));
}
static long asked(unsigned long command) { /* a command to the file system about a file that may be read */
    long value[8] = {1};
    int file = open(field("readable"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    return answer_of(ioctl(file, command, value));
}
static long do_readable_generation(void) { return asked(FS_IOC_GETVERSION); }
static long do_readable_setversion(void) { return asked(FS_IOC_SETVERSION); }
static long do_readable_ext4_setversion(void) { return asked(0x40086604); }
static long do_readable_getflags(void) { return asked(FS_IOC_GETFLAGS); }
/* A file of its own that makes whoever executes it this user. */
static long is_set_id(const char *name) {
    struct stat status;
    if (stat(name, &status) != 0) return -errno;
    return status.st_mode & (S_ISUID | S_ISGID) ? 0 : -EPERM;
}
static long do_setuid_created(void) {
    int file = open("setuid-created", O_CREAT | O_WRONLY | O_CLOEXEC, 04755);
    return file < 0 ? -errno : is_set_id("setuid-created");
}
static long do_setuid_chmod(void) {
    if (chmod(own("setuid-chmod"), 04755) != 0) return -errno;
    return is_set_id("setuid-chmod");
}
static long do_setgid_fchmod(void) {
    int file = open(own("setgid"), O_RDONLY | O_CLOEXEC);
    if (file < 0 || fchmod(file, 02755) != 0) return -errno;
    return is_set_id("setgid");
}
static long do_setuid_fchmodat2(void) {
    if (syscall(452, AT_FDCWD, own("setuid-at"), 04755L, 0L) != 0) return -errno;
    return is_set_id("setuid-at");
}
static long do_setuid_node(void) {
    if (mknod("setuid-node", S_IFREG | 04755, 0) != 0) return -errno;
    return is_set_id("setuid-node");
}
static long do_setuid_openat2(void) {
    unsigned long long how[3] = {O_WRONLY | O_CREAT | O_CLOEXEC, 04755, 0};
    if (syscall(437, AT_FDCWD, "setuid-openat2", how, sizeof how) < 0) return -errno;
    return is_set_id("setuid-openat2");
}
static long do_proc_cwd(void) { return through("/proc/self/cwd/../../../../../../../../../.."); }
static long do_dotdot(void) { return through("../../../../../../../../../../../.."); }
static long do_proc_root(void) { return through("/proc/self/root"); }
static long do_thread_root(void) { return through("/proc/thread-self/root"); }
static long do_animal_root(void) { return through(of_parent("root")); }
static long do_supervisor_root(void) { return through(of_supervisor("root")); }
static long do_supervisor_cwd(void) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/cwd/../../../../../../../../../..%s/through", parent, place);
    return opened(path, O_WRONLY | O_CREAT);
}
static long do_first_root(void) { return through("/proc/1/root"); }
static long do_tmp(void) {
    char path[] = "/tmp/zoo-writer-XXXXXX";
    int file = mkstemp(path);
    if (file < 0) return -errno;
    unlink(path);
    return 0;
}
static long do_var_tmp(void) {
    char path[] = "/var/tmp/zoo-writer-XXXXXX";
    int file = mkstemp(path);
    if (file < 0) return -errno;
    unlink(path);
    return 0;
}
static long do_shm(void) {
    char path[] = "/dev/shm/zoo-writer-XXXXXX";
    int file = mkstemp(path);
    if (file < 0) return -errno;
    unlink(path);
    return 0;
}
static long do_home(void) {
    const char *home = getenv("HOME");
    if (home == NULL) return -ENOENT;
    return opened(at(home, "zoo-was-here"), O_WRONLY | O_CREAT);
}
static long do_bind_mount(void) {
    if (mkdir("mounted", 0755) != 0 && errno != EEXIST) return -errno;
    if (mount(place, "mounted", NULL, MS_BIND, NULL) != 0) return -errno;
    long result = opened("mounted/through", O_WRONLY | O_CREAT);
    umount2("mounted", MNT_DETACH); /* where nothing refused it, the mount would outlive its test */
    return result;
}
static long do_open_tree(void) {
    int tree = (int)syscall(428, AT_FDCWD, place, 1L); /* OPEN_TREE_CLONE */
    if (tree < 0) return -errno;
    int file = openat(tree, "through", O_WRONLY | O_CREAT, 0644);
    return file < 0 ? -errno : 0;
}
static long do_chroot(void) {
    if (chroot(place) != 0) return -errno;
    return opened("/through", O_WRONLY | O_CREAT);
}
static long do_user_namespace(void) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return -errno;
    return do_bind_mount();
}
static long do_clone_namespace(void) {
    int status;
    long child = syscall(SYS_clone, (long)(CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD), 0L, 0L, 0L, 0L);
    if (child < 0) return -errno;
    if (child == 0) _exit(do_bind_mount() == 0 ? 0 : 1);
    waitpid((pid_t)child, &status, 0);
    return 0;
}
static long do_clone3_namespace(void) {
    unsigned long long arguments[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
    long child = syscall(435, arguments, sizeof arguments);
    if (child < 0) return -errno;
    if (child == 0) _exit(0);
    return 0;
}
static long do_setns(void) {
    int space = open(of_supervisor("ns/mnt"), O_RDONLY | O_CLOEXEC);
    if (space < 0) return -errno;
    return answer_of(setns(space, 0));
}
static long do_handle(void) {
    union {
        struct file_handle head;
        char room[sizeof(struct file_handle) + 128];
    } handle;
    int mount_id;
    handle.head.handle_bytes = 128;
    if (name_to_handle_at(AT_FDCWD, at(place, "victim"), &handle.head, &mount_id, 0) != 0) return -errno;
    int root = open("/usr/bin", O_RDONLY | O_DIRECTORY);
    if (root < 0) return -errno;
    int file = open_by_handle_at(root, &handle.head, O_WRONLY);
    return file < 0 ? -errno : 0;
}

static const struct {
    const char *name;
    deed what;
} WAYS[] = {
    {"write", do_write}, {"read_write", do_read_write}, {"append", do_append}, {"create", do_create},
    {"truncate_open", do_truncate_open}, {"truncate", do_truncate}, {"through_link", do_through_link},
    {"chmod", do_chmod}, {"fchmod", do_fchmod},
    {"fchmodat2", do_fchmodat2}, {"chmod_magic", do_chmod_magic}, {"chown", do_chown}, {"lchown", do_lchown},
    {"utimensat", do_utimes}, {"futimens", do_futimes_path}, {"setxattr", do_setxattr},
    {"setxattrat", do_setxattrat}, {"removexattr", do_removexattr}, {"setflags", do_setflags},
    {"own_link", do_own_link}, {"tmpfile", do_tmpfile}, {"rename_in", do_rename_in},
    {"rename_within", do_rename_within}, {"rename_out", do_rename_out}, {"exchange", do_exchange},
    {"link_in", do_link_in}, {"link_out", do_link_out}, {"symlink", do_symlink}, {"mkdir", do_mkdir},
    {"rmdir", do_rmdir}, {"unlink", do_unlink}, {"mkfifo", do_mkfifo}, {"mknod", do_mknod},
    {"device", do_device}, {"socket_file", do_socket_file},
    {"proc_self_cwd", do_proc_cwd}, {"dotdot", do_dotdot}, {"proc_self_root", do_proc_root},
    {"proc_thread_root", do_thread_root}, {"proc_animal_root", do_animal_root},
    {"proc_parent_root", do_supervisor_root}, {"proc_parent_cwd", do_supervisor_cwd},
    {"proc_first_root", do_first_root}, {"tmp", do_tmp}, {"var_tmp", do_var_tmp}, {"shm", do_shm},
    {"home", do_home}, {"bind_mount", do_bind_mount}, {"open_tree", do_open_tree}, {"chroot", do_chroot},
    {"user_namespace", do_user_namespace}, {"clone_namespace", do_clone_namespace},
    {"clone3_namespace", do_clone3_namespace}, {"setns", do_setns}, {"handle", do_handle},
    {"setuid_created", do_setuid_created}, {"setuid_chmod", do_setuid_chmod}, {"setgid_fchmod", do_setgid_fchmod},
    {"setuid_fchmodat2", do_setuid_fchmodat2}, {"setuid_node", do_setuid_node},
    {"setuid_openat2", do_setuid_openat2},
}, READABLE[] = {
    {"readable_write", do_readable_write}, {"readable_setflags", do_readable_setflags},
    {"readable_setxattr", do_readable_setxattr}, {"readable_chmod", do_readable_chmod},
    {"readable_utimes", do_readable_utimes}, {"readable_lease", do_readable_lease},
    {"readable_notice", do_readable_notice}, {"readable_generation", do_readable_generation},
    {"readable_setversion", do_readable_setversion}, {"readable_ext4_setversion", do_readable_ext4_setversion},
    {"readable_getflags", do_readable_getflags},
};

static long do_private(void) { return opened("mine", O_WRONLY | O_CREAT); }

int write_outside(const char *animal) {
    int everything = strcmp(animal, "writer") == 0;
    if (!everything && strcmp(animal, "plain_writer") != 0) return 0;
    place = field("place");
    parent = getppid();
    if (!everything) { /* one file, one way; what a grant opens */
        attempt("create", do_create);
        attempt("append", do_append);
        attempt("mkdir", do_mkdir);
        return 1;
    }
    for (size_t one = 0; one < sizeof WAYS / sizeof *WAYS; one++) attempt(WAYS[one].name, WAYS[one].what);
    if (*field("readable"))
        for (size_t one = 0; one < sizeof READABLE / sizeof *READABLE; one++)
            attempt(READABLE[one].name, READABLE[one].what);
    say_number("private", do_private());
    return 1;
}
