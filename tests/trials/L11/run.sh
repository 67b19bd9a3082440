#!/bin/bash
# L11 lifecycle; source: simonw/llm#575, #733, #870, #1113, NVIDIA-NeMo/DataDesigner#659
# right behaviour: All three still shown as registered but missing, with package name/version and a command (or a list that can be fed to an installer) to restore; `doctor` non-zero. Not an empty list.
. "$(dirname "$0")/../_common/lib.sh"
for i in 1 2 3; do mkdist "qa-lost-$i" 1.0.$i; install "$SITE/qa_lost_$i/extension.toml"; rc0; done; rm -rf "$SITE"/qa_lost_* "$W"/bin/qa-lost-*
lx extension list $JSON; rc0; no_traceback; for i in 1 2 3; do grep -q "qa-lost-$i" "$W/out" && ok "qa-lost-$i remembered" || bad "qa-lost-$i forgotten"; done; grep -qi 'missing\|not ready\|"ready": *false\|"doctor_verified": *false\|unavailable' "$W/out" && ok "shown as missing" || bad "shown as if healthy"
lx doctor $JSON; no_traceback; grep -q 'qa-lost-2' "$W/both" && ok "doctor names them" || unsure "top-level doctor does not name them"
