#!/bin/bash
# D02 discovery; source: python/cpython#100455, pypa/pip#11352, python/importlib_metadata#508
# right behaviour: The others are listed, exit 0, no traceback; the broken folder's path is reported.
. "$(dirname "$0")/../_common/lib.sh"
LIST="${LISTCMD:-extension list}"
mkdist qa-alpha 1.0.0
mkdist qa-broken 1.0.0 --no-meta --no-module
lx $LIST $JSON; rc0; no_traceback; has qa-alpha
lx capability list $JSON; rc0; no_traceback
lx doctor $JSON; no_traceback; has qa_broken-1.0.0
