#!/bin/bash
# L05 lifecycle; source: huangruiteng/loopx#2325, BossSloth/Extendium#54
# right behaviour: Refusal names the entry point, the interpreter/venv of loopx, and that the package must be installed in that environment; non-zero.
. "$(dirname "$0")/../_common/lib.sh"
mkman qa-other qa-other-bin; mkdir -p "$W/othervenv/bin"; sed "s|@PY@|$PYX|" "$COMMON/prov_good.py" >"$W/othervenv/bin/qa-other-bin"; chmod +x "$W/othervenv/bin/qa-other-bin"
install "$MAN"; rcbad; no_traceback; has qa-other-bin; grep -qi 'python\|environment\|venv\|PATH' "$W/both" && ok "says where it looked" || bad "does not say where it looked"
