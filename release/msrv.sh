#!/bin/sh
# Compiles everything with the oldest Rust that Cargo.toml promises.
set -eu
cd "$(dirname "$0")/.."
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! cargo "+$oldest" --version >/dev/null 2>&1; then
    echo "missing: Rust $oldest, expected it from \`rustup toolchain install $oldest --profile minimal\`" >&2
    exit 3
fi
# A folder of its own: the two compilers would undo each other's work.
# `make lint` has the warnings of the newest.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/msrv" RUSTFLAGS="${RUSTFLAGS:-} --cap-lints allow"
cargo "+$oldest" check --quiet --workspace --all-targets --locked
echo "Rust $oldest compiles everything"
