#!/bin/bash
# L13 lifecycle; source: Garden-AI/rootstock#80, Raven-Scout/scout-plugin#44, Fiestaboard/FiestaBoard#1745
# right behaviour: Loud, typed error with the path; the damaged bytes are kept (file unchanged, or moved aside as a named backup); never silently reset; one bad entry does not hide the good one.
. "$(dirname "$0")/../_common/lib.sh"
good qa-c1; good qa-c2; ST=$(find "$HOME" -type f \( -name '*state*.json' -o -name '*.db' -o -name '*.sqlite*' \) | grep -v lock | head -1); [ -n "$ST" ] || { unsure "state file not found under HOME; set by hand"; finish; }; cp "$ST" "$W/good.state"; mkprov qa-c3 "$COMMON/prov_good.py"; mkman qa-c3 qa-c3; M3=$MAN
for k in half empty null list schema type nul; do $PYX "$HERE/damage.py" "$W/good.state" "$ST" $k || { unsure "state is not JSON; $k skipped"; continue; }; s0=$(cksum <"$ST")
lx extension list $JSON; no_traceback; if [ $k = type ]; then [ $RC -ne 0 ] || grep -q 'qa-c1\|qa-c2' "$W/out" && ok "$k: refused or the good entry is still shown" || bad "$k: good entry hidden"; else [ $RC -ne 0 ] && ok "$k: loud" || bad "$k: list says ok (silent reset)"; fi
install "$M3"; no_traceback; if [ "$(cksum <"$ST")" = "$s0" ]; then ok "$k: damaged file kept"; elif ls "$(dirname "$ST")" | grep -qi 'bak\|corrupt\|damaged'; then ok "$k: moved aside"; elif [ $k = type ]; then unsure "$k: overwritten"; else bad "$k: the damaged file was overwritten without a copy"; fi; done
