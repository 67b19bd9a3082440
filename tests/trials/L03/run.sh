#!/bin/bash
# L03 lifecycle; source: huangruiteng/loopx#908, Hal0ai/hal0#2147
# right behaviour: Rollback refused with the missing file named; 0.2.0 stays active and runs. After restoring A rollback works. With no previous revision: clear refusal.
. "$(dirname "$0")/../_common/lib.sh"
good qa-rb; mkprov qa-rb2 "$COMMON/prov_v2.py"; VER=0.2.0 mkman qa-rb qa-rb2 "$W/ext/v2"; lx extension upgrade --manifest "$MAN" $EXEC $JSON; rc0
mv "$W/bin/qa-rb" "$W/bin/qa-rb.away"; lx extension rollback qa-rb $EXEC $JSON; rcbad; no_traceback; run qa-rb; rc0; has generation
mv "$W/bin/qa-rb.away" "$W/bin/qa-rb"; lx extension rollback qa-rb $EXEC $JSON; rc0; run qa-rb; rc0; hasnt generation
good qa-only; lx extension rollback qa-only $EXEC $JSON; rcbad; no_traceback
