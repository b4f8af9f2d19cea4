# Sourced by quickstart and run-tests: sets PYTHON to a Python that ecc-memory runs on.
# A PYTHON that is set already is only checked.

usable() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        usable "$PYTHON" && return
        echo "Error: PYTHON=$PYTHON is not a Python 3.10 or newer; unset it or name another" >&2
        exit 1
    fi
    for PYTHON in python3 python python3.13 python3.12 python3.11 python3.10; do
        usable "$PYTHON" && return
    done
    echo "Error: ecc-memory needs Python 3.10 or newer, and none is on PATH (python3 is $(python3 -V 2>&1)); install python3.12, say, and run this again" >&2
    exit 1
}

find_python
