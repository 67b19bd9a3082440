#!/bin/bash
# L01 lifecycle; source: huangruiteng/loopx#3550, #3810
# right behaviour: run refuses with reason 'stale' and prints the exact recovery command; that command works; list and doctor show the stale one.
. "$(dirname "$0")/../_common/lib.sh"
good qa-stale; echo '# touched' >>"$W/bin/qa-stale"
run qa-stale; rcbad; no_traceback; grep -q 'extension doctor qa-stale' "$W/both" && ok "recovery command printed" || bad "recovery command not printed"
lx extension list $JSON; rc0; grep -qi 'stale\|"doctor_verified": *false\|"ready": *false' "$W/out" && ok "list shows it is not ready" || bad "list shows it ready"
lx doctor $JSON; grep -q 'qa-stale' "$W/both" && ok "doctor names it" || unsure "top-level doctor does not name it"
lx extension doctor qa-stale $EXEC $JSON; rc0; run qa-stale; rc0
