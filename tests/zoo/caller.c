/* Calls out: to the listeners named in the request (`tcp`, `udp` ports; `named`, `datagram` paths; `abstract`,
 * `abstract_datagram` names), and by every kind of socket that needs nobody to listen. */
#include "zoo.h"
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_in loopback(long port) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return name;
}

static socklen_t local(struct sockaddr_un *name, const char *text, int is_abstract) {
    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    snprintf(name->sun_path + is_abstract, sizeof name->sun_path - (size_t)is_abstract, "%.90s", text);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)is_abstract + strlen(text) + !is_abstract);
}

static long connected(int type, const char *text, int is_abstract) {
    struct sockaddr_un name;
    int one = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (one < 0) return -errno;
    socklen_t size = local(&name, text, is_abstract);
    if (connect(one, (struct sockaddr *)&name, size) != 0) return -errno;
    return answer_of(write(one, "zoo", 3));
}

static long do_tcp(void) {
    struct sockaddr_in name = loopback(number("tcp"));
    int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (one < 0) return -errno;
    return answer_of(connect(one, (struct sockaddr *)&name, sizeof name));
}
static long do_tcp_fast_open(void) {
    struct sockaddr_in name = loopback(number("tcp"));
    int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (one < 0) return -errno;
    return answer_of(sendto(one, "zoo", 3, MSG_FASTOPEN, (struct sockaddr *)&name, sizeof name));
}
static long do_tcp6(void) {
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_port = htons((unsigned short)number("tcp"))};
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &name.sin6_addr);
    int one = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (one < 0) return -errno;
    return answer_of(connect(one, (struct sockaddr *)&name, sizeof name));
}
static long do_mptcp(void) {
    struct sockaddr_in name = loopback(number("tcp"));
    int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 262);
    if (one < 0) return -errno;
    return answer_of(connect(one, (struct sockaddr *)&name, sizeof name));
}
static long do_udp(void) {
    struct sockaddr_in name = loopback(number("udp"));
    int one = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (one < 0) return -errno;
    return answer_of(sendto(one, "zoo", 3, 0, (struct sockaddr *)&name, sizeof name));
}
static long do_listen(void) {
    struct sockaddr_in name = loopback(0);
    int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (one < 0) return -errno;
    if (bind(one, (struct sockaddr *)&name, sizeof name) != 0) return -errno;
    return answer_of(listen(one, 1));
}
static long do_listen_unbound(void) { /* listen() binds by itself */
    int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (one < 0) return -errno;
    return answer_of(listen(one, 1));
}
static long do_named(void) { return connected(SOCK_STREAM, field("named"), 0); }
static long do_abstract(void) { return connected(SOCK_STREAM, field("abstract"), 1); }
static long do_datagram(void) { return connected(SOCK_DGRAM, field("datagram"), 0); }
static long do_abstract_datagram(void) { return connected(SOCK_DGRAM, field("abstract_datagram"), 1); }

/* One end of a pair is a socket too: it may be sent from to any name, where its type has names. */
static long sent_from_pair(long domain, long type, const char *text, int is_abstract) {
    struct sockaddr_un name;
    int ends[2];
    if (syscall(SYS_socketpair, domain, type, 0L, ends) != 0) return -errno;
    socklen_t size = local(&name, text, is_abstract);
    if (sendto(ends[0], "zoo", 3, 0, (struct sockaddr *)&name, size) == 3) {
        char back[3]; /* a connected pair may ignore the name; then the other end has it */
        return recv(ends[1], back, sizeof back, MSG_DONTWAIT) == 3 ? -EISCONN : 0;
    }
    long first = -errno;
    struct sockaddr nothing = {.sa_family = AF_UNSPEC};
    connect(ends[0], &nothing, sizeof nothing);
    if (connect(ends[0], (struct sockaddr *)&name, size) != 0) return first;
    return answer_of(write(ends[0], "zoo", 3));
}
static long do_pair_datagram(void) { return sent_from_pair(AF_UNIX, SOCK_DGRAM, field("datagram"), 0); }
static long do_pair_abstract(void) { return sent_from_pair(AF_UNIX, SOCK_DGRAM, field("abstract_datagram"), 1); }
static long do_pair_flags(void) {
    return sent_from_pair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, field("datagram"), 0);
}
static long do_pair_raw(void) { return sent_from_pair(AF_UNIX, SOCK_RAW, field("datagram"), 0); } /* becomes DGRAM */
static long do_pair_high_bits(void) { /* the kernel reads an int, a filter may read 64 bits */
    return sent_from_pair((1L << 32) | AF_UNIX, (1L << 32) | SOCK_DGRAM, field("datagram"), 0);
}
static long do_pair_stream(void) { return sent_from_pair(AF_UNIX, SOCK_STREAM, field("named"), 0); }
static long do_pair_seqpacket(void) { return sent_from_pair(AF_UNIX, SOCK_SEQPACKET, field("named"), 0); }
static long do_pair_sendmsg(void) {
    struct sockaddr_un name;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return -errno;
    struct iovec bytes = {"zoo", 3};
    struct mmsghdr message = {.msg_hdr = {.msg_name = &name, .msg_iov = &bytes, .msg_iovlen = 1}};
    message.msg_hdr.msg_namelen = local(&name, field("datagram"), 0);
    return answer_of(sendmmsg(ends[0], &message, 1, 0));
}

