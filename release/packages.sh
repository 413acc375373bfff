#!/bin/sh
# Packs every crate that is meant for an index, compiles each from the packages alone, and looks at their sizes.
set -eu
. "$(dirname "$0")/target.sh"
own=$(cargo metadata --no-deps --format-version 1 --locked | "$python" -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] == []:
        print("--exclude", package["name"])
')
if [ "${1:-}" = publish ]; then
    # shellcheck disable=SC2086
    exec cargo publish --locked --workspace $own
fi
rm -f "$build"/package/*.crate
# They depend on each other: cargo makes an index of them, and takes them from there, in the order of their dependencies.
# shellcheck disable=SC2086
cargo package --quiet --locked --workspace $own
for crate in "$build"/package/*.crate; do
    size=$(wc -c < "$crate")
    test "$size" -lt 10000000 || { echo "$(basename "$crate"): $size bytes, expected fewer than 10 000 000" >&2; exit 1; }
    tar --list --gzip --file "$crate" | grep -q '/LICENSE-MIT$' || { echo "$(basename "$crate"): no licence" >&2; exit 1; }
    echo "$(basename "$crate"): $((size / 1024)) KiB"
done
