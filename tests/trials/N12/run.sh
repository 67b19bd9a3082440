#!/bin/bash
# N12 lifecycle; source: Azure/WALinuxAgent#2859, hashicorp/terraform#15909, #20500, muesli/docker-backup#10
# right behaviour: (a) A launcher with its executable bit on a file system mounted noexec is refused with that word, not with the advice to chmod +x. (b) Where the first place for private directories is noexec and another is not, a provider that unpacks a program and starts it works, or the receipt says noexec. Needs root (a mount namespace of its own).
. "$(dirname "$0")/../_common/lib.sh"
good qa-unpack "$HERE/prov.sh"; run qa-unpack; rc0; [ "$(id -u)" = 0 ] || { unsure "needs root"; exit; }
mkdir "$W/mnt"; cat >"$W/inner" <<I
mount -t tmpfs -o noexec none "$W/mnt" || exit 9
cp "$W/bin/qa-guard" "$W/mnt/qa-there"; chmod 755 "$W/mnt/qa-there"
timeout 60 $LOOPX extension install --manifest "$W/ext/qa-there/extension.toml" $EXEC >"$W/a" 2>&1 </dev/null
XDG_RUNTIME_DIR="$W/mnt" timeout 60 $LOOPX extension run qa-unpack --input-json "$COMMON/request.json" $EXEC $JSON >"$W/b" 2>&1 </dev/null
exit 0
I
mkman qa-there "$W/mnt/qa-there"; unshare -m bash "$W/inner" || { unsure "no mount namespace here"; exit; }
cat "$W/a" >"$W/both"; head -3 "$W/a"; has noexec; hasnt 'chmod +x'
cat "$W/b" >"$W/both"; if grep -q '"succeeded"' "$W/b"; then ok "the private directory is where programs can run"; elif grep -qi noexec "$W/b"; then ok "noexec is named"; else bad "the provider cannot start what it unpacked, and noexec is not named"; fi
