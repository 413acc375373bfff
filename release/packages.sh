#!/bin/sh
# Packs every crate that is meant for an index, compiles each from the packages alone, looks at their sizes, and installs the command from
# them as a newcomer would, with an empty cargo folder.
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
# Whether they compile is asked, not how fast they are.
# shellcheck disable=SC2086
CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo package --quiet --locked --workspace $own
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
# Stands for the index, which has none of them yet.
echo '[patch.crates-io]' > "$home/config.toml"
for crate in "$build"/package/*.crate; do
    size=$(wc -c < "$crate")
    test "$size" -lt 10000000 || { echo "$(basename "$crate"): $size bytes, expected fewer than 10 000 000" >&2; exit 1; }
    tar --list --gzip --file "$crate" | grep -q '/LICENSE-MIT$' || { echo "$(basename "$crate"): no licence" >&2; exit 1; }
    echo "$(basename "$crate"): $((size / 1024)) KiB"
    tar --extract --gzip --file "$crate" --directory "$home"
    name=$(basename "$crate" "-$version.crate")
    echo "$name = { path = \"$home/$name-$version\" }" >> "$home/config.toml"
done
(
    # Away from the sources.
    cd "$home"
    CARGO_HOME=$home/cargo CARGO_TARGET_DIR=$home/target cargo install --quiet --config config.toml --path "udeed-cli-$version" --root "$home"
)
"$home/bin/udeed$exe" --version
"$python" release/start_page.py --command "$home/bin/udeed$exe"
