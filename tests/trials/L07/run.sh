#!/bin/bash
# L07 lifecycle; source: pre-commit/pre-commit#1869, #1353, #1427
# right behaviour: The change is noticed (interpreter is part of identity) and run refuses with the recovery command; or run goes through the pinned real path. After doctor, run works.
. "$(dirname "$0")/../_common/lib.sh"
mkdir "$W/py"; printf '#!/bin/sh\nexec %s "$@"\n' "$PYX" >"$W/py/a"; printf '#!/bin/sh\n# another build\necho B >>%s/used\nexec %s "$@"\n' "$W" "$PYX" >"$W/py/b"; chmod +x "$W/py/a" "$W/py/b"; ln -s a "$W/py/python"
cp "$COMMON/prov_good.py" "$W/p.py"; sed -i "1s|.*|#!/usr/bin/env -S $W/py/python|" "$W/p.py"; mkprov qa-int "$W/p.py"; mkman qa-int qa-int; install "$MAN"; rc0; rm "$W/py/python"; ln -s b "$W/py/python"
run qa-int; if [ $RC -ne 0 ]; then ok "interpreter change noticed"; grep -q 'doctor' "$W/both" && ok "recovery named" || bad "recovery not named"; elif [ -e "$W/used" ]; then unsure "ran under a replaced interpreter without notice (identity covers the script only)"; fi; no_traceback
lx extension doctor qa-int $EXEC $JSON; rc0; run qa-int; rc0
