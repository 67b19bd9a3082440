#!/bin/bash
# D08 discovery; source: python/importlib_metadata#68, #75, takluyver/entrypoints#9
# right behaviour: Others listed; qa-mess reported with file and line; exit 0 for list.
. "$(dirname "$0")/../_common/lib.sh"
LIST="${LISTCMD:-extension list}"
mkdist qa-alpha 1.0.0
mkdist qa-mess 1.0.0 --eps "$HERE/entry_points.txt"
lx $LIST $JSON; rc0; no_traceback; has qa-alpha
lx capability list $JSON; rc0; no_traceback
lx doctor $JSON; no_traceback; has qa_mess
