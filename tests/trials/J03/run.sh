#!/bin/bash
# J03 json; source: MemPalace/mempalace#503, #1488, #2229, ultrajson/ultrajson#691
# right behaviour: Typed 'not valid UTF-8/Unicode' failure, exit non-zero, no traceback; valid escapes such as \u0000 and emoji pairs survive intact; later commands still work.
. "$(dirname "$0")/../_common/lib.sh"
printf '{"schema_version": "qa_request_v0", "message": "\\ud800"}' >"$W/r1"; printf '{"schema_version": "qa_request_v0", "message": "\377"}' >"$W/r2"; good qa-sur; for r in r1 r2; do lx extension run qa-sur --input-json "$W/$r" $EXEC $JSON; no_traceback; json_ok; [ $r = r2 ] && rcbad; done
for k in sur ff cp; do sed "s/@K@/$k/" "$HERE/prov.py" >"$W/p.py"; good qa-sur-$k "$W/p.py"; run qa-sur-$k; no_traceback; json_ok; rcbad; lx extension run qa-sur-$k --input-json "$COMMON/request.json" $EXEC; no_traceback; done
sed "s/@K@/nul/" "$HERE/prov.py" >"$W/p.py"; good qa-sur-nul "$W/p.py"; run qa-sur-nul; rc0; no_traceback; json_ok; lx extension list $JSON; rc0
