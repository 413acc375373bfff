#!/bin/sh
# Builds the wheel for TARGET, looks at it, and tries it in a fresh virtual environment where this machine can run it.
set -eu
. "$(dirname "$0")/target.sh"
require_std
require_tools
case $TARGET in
    *-linux-gnu) wanted="--zig --compatibility manylinux_2_28" ;;
    *-linux-musl) wanted="--zig --compatibility musllinux_1_2" ;;
    *) wanted="--compatibility pypi" ;;
esac
wheels=$(mkdir -p "$build/wheels" && cd "$build/wheels" && pwd)/$TARGET
rm -rf "$wheels"
# shellcheck disable=SC2086
(cd python && maturin build --quiet --release --locked --target "$TARGET" $wanted --out "$wheels")
wheel=$(echo "$wheels"/*.whl)
case $(basename "$wheel") in
    udeed-*-cp310-abi3-*) ;;
    *) echo "$(basename "$wheel"): expected one wheel, udeed-*-cp310-abi3-*" >&2; exit 1 ;;
esac
abi3audit --strict --report "$wheel" > "$wheels/abi3audit.json"
case $TARGET in
    *-linux-*)
        auditwheel show "$wheel" > "$wheels/auditwheel.txt"
        # Its sentence is cut into lines.
        tr '\n' ' ' < "$wheels/auditwheel.txt" | grep -Eq '(many|musl)linux_[0-9_]+_(x86_64|aarch64)' || {
            cat "$wheels/auditwheel.txt" >&2
            exit 1
        }
        ;;
esac
size=$(wc -c < "$wheel")
test "$size" -lt 10000000 || { echo "$(basename "$wheel"): $size bytes, expected fewer than 10 000 000" >&2; exit 1; }
echo "$(basename "$wheel"): $((size / 1024)) KiB"

if [ "$TARGET" != "$host" ]; then
    echo "audited, not run: this machine is $host"
    exit 0
fi
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
"$python" -m venv "$home/venv"
"$home/venv/$scripts/pip" install --quiet --disable-pip-version-check "$wheel"
"$python" release/start_page.py --python "$home/venv/$scripts/python$exe" --seconds 20
