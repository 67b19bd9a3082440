#!/bin/bash
# P06 process; source: amoffat/sh#428, #495, ROCm/aorta#222 (#220), hashicorp/go-plugin#10, dkron-io/dkron#247
# right behaviour: loopx ends <= 3 s, exit 130/143/129 (or documented), no traceback; provider and its child are gone; receipt/log not left half-written.
. "$(dirname "$0")/../_common/lib.sh"
for s in INT TERM HUP; do rm -f "$W/pids"; TMO=30 good qa-int-$(echo $s|tr A-Z a-z) "$HERE/prov.py"; id=qa-int-$(echo $s|tr A-Z a-z)
$PYX "$HERE/spawn.py" "$W/both" "$s" "$W/pids" $LOOPX extension run $id --input-json "$COMMON/request.json" $EXEC $JSON; RC=$?; say "    after SIG$s: rc=$RC"; [ $RC -ne 99 ] && ok "SIG$s: loopx ended" || bad "SIG$s: loopx did not end in 5 s"; [ $RC -ne 0 ] && ok "non-zero" || bad "exit 0 after SIG$s"; no_traceback; pids_gone "$W/pids" 3; done
