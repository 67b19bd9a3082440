# Shared functions of the trials.  Usage in a case:
#   . "$(dirname "$0")/../_common/lib.sh"
# Knobs (environment):
#   LOOPX   command under test                    (default: loopx)
#   PY      interpreter loopx discovers packages with (default: python3)
#   EXEC    flag that makes a change real         (default: --execute; set to "" if not needed)
#   JSON    flag for machine output               (default: --format json)
#   LX_SITE real site-packages of loopx's interpreter, when PYTHONPATH is ignored (default: sandbox dir + PYTHONPATH)
#   EPGROUP entry-point group loopx scans         (default: loopx.extensions)
#   CAP     outer cap in seconds per loopx call   (default: 60)
set -u
: "${LOOPX:=loopx}" "${PY:=python3}" "${EXEC=--execute}" "${JSON=--format json}" "${EPGROUP:=loopx.extensions}" "${CAP:=60}"
CASE=$(basename "$(cd "$(dirname "$0")" && pwd)"); HERE=$(cd "$(dirname "$0")" && pwd); COMMON="$HERE/../_common"
PYX=$($PY -c 'import sys;print(sys.executable)')
W=$(mktemp -d "/tmp/lxcase.$CASE.XXXXXX"); mkdir -p "$W/home" "$W/bin" "$W/ext" "$W/site" "$W/work"
export HOME="$W/home" XDG_CONFIG_HOME="$W/home/.config" XDG_DATA_HOME="$W/home/.local/share" XDG_STATE_HOME="$W/home/.local/state" XDG_CACHE_HOME="$W/home/.cache"
REALPATH=$PATH; export PATH="$W/bin:$PATH"
SITE=${LX_SITE:-$W/site}; [ -n "${LX_SITE:-}" ] || export PYTHONPATH="$W/site${PYTHONPATH:+:$PYTHONPATH}"
cd "$W/work"; FAILS=0; OKS=0; UNS=0; RC=0; MS=0; MADE=""
say(){ printf '%s\n' "$*"; }
ok(){ OKS=$((OKS+1)); say "  ok    $*"; }
bad(){ FAILS=$((FAILS+1)); say "  BAD   $*"; }
unsure(){ UNS=$((UNS+1)); say "  ?     $*"; }
check(){ _m=$1; shift; if "$@" >/dev/null 2>&1; then ok "$_m"; else bad "$_m"; fi; }
not(){ ! "$@"; }
now_ms(){ $PYX -c 'import time;print(int(time.monotonic()*1000))'; }
# lx ARGS...: run loopx under an outer cap; sets RC, MS; output in $W/out and $W/err
lx(){ say "  \$ loopx $*"; _a=$(now_ms); timeout -k 5 "$CAP" $LOOPX "$@" >"$W/out" 2>"$W/err" </dev/null; RC=$?; _b=$(now_ms); MS=$((_b-_a)); cat "$W/out" "$W/err" >"$W/both"; say "    rc=$RC ${MS}ms"; [ $RC -ne 124 ] && [ $RC -ne 137 ] || bad "loopx hung past the outer cap of ${CAP}s"; [ $RC -ne 127 ] && [ $RC -ne 126 ] || bad "the command under test did not start"; if grep -qi 'invalid choice\|no such command\|unknown command' "$W/both"; then unsure "the product does not know: $1 ${2:-}"; fi; }
# a traceback that the host itself shows; one quoted inside a receipt's stderr_tail is the provider's and belongs there
no_traceback(){ if sed -E 's/"stderr_tail": *("([^"\\]|\\.)*"|null)//g' "$W/both" | grep -q 'Traceback (most recent call last)\|Fatal Python error\|Segmentation fault'; then bad "traceback or interpreter crash shown: $(grep -m1 'Error' "$W/both")"; else ok "no traceback"; fi; }
rc0(){ if [ $RC -eq 0 ]; then ok "exit 0"; else bad "exit $RC, wanted 0"; fi; }
rcbad(){ if [ $RC -ne 0 ]; then ok "exit $RC (non-zero)"; else bad "exit 0, wanted a failure"; fi; }
# under N: N seconds on top of what a plain `extension list` costs here (BASE, measured at start; SLOW=1 doubles N on a busy machine)
under(){ _lim=$(($1*1000*(1+${SLOW:-0})+BASE)); if [ "$MS" -le $_lim ]; then ok "finished in ${MS}ms (<= $1 s + base ${BASE}ms)"; else bad "took ${MS}ms, wanted <= $1 s + base ${BASE}ms"; fi; }
# active ID: version and revision of ID as `extension list` shows them
active(){ timeout 60 $LOOPX extension list $JSON 2>/dev/null </dev/null | $PYX -c '
import json,sys
def walk(x):
    if isinstance(x,dict):
        if sys.argv[1] in (x.get("id"),x.get("extension_id")): print(x.get("version"),x.get("active_revision") or x.get("revision"))
        for v in x.values(): walk(v)
    elif isinstance(x,list):
        for v in x: walk(v)
walk(json.load(sys.stdin))' "$1" 2>/dev/null | head -1; }
has(){ if grep -qi -- "$1" "$W/both"; then ok "output mentions: $1"; else bad "output does not mention: $1"; fi; }
hasnt(){ if grep -q -- "$1" "$W/both"; then bad "output contains: $1"; else ok "output free of: $1"; fi; }
json_ok(){ $PYX "$COMMON/strictjson.py" "$W/out" >/dev/null 2>"$W/je" && ok "stdout is one strict JSON document" || bad "stdout is not one strict JSON document: $(head -c 160 "$W/je")"; }
# mkprov NAME FILE: install FILE as executable provider NAME on the sandbox PATH (@W@ @PY@ replaced)
mkprov(){ sed -e "s|@W@|$W|g" -e "s|@PY@|$PYX|g" "$2" >"$W/bin/$1"; chmod +x "$W/bin/$1"; }
# mkman ID BIN [DIR]: write a good manifest for ID using entrypoint BIN
mkman(){ _d=${3:-$W/ext/$1}; mkdir -p "$_d"; sed -e "s|@ID@|$1|g" -e "s|@BIN@|$2|g" -e "s|@PROTO@|$(echo "$1"|tr - _)|g" -e "s|@VER@|${VER:-0.1.0}|g" -e "s|@TMO@|${TMO:-3}|g" "$COMMON/base.toml" >"$_d/extension.toml"; MAN="$_d/extension.toml"; }
install(){ lx extension install --manifest "$1" $EXEC $JSON; }
# good ID [PROVFILE]: manifest + provider + install, must succeed
good(){ mkprov "$1" "${2:-$COMMON/prov_good.py}"; mkman "$1" "$1"; install "$MAN"; [ $RC -eq 0 ] || { bad "SETUP: a plain good extension could not be installed"; finish; }; }
run(){ lx extension run "$1" --input-json "${2:-$COMMON/request.json}" $EXEC $JSON; }
alive(){ kill -0 "$1" 2>/dev/null && ! grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }
# pids_gone FILE SECONDS: every pid listed in FILE must be gone within SECONDS
# a contained provider may not be able to write FILE: then any process that still names this trial's folder counts
trial_procs(){ for _p in /proc/[0-9]*; do _i=${_p#/proc/}; [ "$_i" = $$ ] && continue; if tr '\0' ' ' <"$_p/cmdline" 2>/dev/null | grep -q -- "$W/bin"; then alive "$_i" && printf '%s ' "$_i"; fi; done; }
pids_gone(){ _n=0; while [ $_n -lt $(($2*5)) ]; do _l=""; for p in $(cat "$1" 2>/dev/null); do alive "$p" && _l="$_l $p"; done; [ -s "$1" ] || _l=$(trial_procs); [ -z "$_l" ] && { ok "no process of the provider is left"; return; }; sleep 0.2; _n=$((_n+1)); done; bad "still running after $2 s: $_l"; for p in $_l; do kill -9 "$p" 2>/dev/null; done; }
# mkdist NAME VERSION [key=value...]  -> fabricated installed distribution, see mkdist.py
mkdist(){ MADE="$MADE $($PYX "$COMMON/mkdist.py" --site "$SITE" --bin "$W/bin" --group "$EPGROUP" --py "$PYX" "$@")"; }
finish(){ trap - EXIT; for m in $MADE; do [ -n "${LX_SITE:-}" ] && rm -rf -- "$m"; done; [ -n "${KEEP:-}" ] || { cd /; chmod -R u+rwx "$W" 2>/dev/null; rm -rf -- "$W"; }
 if [ $FAILS -gt 0 ]; then V=FAIL; elif [ $UNS -gt 0 ] || [ $OKS -eq 0 ]; then V=UNSURE; else V=PASS; fi; say "VERDICT $CASE $V (ok=$OKS bad=$FAILS unsure=$UNS)"; [ $V = PASS ]; exit $?; }
trap finish EXIT
# guard against vacuous passes: the command under test must run at all
timeout 60 $LOOPX --help >/dev/null 2>"$W/err" </dev/null || { bad "SETUP: '$LOOPX --help' does not run: $(head -c 200 "$W/err")"; finish; }
# second guard: a stock provider must really run before this trial says anything about providers
if grep -q 'good \|run ' "$HERE/run.sh" && [ -z "${NO_GUARD:-}" ]; then
  mkprov qa-guard "$COMMON/prov_good.py"; mkman qa-guard qa-guard "$W/guard"
  timeout 60 $LOOPX extension install --manifest "$MAN" --state-file "$W/guard/state.json" $EXEC $JSON >"$W/both" 2>&1 </dev/null
  timeout 60 $LOOPX extension run qa-guard --input-json "$COMMON/request.json" --state-file "$W/guard/state.json" $EXEC $JSON >"$W/both" 2>&1 </dev/null
  grep -q '"succeeded"' "$W/both" || { bad "SETUP: a stock provider does not run: $(head -c 200 "$W/both")"; finish; }
fi
BASE=0; if grep -q 'under ' "$HERE/run.sh"; then _a=$(now_ms); timeout 60 $LOOPX extension list $JSON >/dev/null 2>&1 </dev/null; BASE=$(($(now_ms)-_a)); fi
