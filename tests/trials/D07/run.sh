#!/bin/bash
# D07 discovery; source: python/cpython#105025, python/importlib_metadata#459
# right behaviour: Both extensions are listed, under their own ids.
. "$(dirname "$0")/../_common/lib.sh"
LIST="${LISTCMD:-extension list}"
mkdist qa-demo 1.0.0 --egg
mkdist qa-demo-plugin-utils 1.0.0 --egg
lx $LIST $JSON; rc0; no_traceback
grep -q '"qa-demo"' "$W/out" && ok "qa-demo listed" || bad "qa-demo missing"; grep -q '"qa-demo-plugin-utils"' "$W/out" && ok "qa-demo-plugin-utils listed" || bad "qa-demo-plugin-utils missing"
