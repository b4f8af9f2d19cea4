#!/bin/sh
# Runs the tests in unfriendly surroundings: as a user who is not root (where this is root), under LC_ALL=C,
# with a home folder whose name has spaces, quotes and letters beyond ASCII, on every Python from 3.10 to 3.13
# that is here, in a copy of the checkout.
# Arguments go to pytest; PYTHONS="/usr/bin/python3 ..." chooses the Pythons.
set -eu
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
home="$work/Jané \"Jo\" O'Neil"
mkdir "$work/checkout" "$work/python" "$work/environments" "$home"
git ls-files -z --cached --others --exclude-standard | xargs -0 tar cf - 2>/dev/null | tar xf - -C "$work/checkout"

if [ -z "${PYTHONS:-}" ]; then
    for version in 3.10 3.11 3.12 3.13; do
        for found in "python$version" "$HOME"/.pyenv/versions/"$version".*/bin/python3; do
            found=$("$found" -c 'import sys; sys.version_info[:2] == tuple(map(int, sys.argv[1].split("."))) and print(sys.executable)' "$version" 2>/dev/null) || continue
            [ -n "$found" ] || continue
            PYTHONS="${PYTHONS:-} $found"
            break
        done
    done
fi

# Gives up root. A Python in root's home is closed to others: it is all that they get to see there, in a
# namespace of its own.
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
as_nobody() {
    case "$prefix/" in
    "$HOME"/*)
        unshare --mount sh -eu -c '
            mount --bind "$1" "$2"
            mount -t tmpfs -o mode=755 none "$HOME"
            mkdir -p "$1"
            mount --bind "$2" "$1"
            shift 2
            exec "$@"' sh "$prefix" "$work/python" $nobody "$@"
        ;;
    *) $nobody "$@" ;;
    esac
}
as_root() { "$@"; }

failed=0
for python in $PYTHONS; do
    prefix=$("$python" -c 'import sys; print(sys.base_prefix)')
    as=as_root
    owner=$(id -u):$(id -g)
    if [ "$(id -u)" = 0 ]; then
        chmod 755 "$work"
        if as_nobody "$python" -c 'import venv' 2>/dev/null; then
            as=as_nobody owner=65534:65534
        else
            echo "$python is closed to users who are not root: as root, then"
        fi
        chown -R "$owner" "$work"
    fi
    echo "== $("$python" -V), user $($as id -u), LC_ALL=C, HOME=$home"
    (cd "$work/checkout" && $as env -u XDG_CONFIG_HOME LC_ALL=C HOME="$home" ECC_MEMORY_ENVIRONMENTS="$work/environments/$("$python" -V | tr ' ' -)" \
        PYTHON="$python" sh ./run-tests -q "$@") || failed=1
done
exit "$failed"
