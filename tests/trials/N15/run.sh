#!/bin/bash
# N15 process; source: bitfocus/companion#4418, gohugoio/hugo#15041, HarperFast/harper#373, yarnpkg/yarn#2197, bazel-contrib/rules_nodejs#1982
# right behaviour: A provider installed the usual way of its ecosystem (a link in node_modules/.bin, its package in node_modules/NAME, what it requires beside that) runs as it does by hand; or the refusal names the folder that has to be readable and how to declare it. Needs node.
. "$(dirname "$0")/../_common/lib.sh"
unset LOOPX_CONTAINMENT  # the default level is what this is about
command -v node >/dev/null || { unsure "needs node"; exit; }
good qa-plain; N="$W/app/node_modules"; mkdir -p "$N/.bin" "$N/qa-node" "$N/qa-dep"
echo '{"name":"qa-dep","version":"1.0.0","main":"index.js"}' >"$N/qa-dep/package.json"; echo 'module.exports = () => 42;' >"$N/qa-dep/index.js"
echo '{"name":"qa-node","version":"1.0.0","bin":"cli.js","dependencies":{"qa-dep":"1"}}' >"$N/qa-node/package.json"; cp "$HERE/cli.js" "$N/qa-node/cli.js"; chmod +x "$N/qa-node/cli.js"; ln -s ../qa-node/cli.js "$N/.bin/qa-node"
echo '{}' | "$N/.bin/qa-node" >"$W/both" 2>&1; grep -q '"n":42' "$W/both" || { unsure "node does not work by hand here: $(head -c 100 "$W/both")"; exit; }
mkman qa-node "$N/.bin/qa-node"; install "$MAN"
if [ $RC -eq 0 ]; then run qa-node; rc0; has '"n": *42'; elif grep -q "$N/qa-dep.*\(declare\|requires\|readable\)" "$W/both"; then ok "the refusal says what has to be readable"; else bad "cannot be installed: $(grep -o 'EACCES[^\\]*' "$W/both" | head -1)"; fi
