#!/bin/bash
# N05 lifecycle; source: pimutils/khal#576, ziglang/zig#2045, Graphify-Labs/graphify#2612, martian56/raven#533, borgbackup/borg#3536
# right behaviour: On a file system that keeps whole seconds, a file that was looked at and then rewritten (same length) within one second is still seen as changed: the run is refused, never answered by code that was not proved. Needs root (a loop mount in a mount namespace of its own).
. "$(dirname "$0")/../_common/lib.sh"
good qa-plain
[ "$(id -u)" = 0 ] && command -v mkfs.ext4 >/dev/null || { unsure "needs root and mkfs.ext4"; exit; }
dd if=/dev/zero of="$W/disk" bs=1M count=8 status=none; mkfs.ext4 -q -I 128 "$W/disk" >/dev/null 2>&1; mkdir "$W/old"; cp "$HERE/prov.py" "$W/prov.py"
cat >"$W/inner" <<I
mount -o loop "$W/disk" "$W/old" || exit 9
sed -e "s|@PY@|$PYX|g" "$W/prov.py" >"$W/old/qa-second"; chmod 755 "$W/old/qa-second"
timeout 60 $LOOPX extension install --manifest "$W/ext/qa-second/extension.toml" $EXEC >"$W/both" 2>&1 </dev/null || { cat "$W/both"; exit 8; }
timeout 120 $PYX "$HERE/racy.py" "$W/old/qa-second"; rc=\$?
umount "$W/old"; exit \$rc
I
mkman qa-second "$W/old/qa-second"; unshare -m bash "$W/inner" >"$W/both" 2>&1; RC=$?; cat "$W/both"
case $RC in 0) ok "every rewrite within one second was noticed";; 1) bad "code that was not proved ran and was answered for";; *) unsure "could not be tried here ($RC)";; esac
