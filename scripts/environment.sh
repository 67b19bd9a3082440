# Sourced by the other scripts: where we are, which Python, which pins. POSIX sh, nothing else assumed.
set -eu
cd "$(dirname "$0")/.."
export PATH="${PATH:-/usr/local/bin:/usr/bin:/bin}"

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1
unset PYTHONDONTWRITEBYTECODE PYTHONHOME PYTHONPATH || :

PYTHON="$(command -v "${PYTHON:-python3}" || :)"
if [ -z "$PYTHON" ] || ! "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "this needs Python 3.11 or newer as python3 on PATH, or named by PYTHON=/path/to/python" >&2
    exit 2
fi

VENV="${VENV:-.dev/venv}"

# pip splits these at white space and runs in other folders: a file URL has neither problem.
PIP_CONSTRAINT="$("$PYTHON" -c 'import pathlib; print(pathlib.Path("constraints.txt").resolve().as_uri())')"
export PIP_CONSTRAINT PIP_BUILD_CONSTRAINT="$PIP_CONSTRAINT"

# make_venv FOLDER: a fresh virtual environment, made again when it does not work or the pins changed.
make_venv() {
    if [ -x "$1/bin/python" ] && "$1/bin/python" -c '' 2>/dev/null && cmp -s constraints.txt "$1/constraints.txt"; then
        return
    fi
    rm -rf "$1"
    if ! "$PYTHON" -m venv --upgrade-deps "$1"; then
        echo "python3 cannot make a virtual environment; on Debian install the package python3-venv" >&2
        exit 2
    fi
    cp constraints.txt "$1/constraints.txt"
}

# install_dev: the host, the example and every package of the train, editable, with what their tests need.
install_dev() {
    set --
    for project in examples/standalone-extension plugins/*; do
        set -- "$@" --editable "./$project[test]"
    done
    "$VENV/bin/python" -m pip install --quiet --editable '.[dev]' "$@"
}
