#!/bin/bash
# J07 json; source: Nayjest/Gito#315 (JSON BOM), openai/codex#31805 (framing), kerlenton/mcpsnoop#44
# right behaviour: Only one plain object passes (BOM: accepted or named). All others typed, non-zero, no traceback.
. "$(dirname "$0")/../_common/lib.sh"
for k in bom arr null str num ws two comma nul; do sed "s/@K@/$k/" "$HERE/prov.py" >"$W/p.py"; good qa-fr-$k "$W/p.py"; run qa-fr-$k; no_traceback; json_ok; if [ $k = bom ]; then [ $RC -eq 0 ] && ok "BOM accepted" || { grep -qi 'bom\|byte order\|utf-8-sig' "$W/both" && ok "BOM named" || bad "BOM refused unexplained"; }; else [ $RC -ne 0 ] && ok "$k refused" || bad "$k accepted"; fi; done
good qa-frq; printf '[1]' >"$W/a"; : >"$W/e"; for r in a e nofile; do lx extension run qa-frq --input-json "$W/$r" $EXEC $JSON; rcbad; no_traceback; done; lx extension run qa-frq --input-json - $EXEC $JSON; rcbad; no_traceback
