#!/bin/bash
# D03 discovery; source: pypa/pip#11849, #10452, #9906
# right behaviour: The leftover is not an extension: not listed, not runnable, no id starting with ~ or -. A diagnostic, if any, says 'incompletely removed' and gives the path.
. "$(dirname "$0")/../_common/lib.sh"
LIST="${LISTCMD:-extension list}"
mkdist qa-alpha 1.0.0
mkdist qa-alpha 0.9.0 --infoname '~a_alpha-0.9.0.dist-info' --module '~a_alpha' --script qa-alpha-old
lx $LIST $JSON; rc0; no_traceback; has qa-alpha
grep -q '"id": *"[~-]' "$W/out" && bad "an id starts with ~ or -" || ok "no id starts with ~ or -"
grep -qF '"0.9.0"' "$W/out" && bad "the leftover's version is offered" || ok "the leftover's version is not offered"
