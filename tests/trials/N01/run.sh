#!/bin/bash
# N01 cli; source: pypa/pip#4255, dschep/ntfy#195, gigantum/gigantum-cli#39, typesafehub/conductr-cli#502, mistralai/mistral-vibe#639
# right behaviour: A directory that was deleted under the shell stops nothing that needs no relative path: version, help, list, discover, doctor and a run by absolute path work. A relative path is refused in one sentence. Never a traceback.
. "$(dirname "$0")/../_common/lib.sh"
good qa-cwd; mkdir "$W/gone"; cd "$W/gone"; rmdir "$W/gone"
for c in --version --help "extension list" "extension discover" doctor; do lx $c; rc0; no_traceback; done
lx extension run qa-cwd --input-json "$COMMON/request.json" $EXEC $JSON; rc0; no_traceback
lx extension install --manifest some/extension.toml $EXEC; rcbad; no_traceback
