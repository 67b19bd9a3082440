#!/bin/bash
# D10 discovery; source: python/cpython#96144, pypa/pip#11397, pypa/packaging-problems#609
# right behaviour: Either found (manifest read from the source tree, no import), or listed as 'installed editable; manifest not found in RECORD; use --manifest PATH'. Not silent. Canary: the package's __init__ must not run.
. "$(dirname "$0")/../_common/lib.sh"
LIST="${LISTCMD:-extension list}"
mkdir -p "$W/src"; S0=$SITE; SITE="$W/src"; sed "s|@W@|$W|g" "$HERE/init_canary.py" >"$W/body.py"; mkdist qa-edit 1.0.0 --body "$W/body.py"; SITE=$S0
mv "$W/src/qa_edit-1.0.0.dist-info" "$SITE/"; echo "$W/src" >"$SITE/__editable__.qa_edit-1.0.0.pth"
printf '__editable__.qa_edit-1.0.0.pth,,\nqa_edit-1.0.0.dist-info/METADATA,,\nqa_edit-1.0.0.dist-info/RECORD,,\n' >"$SITE/qa_edit-1.0.0.dist-info/RECORD"
export PYTHONPATH="$SITE:$W/src"
lx $LIST $JSON; rc0; no_traceback; has qa-edit
lx doctor $JSON; no_traceback
[ -e "$W/imported" ] && bad "the package was imported" || ok "the package was not imported"
