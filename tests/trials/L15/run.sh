#!/bin/bash
# L15 lifecycle; source: openclaw/openclaw#133388, #133431, #115073
# right behaviour: Exit 0 only when healthy; JSON `ok`, status and exit code agree; each failure has its own kind. Healthy text says what was checked.
. "$(dirname "$0")/../_common/lib.sh"
good qa-h; lx extension doctor qa-h $EXEC $JSON; rc0
agree(){ [ $RC -ne 0 ] && ok "$1: exit $RC" || bad "$1: exit 0 for an unhealthy extension ($(grep -o '"status": *"[a-z_]*"' "$W/out" | head -1))"; }
printf '#!/bin/sh\nexit 1\n' >"$W/bin/qa-h"; lx extension doctor qa-h $EXEC $JSON; no_traceback; agree "doctor exits 1"
printf '#!/bin/sh\nsleep 60\n' >"$W/bin/qa-h"; lx extension doctor qa-h $EXEC $JSON; no_traceback; under 12; agree "doctor hangs"
rm "$W/bin/qa-h"; lx extension doctor qa-h $EXEC $JSON; no_traceback; agree "file missing"
lx doctor $JSON; agree "top-level doctor with a broken enabled extension"; lx extension doctor no-such-ext $EXEC $JSON; agree "unknown id"; no_traceback
