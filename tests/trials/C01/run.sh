#!/bin/bash
# C01 cli; source: RakuenSoftware/aimee#2061, opentdf/otdfctl#382, agentclash/agentclash#425, n1byn1kt/apitap#79, openclaw/wacli#275
# right behaviour: One strict JSON object (documented stream) with a stable error code; exit 1 for refusals, 2 for usage; never exit 0.
. "$(dirname "$0")/../_common/lib.sh"
good qa-cli; lx extension disable qa-cli $EXEC $JSON; echo 'x = [' >"$W/bad.toml"
for c in "extension install --manifest $W/none.toml $EXEC" "extension install --manifest $W/bad.toml $EXEC" "extension run nope --input-json $COMMON/request.json $EXEC" "extension run qa-cli --input-json $COMMON/request.json $EXEC" "extension doctor nope" "extension enable nope $EXEC" "extension rollback nope $EXEC" "extension uninstall nope $EXEC" "capability show nope" "extension run qa-cli --input-json $W/none.json $EXEC"; do lx $c $JSON; rcbad; no_traceback; if [ -s "$W/out" ]; then json_ok; else $PYX "$COMMON/strictjson.py" "$W/err" >/dev/null 2>&1 && ok "error JSON on stderr" || bad "no JSON error on either stream"; fi; done
for c in "extension run $JSON" "extension install --nosuch $JSON"; do lx $c; [ $RC -eq 2 ] && ok "usage error is exit 2" || bad "usage error gave exit $RC"; no_traceback; done
