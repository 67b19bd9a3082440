#!/bin/bash
# N07 embedding; source: unbit/uwsgi#670, pgadmin-org/pgadmin4#707, fredrik-corneliusson/click-web#12, pyinstaller/pyinstaller#4067, #5578
# right behaviour: Where sys.executable is the program that embeds Python (an application server, a frozen application), Host finds an interpreter or refuses and names sys.executable as the reason. It never starts the application again and again.
. "$(dirname "$0")/../_common/lib.sh"
good qa-inner; S="$W/state/s.json"; lx extension install --manifest "$MAN" --state-file "$S" $EXEC; rc0
printf '#!/bin/sh\necho "unknown option: $1" >&2\nexit 1\n' >"$W/server"; chmod +x "$W/server"
say "  \$ Host inside an application server"; timeout 60 $PYX "$HERE/program.py" "$W/server" "$S" >"$W/both" 2>&1; cat "$W/both"; no_traceback
if grep -q '^answered True' "$W/both"; then ok "it ran"; elif grep -qi 'sys.executable\|interpreter' "$W/both"; then ok "the reason is named"; else bad "neither an answer nor the reason: $(tail -1 "$W/both")"; fi
cat >"$W/frozen" <<I
#!/bin/sh
echo x >>"$W/starts"
[ "\$(grep -c . "$W/starts")" -ge 6 ] && exit 3
exec $PYX "$HERE/program.py" "$W/frozen" "$S"
I
chmod +x "$W/frozen"; say "  \$ Host inside a frozen application"; timeout 150 $PYX "$HERE/program.py" "$W/frozen" "$S" >"$W/both" 2>&1; tail -2 "$W/both"; n=$(grep -c . "$W/starts" 2>/dev/null); n=${n:-0}
[ "$n" -le 1 ] && ok "the application was started again $n times" || bad "the application was started again $n times (stopped by the trial at 6)"
