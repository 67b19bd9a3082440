#!/bin/bash
# P03 process; source: mark3labs/mcp-go#956, kubestellar/console#7960, activeing123/mcptoon#19, tbxark/mcp-proxy#80
# right behaviour: Answer arrives (exit 0) within 3 s, or a typed stderr-limit failure if the limit is below 600 KB; never a timeout.
. "$(dirname "$0")/../_common/lib.sh"
good qa-err "$HERE/prov.py"; run qa-err; no_traceback; json_ok; under 4; hasnt '"timeout"'; [ $RC -eq 0 ] && ok "answered" || { grep -qi stderr "$W/both" && ok "typed stderr limit" || bad "failed without naming stderr"; }
