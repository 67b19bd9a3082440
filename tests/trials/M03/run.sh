#!/bin/bash
# M03 manifest; source: mikelane/pytest-gremlins#258, getsentry/devservices#311, Git-on-my-level/codex-autorunner#1437, #1651
# right behaviour: Each refused, field named, value kind named.
. "$(dirname "$0")/../_common/lib.sh"
mkprov qa-tmo "$COMMON/prov_good.py"
for v in true false 2.5 0 -1 nan inf '"3"' 1979-05-27 9223372036854775808; do TMO=$v mkman qa-tmo qa-tmo "$W/ext/t"; lx extension install --manifest "$MAN" $JSON; no_traceback; [ $RC -ne 0 ] && ok "timeout_seconds=$v refused" || bad "timeout_seconds=$v accepted"; [ $RC -eq 0 ] || has timeout_seconds; done
