"""What running any program needs of the system, and nothing of its users: the table on the containment page.

Names are without wildcards; one that is not there is left out. A test compares this table with the page.
"""

from __future__ import annotations

# Programs and libraries of the system: read and executed.
PROGRAMS = (
    *("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/libexec", "/usr/local/bin"),
    *("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/local/lib"),
    *("/nix/store", "/gnu/store"),
)

# Data those programs read wherever they run.
DATA = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld-musl-x86_64.path"),
    *("/etc/localtime", "/etc/timezone", "/usr/share/zoneinfo"),
    *("/etc/locale.alias", "/etc/locale.conf", "/usr/share/locale", "/usr/share/i18n", "/usr/share/X11/locale"),
    *("/etc/python3", *(f"/etc/python3.{minor}" for minor in range(11, 16))),
    *("/etc/os-release", "/etc/alternatives", "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf"),
    *("/usr/share/perl", "/usr/share/perl5", "/usr/share/nodejs", "/usr/share/python3", "/usr/share/git-core"),
    *("/usr/share/tcltk", "/usr/share/misc", "/usr/share/file", "/usr/share/terminfo", "/usr/share/mime"),
    *("/proc/meminfo", "/proc/cpuinfo", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu"),
    "/proc/sys/kernel/cap_last_cap",
)

# Devices that give or take bytes and belong to nobody.
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

# What `net.connect` adds: names are looked up and certificates are checked with these.
NETWORK_DATA = (
    *("/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf"),
    *("/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/ssl/certs", "/etc/ssl/cert.pem"),
    *("/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/ca-certificates", "/usr/share/ca-certificates"),
)

# What a process can read about itself; not its view of mounts and of the network, which is that of the machine.
OWN_PROCESS = (
    *("status", "stat", "statm", "maps", "smaps", "cmdline", "comm", "environ", "auxv", "limits", "cgroup"),
    *("exe", "fd", "fdinfo"),
)
