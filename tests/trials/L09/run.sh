#!/bin/bash
# L09 lifecycle; source: aristocratos/bashtop#167, pylint-dev/pylint#959, ohmyzsh/ohmyzsh#8400, nltk/nltk#3710, huangruiteng/loopx#2325 (python_module)
# right behaviour: Canary never written from the current directory; with PYTHONPATH the identity check refuses. Nothing in cwd is imported by loopx itself either.
. "$(dirname "$0")/../_common/lib.sh"
mkdist qa-cwd 1.0.0; sed -i 's/^entrypoint = .*/python_module = "qa_cwd.cli"/' "$SITE/qa_cwd/extension.toml"; install "$SITE/qa_cwd/extension.toml"; rc0
mkdir -p "$W/evil/qa_cwd"; for f in "$W/evil/json.py" "$W/evil/qa_cwd/__init__.py" "$W/evil/qa_cwd/cli.py"; do echo "open('$W/pwned','a').write(__name__+' ')" >"$f"; done; cd "$W/evil"
lx extension list $JSON; lx extension doctor qa-cwd $EXEC $JSON; run qa-cwd; no_traceback
[ -e "$W/pwned" ] && bad "code from the current directory ran: $(cat "$W/pwned")" || ok "nothing from the current directory ran"; cd "$W/work"
