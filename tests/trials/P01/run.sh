#!/bin/bash
# P01 process; source: python/cpython#76116, #75628, #81605, tomerfiliba/plumbum#840 (#685), zouhuigang/zloop#21, huangruiteng/loopx#4073
# right behaviour: A: returns in <= 5 s (either the answer, or a typed 'descendant still holds output'); B: timeout in <= 6 s. In both no background process is left.
. "$(dirname "$0")/../_common/lib.sh"
for k in a b; do good qa-gc$k "$HERE/prov_$k.py"; rm -f "$W/pids"; run qa-gc$k; under 7; no_traceback; json_ok; [ $k = b ] && { rcbad; has timeout; }; pids_gone "$W/pids" 3; done
