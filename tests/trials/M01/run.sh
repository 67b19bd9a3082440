#!/bin/bash
# M01 manifest; source: python/cpython#157201, hukkin/tomli#304, Nayjest/Gito#315, pypa/build#684
# right behaviour: BOM and CRLF: accepted, or refused naming the BOM. UTF-16: refused with the word encoding/UTF-8. Same revision id for LF and CRLF or a documented difference. No traceback.
. "$(dirname "$0")/../_common/lib.sh"
mkprov qa-bom "$COMMON/prov_good.py"; mkman qa-bom qa-bom
for v in bom crlf utf16; do d="$W/ext/$v"; mkdir -p "$d"; $PYX "$HERE/recode.py" "$MAN" "$d/extension.toml" $v
lx extension install --manifest "$d/extension.toml" $JSON; no_traceback
case $v in crlf) rc0;; bom) if [ $RC -eq 0 ]; then ok "BOM accepted"; else grep -qi 'bom\|byte order' "$W/both" && ok "refused and the BOM is named" || bad "refused without naming the BOM"; fi;; utf16) rcbad; grep -qi 'utf-\?8\|encod\|decode' "$W/both" && ok "encoding named" || bad "encoding not named";; esac; done
