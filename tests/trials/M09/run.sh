#!/bin/bash
# M09 manifest; source: huangruiteng/loopx#4509
# right behaviour: Install is refused at the doctor step, reason names the entry point and that it exited/could not start; nothing is activated; later `run` is refused the same way.
. "$(dirname "$0")/../_common/lib.sh"
mkdist qa-ren 1.0.0; sed -i 's/def main/def main_renamed/' "$SITE/qa_ren/cli.py"
install "$SITE/qa_ren/extension.toml"; rcbad; no_traceback; has qa-ren
run qa-ren; rcbad; no_traceback
mkman qa-mod x; sed -i 's/^entrypoint = .*/python_module = "qa_no_such_module.provider"/' "$MAN"; install "$MAN"; rcbad; no_traceback; grep -q 'qa_no_such_module' "$W/both" && ok "missing module named" || bad "missing module not named"
lx extension list $JSON; grep -q '"qa-ren"' "$W/out" && { grep -q '"enabled": *true' "$W/out" && bad "a failed install is enabled" || ok "not enabled"; } || ok "not installed"
