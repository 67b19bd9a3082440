#!/bin/bash
# C03 cli; source: huangruiteng/loopx#3541, #4298, looptroop-ai/LoopTroop#135, wspringer/highs-mcp#15
# right behaviour: Everything about extensions works without Node; what needs it says which version, once, typed; a hanging node does not hang doctor (<= 10 s).
. "$(dirname "$0")/../_common/lib.sh"
good qa-node; mkdir "$W/nonode"; for b in sh env python3 sed cat sleep timeout dirname basename git uname; do p=$(PATH=$REALPATH command -v $b) && ln -s "$p" "$W/nonode/$b"; done; LXABS=$(command -v ${LOOPX%% *}); LOOPX="env PATH=$W/bin:$W/nonode $LXABS"
for k in none old hang; do case $k in old) printf '#!/bin/sh\necho v16.0.0\n' >"$W/bin/node";; hang) printf '#!/bin/sh\nsleep 100\n' >"$W/bin/node";; esac; [ -e "$W/bin/node" ] && chmod +x "$W/bin/node"; for c in "--help" "extension list $JSON" "capability list $JSON" "extension run qa-node --input-json $COMMON/request.json $EXEC $JSON"; do CAP=20; lx $c; rc0; no_traceback; done; lx doctor $JSON; no_traceback; under 12; done
