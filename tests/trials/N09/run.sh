#!/bin/bash
# N09 process; source: containers/common#422, podman-container-tools/podman#13338, dnoegel/php-xdg-base-dir#26, netblue30/firejail#4535
# right behaviour: sudo and su leave XDG_RUNTIME_DIR (or TMPDIR) of the caller behind. A directory that another user owns and could rename things in is not used for the private directory of root's run. Needs root.
. "$(dirname "$0")/../_common/lib.sh"
good qa-place "$HERE/prov.py"; [ "$(id -u)" = 0 ] || { unsure "needs root"; exit; }
mkdir "$W/theirs"; chown 65534:65534 "$W/theirs"; chmod 700 "$W/theirs"
for v in XDG_RUNTIME_DIR TMPDIR; do export $v="$W/theirs"; run qa-place; unset $v; rc0; if grep -q "\"tmp\": *\"$W/theirs/" "$W/out"; then bad "$v of another user holds root's private directory"; else ok "$v of another user is passed over"; fi; done
mkdir "$W/shared"; chmod 1777 "$W/shared"; TMPDIR="$W/shared"; export TMPDIR; run qa-place; rc0; unset TMPDIR
