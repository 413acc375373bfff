#!/bin/sh
# Builds the wheel for TARGET, looks at it, and tries it in a fresh virtual environment where this machine can run it.
set -eu
. "$(dirname "$0")/target.sh"
require_std
require_tools
case $TARGET in
    *-linux-gnu) zig=--zig promised=manylinux_2_28 ;;
    *-linux-musl) zig=--zig promised=musllinux_1_2 ;;
    *) zig='' promised=pypi ;;
esac
wheels=$(mkdir -p "$build/wheels" && cd "$build/wheels" && pwd)/$TARGET
rm -rf "$wheels"
# shellcheck disable=SC2086
(cd python && maturin build --quiet --release --locked --target "$TARGET" $zig --compatibility $promised --out "$wheels")
wheel=$(echo "$wheels"/*.whl)
case $(basename "$wheel") in
    udeed-*-cp310-abi3-*) ;;
    *) echo "$(basename "$wheel"): expected one wheel, udeed-*-cp310-abi3-*" >&2; exit 1 ;;
esac
abi3audit --strict --report "$wheel" > "$wheels/abi3audit.json"
case $TARGET in
    *-linux-*)
        auditwheel show --json "$wheel" > "$wheels/auditwheel.json"
        promised=${promised}_${TARGET%%-*}
        tag=$("$python" -c 'import json, sys; print(json.load(sys.stdin)["overall_tag"])' < "$wheels/auditwheel.json")
        # The oldest system that it runs on may be older than the one promised.
        [ "${tag%%_*}" = "${promised%%_*}" ] && printf '%s\n' "$tag" "$promised" | sort -V -C || {
            echo "$(basename "$wheel"): auditwheel finds $tag, expected $promised" >&2
            exit 1
        }
        echo "auditwheel finds $tag"
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
# The time of the network is not ours.
"$home/venv/$scripts/pip" download --quiet --disable-pip-version-check --dest "$home/needs" "$wheel"
began=$(date +%s)
"$home/venv/$scripts/pip" install --quiet --disable-pip-version-check --no-index --find-links "$home/needs" "$wheel"
installing=$(($(date +%s) - began))
echo "pip install takes $installing s"
"$python" release/start_page.py --python "$home/venv/$scripts/python$exe" --seconds $((20 - installing))
