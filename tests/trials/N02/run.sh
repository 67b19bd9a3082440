#!/bin/bash
# N02 discovery; source: pypa/setuptools#4039, #4943, scikit-build/scikit-build-core#1427, pfmoore/editables#9, #34
# right behaviour: An editable install of a package inside a namespace (its import finder maps the dotted name to the folder) is found like any other editable one, or said to need --manifest. Never the false word that it is not there; its code is not run to find it.
. "$(dirname "$0")/../_common/lib.sh"
mkdir -p "$W/src/qa_space/ext"; S0=$SITE; I="$SITE/qa_space_ext-0.1.0.dist-info"; F=__editable___qa_space_ext_0_1_0_finder.py; mkdir -p "$I"; MADE="$MADE $I $SITE/$F $SITE/__editable__.qa_space_ext-0.1.0.pth"
printf 'open("%s/imported", "w").close()\n' "$W" >"$W/src/qa_space/ext/__init__.py"
mkprov qa-space-ext "$COMMON/prov_good.py"; mkman qa-space-ext qa-space-ext "$W/src/qa_space/ext"
printf "from __future__ import annotations\nMAPPING: dict[str, str] = {'qa_space.ext': '%s/src/qa_space/ext'}\nNAMESPACES: dict[str, list[str]] = {'qa_space': []}\ndef install():\n    pass\n" "$W" >"$SITE/$F"
echo "import ${F%.py}; ${F%.py}.install()" >"$SITE/__editable__.qa_space_ext-0.1.0.pth"
printf 'Metadata-Version: 2.1\nName: qa-space-ext\nVersion: 0.1.0\n' >"$I/METADATA"
printf '[console_scripts]\nqa-space-ext = qa_space.ext.cli:main\n\n[%s]\nqa-space-ext = qa_space.ext\n' "$EPGROUP" >"$I/entry_points.txt"
printf '{"url": "file://%s/src", "dir_info": {"editable": true}}' "$W" >"$I/direct_url.json"
printf '%s,,\n__editable__.qa_space_ext-0.1.0.pth,,\nqa_space_ext-0.1.0.dist-info/METADATA,,\nqa_space_ext-0.1.0.dist-info/RECORD,,\nqa_space_ext-0.1.0.dist-info/entry_points.txt,,\nqa_space_ext-0.1.0.dist-info/direct_url.json,,\n' $F >"$I/RECORD"
lx extension discover --rebuild $JSON; rc0; no_traceback; has qa-space-ext
if grep -q 'not there\|package_missing' "$W/both"; then bad "it is said not to be there, and it is"; else ok "it is not said to be missing"; fi
lx extension install qa-space-ext $EXEC $JSON
if [ $RC -eq 0 ]; then ok "installed by its id"; run qa-space-ext; rc0; elif grep -q -- '--manifest' "$W/both"; then unsure "only --manifest is offered"; else bad "cannot be installed by its id"; fi
[ -e "$W/imported" ] && bad "the package was imported" || ok "the package was not imported"
