#!/bin/bash
# P09 process; source: openai/codex#31805, modelcontextprotocol/typescript-sdk#2245, NousResearch/hermes-agent#56068
# right behaviour: Stopped by the size limit well before the timeout (<= 5 s), peak RSS < 200 MB, kind says which stream, children gone.
. "$(dirname "$0")/../_common/lib.sh"
for k in raw json err; do sed "s/@K@/$k/" "$HERE/prov.py" >"$W/p.py"; rm -f "$W/pids"; TMO=20 good qa-flood-$k "$W/p.py"; $PYX "$HERE/rss.py" "$W" $LOOPX extension run qa-flood-$k --input-json "$COMMON/request.json" $EXEC $JSON; RC=$(cat "$W/rc"); MS=$(cat "$W/ms"); m=$(cat "$W/rss"); cat "$W/out" "$W/err" >"$W/both"; say "    $k rc=$RC ${MS}ms rss=${m}KB"; rcbad; no_traceback; under 8; [ "$m" -lt 204800 ] && ok "peak memory ${m} KB" || bad "peak memory ${m} KB"; pids_gone "$W/pids" 2; done
