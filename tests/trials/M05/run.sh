#!/bin/bash
# M05 manifest; source: beekeeper-studio/beekeeper-studio#4393 (GHSA-3wfm-5rhc-mg5c), byte5ai/omadia#548, career-ops-hq/career-ops#1532, stripe/stripe-cli#1896, nezumi0627/vyline#276
# right behaviour: Every id/profile refused with the field named; entrypoint outside PATH lookup refused or shown in full in the preview; the victim directory and file stay byte-identical; nothing created outside the state root.
. "$(dirname "$0")/../_common/lib.sh"
mkdir -p "$W/victim"; echo keep >"$W/victim/data"; s0=$(cksum "$W/victim/data"); mkprov qa-trav "$COMMON/prov_good.py"
for id in '../../victim' '..' '.' '' 'a/b' 'A' "$(printf 'x%.0s' $(seq 300))" 'qa--x' 'qa_x' 'q\u0301'; do mkman tmpl qa-trav "$W/ext/t"; $PYX - "$MAN" "$id" <<'P'
import re, sys
s = open(sys.argv[1]).read(); open(sys.argv[1], 'w').write(re.sub(r'^id = .*$', lambda m: 'id = "%s"' % sys.argv[2], s, count=1, flags=re.M))
P
lx extension install --manifest "$MAN" $EXEC $JSON; no_traceback; [ $RC -ne 0 ] && ok "id '$(echo "$id"|cut -c1-20)' refused" || bad "id '$(echo "$id"|cut -c1-20)' accepted"; done
for ep in '../victim/run' '-c' "a b;touch $W/pwned" '$(touch pwned)'; do mkman qa-trav "X" "$W/ext/t2"; EPV="$ep" $PYX - "$MAN" <<'P'
import os, re, sys
s = open(sys.argv[1]).read(); open(sys.argv[1], 'w').write(re.sub(r'^entrypoint = .*$', lambda m: "entrypoint = '%s'" % os.environ['EPV'], s, flags=re.M))
P
lx extension install --manifest "$MAN" $EXEC $JSON; rcbad; no_traceback; done
for p in ../victim/p.json /etc/hostname link.json; do d="$W/ext/p"; rm -rf "$d"; mkman qa-trav qa-trav "$d"; cp "$HERE/profile.json" "$W/victim/p.json"; ln -s "$W/victim/p.json" "$d/link.json"; sed -i 's/^permissions = .*/permissions = ["qa.read"]/; s/^required_permissions = .*/required_permissions = ["qa.read"]/' "$MAN"; printf '\n[[provides]]\nid = "qa-cap"\nkind = "qa_cap"\ntitle = "t"\nvisibility = "public"\nintegration_profile = "%s"\n' "$p" >>"$MAN"; lx extension install --manifest "$MAN" $EXEC $JSON; no_traceback; [ $RC -ne 0 ] && ok "profile $p refused" || bad "profile $p accepted"; done
lx extension uninstall '../victim' $EXEC $JSON; rcbad; no_traceback
[ "$(cksum "$W/victim/data")" = "$s0" ] && ok "the outside file is untouched" || bad "the outside file changed"; [ -e "$W/pwned" ] && bad "a shell ran the entrypoint" || ok "no shell involved"
