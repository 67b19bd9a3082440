#!/bin/bash
# N04 lifecycle; source: YelpArchive/venv-update#188, inmanta/inmanta-core#6991, lrnselfreliance/wrolpi#555, python/cpython#76332, clearlinux/distribution#3202
# right behaviour: An environment that was upgraded in place still holds lib/pythonX.(Y-1) with an old copy of the package. What is named and covered is the copy that the interpreter imports: its version is shown, and one changed byte of it is refused until it is probed again.
. "$(dirname "$0")/../_common/lib.sh"
minor=$($PYX -c 'import sys;print(sys.version_info[1])'); E="$W/env"; $PYX -m venv --without-pip "$E" >/dev/null 2>&1 || { unsure "no venv can be made here"; exit; }
new="$E/lib/python3.$minor/site-packages"; old="$E/lib/python3.$((minor-1))/site-packages"
copy(){ d="$1/qa_up-$2.dist-info"; mkdir -p "$1/qa_up" "$d"; echo "V = \"$2\"" >"$1/qa_up/__init__.py"; cp "$HERE/cli.py" "$1/qa_up/cli.py"
 printf 'Metadata-Version: 2.1\nName: qa-up\nVersion: %s\n' "$2" >"$d/METADATA"; printf '[console_scripts]\nqa-up = qa_up.cli:main\n' >"$d/entry_points.txt"
 printf '../../../bin/qa-up,,\nqa_up/__init__.py,,\nqa_up/cli.py,,\nqa_up-%s.dist-info/METADATA,,\nqa_up-%s.dist-info/RECORD,,\nqa_up-%s.dist-info/entry_points.txt,,\n' "$2" "$2" "$2" >"$d/RECORD"; }
copy "$old" 1.0.0; copy "$new" 2.0.0
printf '#!%s/bin/python3\nimport sys\nfrom qa_up.cli import main\nsys.exit(main())\n' "$E" >"$E/bin/qa-up"; chmod +x "$E/bin/qa-up"
mkman qa-up "$E/bin/qa-up"; install "$MAN"; rc0; if grep -q '"version": *"1.0.0"' "$W/out"; then bad "the old copy is taken for the owner of the launcher"; else ok "the old copy is not taken for the owner"; fi
run qa-up; rc0; has '"v": *"2.0.0"'
echo 'V = "another one"' >"$new/qa_up/__init__.py"; run qa-up; rcbad; hasnt '"v": *"another one"'; has stale
