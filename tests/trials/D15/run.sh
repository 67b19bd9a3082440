#!/bin/bash
# D15 discovery; source: PyCQA/flake8#1090, #1268, meta-pytorch/torchx#1397, huangruiteng/loopx#2212
# right behaviour: Fail closed: the clash is reported with both distribution names; the second install is refused; the result does not change when the order of the path changes.
. "$(dirname "$0")/../_common/lib.sh"
LIST="${LISTCMD:-extension list}"
S0=$SITE; SITE="$W/s1"; mkdist qa-one 1.0.0 --id qa-same; SITE="$W/s2"; mkdist qa-two 1.0.0 --id qa-same; SITE=$S0
for p in "$W/s1:$W/s2" "$W/s2:$W/s1"; do export PYTHONPATH="$p"; lx $LIST $JSON; no_traceback; grep -q 'qa-one\|qa_one' "$W/both" && grep -q 'qa-two\|qa_two' "$W/both" && ok "both distributions named" || bad "the clash does not name both distributions"; cp "$W/out" "$W/l.$(echo $p|cut -c1-99|cksum|cut -d' ' -f1)"; done
install "$W/s1/qa_one/extension.toml"; rc0
install "$W/s2/qa_two/extension.toml"; rcbad; no_traceback
