#!/bin/bash
# N18 embedding; source: collectd/collectd#3526, util-linux/util-linux#4014, jeroennijhof/pam_script#4, sudo-project/sudo#98, gdnsd/gdnsd#243
# right behaviour: A daemon that embeds Host and ignores SIGCHLD, or reaps every child in a handler, gets its answers (an extension with request and response schemas included), or one coded refusal. Never a bare ProcessLookupError or ChildProcessError, and no signal to a process number that may be somebody else's.
. "$(dirname "$0")/../_common/lib.sh"
mkprov qa-daemon "$COMMON/prov_good.py"; mkman qa-daemon qa-daemon; printf '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}' >"$W/ext/qa-daemon/any.schema.json"
printf 'request_schema = "any.schema.json"\nresponse_schema = "any.schema.json"\n' >>"$MAN"; install "$MAN"; rc0
for m in default ignored reaped; do say "  \$ Host in a program where SIGCHLD is $m"; timeout 60 $PYX "$HERE/program.py" $m >"$W/both" 2>&1; sed 's/^/    /' "$W/both" | tail -3; no_traceback; n=$(grep -c '^answered True' "$W/both"); r=$(grep -c '^refused' "$W/both")
 [ $((n+r)) -eq 5 ] && ok "$m: $n answers, $r refusals" || bad "$m: $n answers, $r refusals, the rest failed: $(grep -m1 '^raised' "$W/both")"; done