static long made(int domain, int type, int protocol) { return answer_of(socket(domain, type | SOCK_CLOEXEC, protocol)); }
static long do_high_bits(void) {
    return answer_of(syscall(SYS_socket, (1L << 32) | AF_INET, (1L << 32) | SOCK_STREAM, 0L));
}
static long do_netlink(void) { return made(AF_NETLINK, SOCK_RAW, 0); }
static long do_uevent(void) { return made(AF_NETLINK, SOCK_DGRAM, 15); }
static long do_vsock(void) { return made(AF_VSOCK, SOCK_STREAM, 0); }
static long do_packet(void) { return made(AF_PACKET, SOCK_RAW, 0); }
static long do_raw(void) { return made(AF_INET, SOCK_RAW, 1); }
static long do_ping(void) { return made(AF_INET, SOCK_DGRAM, 1); }
static long do_kernel_crypto(void) { return made(AF_ALG, SOCK_SEQPACKET, 0); }
static long do_unix_only(void) { return made(AF_UNIX, SOCK_STREAM, 0); }
static long do_bluetooth(void) { return made(AF_BLUETOOTH, SOCK_RAW, 1); }
static long do_io_uring(void) {
    char parameters[256] = {0};
    return answer_of(syscall(425, 4L, parameters));
}
static long do_io_uring_socket(void) { /* IORING_OP_SOCKET: a socket without socket(2) */
    struct {
        unsigned sq_entries, cq_entries, flags, sq_cpu, sq_idle, features, wq, resv[3];
        struct { unsigned head, tail, mask, entries, flags, dropped, array, resv; unsigned long long user; } sq;
        struct { unsigned head, tail, mask, entries, overflow, cqes, flags, resv; unsigned long long user; } cq;
    } set = {0};
    struct { unsigned char op, flags; unsigned short prio; int fd; unsigned long long off, addr; unsigned len, rw;
             unsigned long long user, pad[3]; } *entries;
    int ring = (int)syscall(425, 4L, &set);
    if (ring < 0) return -errno;
    char *sq = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, 0);
    entries = mmap(NULL, 4 * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, 0x10000000);
    if (sq == MAP_FAILED || (void *)entries == MAP_FAILED) return -errno;
    memset(entries, 0, sizeof *entries);
    entries->op = 45;
    entries->fd = AF_INET;
    entries->off = SOCK_STREAM;
    ((unsigned *)(sq + set.sq.array))[0] = 0;
    __atomic_store_n((unsigned *)(sq + set.sq.tail), 1, __ATOMIC_RELEASE);
    if (syscall(426, (long)ring, 1L, 1L, 1L, NULL, 0L) < 0) return -errno;
    int *completion = (int *)(sq + set.cq.cqes);
    return completion[2] >= 0 ? 0 : completion[2];
}
#ifdef __x86_64__
static long as_i386(long call, long one, long two, long three) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(call), "b"(one), "c"(two), "d"(three) : "memory", "r8", "r9",
                     "r10", "r11");
    return (int)result;
}
static long do_i386_socket(void) { return as_i386(359, AF_INET, SOCK_STREAM, 0); }
static long do_i386_socketcall(void) {
    unsigned *words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (words == MAP_FAILED) return -errno;
    words[0] = AF_INET, words[1] = SOCK_STREAM, words[2] = 0;
    return as_i386(102, 1, (long)words, 0);
}
static long do_i386_chmod(void) { /* of a file of its own: any answer but a refusal says that the door is open */
    char *name = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (name == MAP_FAILED) return -errno;
    strcpy(name, "mine");
    close(open(name, O_CREAT | O_WRONLY, 0600));
    return as_i386(15, (long)name, 0644, 0);
}
static long do_x32_socket(void) { return answer_of(syscall(0x40000000L | SYS_socket, AF_INET, SOCK_STREAM, 0)); }
#endif

static const struct {
    const char *name;
    deed what;
} WAYS[] = {
    {"tcp", do_tcp}, {"tcp_fast_open", do_tcp_fast_open}, {"tcp6", do_tcp6}, {"mptcp", do_mptcp}, {"udp", do_udp},
    {"listen", do_listen}, {"listen_unbound", do_listen_unbound}, {"named", do_named}, {"abstract", do_abstract},
    {"datagram", do_datagram}, {"abstract_datagram", do_abstract_datagram}, {"pair_datagram", do_pair_datagram},
    {"pair_abstract", do_pair_abstract}, {"pair_flags", do_pair_flags}, {"pair_raw", do_pair_raw},
    {"pair_high_bits", do_pair_high_bits}, {"pair_stream", do_pair_stream},
    {"pair_seqpacket", do_pair_seqpacket}, {"pair_sendmsg", do_pair_sendmsg}, {"high_bits", do_high_bits},
    {"netlink", do_netlink}, {"uevent", do_uevent}, {"vsock", do_vsock}, {"packet", do_packet}, {"raw", do_raw},
    {"ping", do_ping}, {"kernel_crypto", do_kernel_crypto}, {"unix", do_unix_only}, {"bluetooth", do_bluetooth},
    {"io_uring", do_io_uring}, {"io_uring_socket", do_io_uring_socket},
#ifdef __x86_64__
    {"i386_socket", do_i386_socket}, {"i386_socketcall", do_i386_socketcall}, {"i386_chmod", do_i386_chmod},
    {"x32_socket", do_x32_socket},
#endif
};

static long do_pair_allowed(void) {
    int ends[2];
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
    if (write(ends[0], "!", 1) != 1 || read(ends[1], &byte, 1) != 1) return -errno;
    return socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 ? -errno : 0;
}

int call_out(const char *animal) {
    if (strcmp(animal, "caller") != 0) return 0;
    for (size_t one = 0; one < sizeof WAYS / sizeof *WAYS; one++) attempt(WAYS[one].name, WAYS[one].what);
    say_number("own_pair", do_pair_allowed());
    return 1;
}
