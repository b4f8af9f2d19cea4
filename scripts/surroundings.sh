#!/bin/sh
# Runs the tests in unfriendly surroundings: as a user who is not root (where this is root and the user can
# use the Python), under LC_ALL=C, with a home folder whose name has spaces, quotes and letters beyond
# ASCII, on every Python from 3.10 to 3.13 that is here, in a copy of the checkout.
# Arguments go to pytest; PYTHONS="/usr/bin/python3 ..." chooses the Pythons.
set -eu
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
home="$work/Jané \"Jo\" O'Neil"
mkdir "$work/checkout" "$home"
git ls-files -z --cached --others --exclude-standard | xargs -0 tar cf - 2>/dev/null | tar xf - -C "$work/checkout"

if [ -z "${PYTHONS:-}" ]; then
    for version in 3.10 3.11 3.12 3.13; do
        for found in "python$version" "$HOME"/.pyenv/versions/"$version".*/bin/python3; do
            [ "$("$found" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$version" ] || continue
            PYTHONS="${PYTHONS:-} $found"
            break
        done
    done
fi

failed=0
for python in $PYTHONS; do
    as=""
    if [ "$(id -u)" = 0 ]; then
        as="setpriv --reuid=65534 --regid=65534 --clear-groups"
        chmod 755 "$work"
        if $as "$python" -c 'import venv' 2>/dev/null; then
            chown -R 65534:65534 "$work"
        else
            echo "$python is closed to users who are not root: as root, then"
            as=""
            chown -R 0:0 "$work"
        fi
    fi
    echo "== $("$python" -V), user $($as id -u), LC_ALL=C, HOME=$home"
    (cd "$work/checkout" && $as env -u XDG_CONFIG_HOME LC_ALL=C HOME="$home" ECC_MEMORY_ENVIRONMENTS="$work/$(basename "$(dirname "$python")")" \
        PYTHON="$python" sh ./run-tests -q "$@") || failed=1
done
exit "$failed"
