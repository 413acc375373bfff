#!/bin/sh
# Packs the Python package with the sources of all its dependencies, and builds it from them without a network.
set -eu
. "$(dirname "$0")/target.sh"
require_tools
dist=$(mkdir -p "$build/sdist" && cd "$build/sdist" && pwd)
rm -rf "$dist"/*
(cd python && maturin sdist --out "$dist" >/dev/null)
archive=$(echo "$dist"/udeed-*.tar.gz)
name=$(basename "$archive" .tar.gz)
tar --extract --gzip --file "$archive" --directory "$dist"
(
    cd "$dist/$name"
    # The lock of the workspace has what other crates need, too.
    cargo metadata --format-version 1 --quiet >/dev/null
    mkdir .cargo
    # Not quiet: it would not print the configuration either.
    cargo vendor --locked --versioned-dirs vendor > .cargo/config.toml 2> "$dist/vendor.log" || {
        cat "$dist/vendor.log" >&2
        exit 1
    }
    grep -q '^directory = ' .cargo/config.toml
)
rm "$archive"
"$python" release/archive.py "$dist/$name" >/dev/null
size=$(wc -c < "$archive")
test "$size" -lt 60000000 || { echo "$name.tar.gz: $size bytes, expected fewer than 60 000 000" >&2; exit 1; }

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
mkdir "$home/cargo"
CARGO_HOME=$home/cargo CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$dist/target \
    pip wheel --quiet --no-index --no-deps --no-build-isolation --wheel-dir "$dist/wheel" "$archive"
echo "$name.tar.gz: $((size / 1024)) KiB, builds offline to $(basename "$dist"/wheel/*.whl)"
