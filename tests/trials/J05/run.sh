#!/bin/bash
# J05 json; source: MemPalace/mempalace#2556, #2568, simplejson/simplejson#334, vm0-ai/vm0#16383, AGProjects/python-cjson#1
# right behaviour: Typed failure for 100 000; 900 either works end to end or is refused; no traceback in parse or in printing the receipt.
. "$(dirname "$0")/../_common/lib.sh"
good qa-deep; for n in 100000 900; do $PYX -c "n=$n;print('{\"schema_version\":\"qa_request_v0\",\"message\":'+'['*n+']'*n+'}')" >"$W/r"; lx extension run qa-deep --input-json "$W/r" $EXEC $JSON; no_traceback; json_ok; under 10; [ $n = 100000 ] && rcbad
sed "s/@N@/$n/g" "$HERE/prov.py" >"$W/p.py"; good qa-deep-$n "$W/p.py"; run qa-deep-$n; no_traceback; json_ok; under 10; [ $n = 100000 ] && rcbad; lx extension run qa-deep-$n --input-json "$COMMON/request.json" $EXEC; no_traceback; done
printf '[%.0s' $(seq 50000) >"$W/r"; lx extension run qa-deep --input-json "$W/r" $EXEC $JSON; no_traceback; rcbad
