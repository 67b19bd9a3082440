#!/bin/bash
# P11 process; source: tbxark/mcp-proxy#80 (timeout ignored for stdio), MoonshotAI/kimi-code#2109
# right behaviour: Timeout at 3 s (<= 6 s), measured over the whole run.
. "$(dirname "$0")/../_common/lib.sh"
for k in 1 2; do sed "s/@K@/$k/" "$HERE/prov.py" >"$W/p.py"; rm -f "$W/pids"; good qa-drip$k "$W/p.py"; run qa-drip$k; rcbad; no_traceback; under 6; has timeout; pids_gone "$W/pids" 2; done
