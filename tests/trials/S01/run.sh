#!/bin/bash
# S01 schema; source: python-jsonschema/jsonschema#693, Apicurio/apicurio-registry#9271 (#9264), datamodel-code-generator/datamodel-code-generator#3039
# right behaviour: Zero connections, no file read; unresolved reference is a typed error at install.
. "$(dirname "$0")/../_common/lib.sh"
ID=qa-ref; $PYX "$HERE/listen.py" "$W/port" "$W/hits" & LP=$!; sleep 1; P=$(cat "$W/port"); sed "s/@PORT@/$P/" "$HERE/schema.tmpl" >"$W/request.schema.json"; HERE0=$HERE; HERE=$W; SCH="$W/ext/$ID/schemas"; mkprov $ID "$COMMON/prov_good.py"; mkman $ID $ID; mkdir -p "$SCH"; cp "$HERE/request.schema.json" "$SCH/request.schema.json"; cp "$HERE/request.schema.json" "$SCH/response.schema.json"; sed -i 's|^timeout_seconds.*|&\nrequest_schema = "schemas/request.schema.json"\nresponse_schema = "schemas/response.schema.json"|' "$MAN"; [ -n "${SCHEMA_KEYS:-}" ] || sed -i '/^re[a-z]*_schema = /d' "$MAN"
HERE=$HERE0
install "$MAN"; no_traceback; under 10; run $ID; no_traceback; under 10; lx capability list --extension-manifest "$MAN" $JSON; lx extension doctor $ID $EXEC $JSON; kill $LP 2>/dev/null; [ -s "$W/hits" ] && bad "the schema made $(wc -l <"$W/hits") network calls" || ok "no network call"; grep -q "$(hostname)" "$W/both" && bad "a local file leaked into the message" || ok "no file content shown"
