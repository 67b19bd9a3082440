#!/bin/bash
# P15 process; source: langgenius/dify-plugin-daemon#799, Yeachan-Heo/oh-my-codex#529, daintreehq/daintree#12616, qhkm/zeptoclaw#672, sqlc-dev/sqlc#2661, valon-technologies/gestalt#290
# right behaviour: Provider sees an allow-list (PATH, HOME, LANG, TMPDIR, ...) only; no secret, no loader variable; fds only 0,1,2. If passing all is by design it must be stated and switchable in the manifest.
. "$(dirname "$0")/../_common/lib.sh"
good qa-leak "$HERE/prov.py"; AWS_SECRET_ACCESS_KEY=qa1 GITHUB_TOKEN=qa2 QA_DB_PASSWORD=qa3 PYTHONSTARTUP=/tmp/x NODE_OPTIONS=--require=/tmp/x GOOGLE_APPLICATION_CREDENTIALS=/tmp/k.json lx extension run qa-leak --input-json "$COMMON/request.json" $EXEC $JSON; rc0; for v in AWS_SECRET_ACCESS_KEY GITHUB_TOKEN QA_DB_PASSWORD PYTHONSTARTUP NODE_OPTIONS GOOGLE_APPLICATION_CREDENTIALS; do grep -q "\"$v\"" "$W/out" && bad "provider sees $v" || ok "$v not passed"; done; has '"PATH"'
f=$($PYX -c 'import json,sys;d=json.load(open(sys.argv[1]));print(len(d.get("provider_result",d).get("fds",[])))' "$W/out" 2>/dev/null); [ "${f:-9}" = 0 ] && ok "no extra open files" || bad "$f extra open files inherited"
