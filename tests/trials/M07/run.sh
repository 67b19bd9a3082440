#!/bin/bash
# M07 manifest; source: walf443/nginx-lint#209, solana-labs/solana#20495, marmot-protocol/mdk#993, shanselman/winget-tui#32
# right behaviour: Human output has no raw ESC, BEL, C1 or bidi override (shown replaced or escaped); JSON output escapes them; or the manifest is refused with the field named.
. "$(dirname "$0")/../_common/lib.sh"
mkprov qa-esc "$HERE/prov.py"; mkman qa-esc qa-esc; cat "$HERE/tail.toml" >>"$MAN"; sed -i 's/^version = .*/version = "1.0.0\\u001b[31m"/' "$MAN"
chk(){ if LC_ALL=C grep -q "$(printf '\033')\|$(printf '\007')" "$W/both" || $PYX "$HERE/raw.py" "$W/both"; then bad "raw control or bidi characters reach the terminal ($1)"; else ok "clean: $1"; fi; }
lx extension install --manifest "$MAN" $EXEC; chk install; if [ $RC -ne 0 ]; then ok "manifest refused"; has version; sed -i 's/^version = .*/version = "1.0.0"/' "$MAN"; lx extension install --manifest "$MAN" $EXEC; chk install2; fi
lx capability list --extension-manifest "$MAN"; chk "capability list"; lx capability show qa-esc-cap --extension-manifest "$MAN"; chk "capability show"; lx extension list; chk list; lx extension run qa-esc --input-json "$COMMON/request.json" $EXEC; chk run; lx extension run qa-esc --input-json "$COMMON/request.json" $EXEC $JSON; no_traceback; json_ok
