#!/bin/bash
# D12 discovery; source: httpie/cli#1204, simonw/llm#1465 (#1280), dask/dask#10379, repobee/repobee#298
# right behaviour: Canary never written, exit 0 everywhere, no stray output: discovery reads metadata only.
. "$(dirname "$0")/../_common/lib.sh"
LIST="${LISTCMD:-extension list}"
sed "s|@W@|$W|g" "$HERE/trap_init.py" >"$W/body.py"
mkdist qa-trap 1.0.0 --body "$W/body.py"
for c in "--help" "$LIST $JSON" "capability list $JSON" "doctor $JSON"; do lx $c; [ $RC -eq 3 ] && bad "plugin code ended the host" || ok "host not ended by plugin code"; hasnt TRAP-PRINTED; done
lx extension install --manifest "$SITE/qa_trap/extension.toml" $JSON; no_traceback
[ -e "$W/imported" ] && bad "the package was imported" || ok "the package was not imported"
