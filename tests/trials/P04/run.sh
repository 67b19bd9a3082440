#!/bin/bash
# P04 process; source: blockscout/mcp-server#39, espressif/esp-idf#19087, hashicorp/go-plugin#199, Kapeli/dash-mcp-server#10, kerlenton/mcpsnoop#44
# right behaviour: Each is a typed invalid-response failure, never success with the wrong object; the message shows a short cleaned excerpt and says 'stdout must hold one JSON object; use stderr for logs'.
. "$(dirname "$0")/../_common/lib.sh"
for k in before after jsonlog cr twice; do sed "s/@K@/$k/" "$HERE/prov.py" >"$W/p.py"; good qa-noise-$k "$W/p.py"; run qa-noise-$k; rcbad; no_traceback; json_ok; grep -qi 'stdout\|json' "$W/both" && ok "$k: says stdout/JSON" || bad "$k: reason unclear"; done
grep -q 'QA-BANNER\|excerpt' "$W/both" && ok "excerpt shown" || unsure "no excerpt of the noise is shown"
