#!/bin/sh
# Builds the static command for TARGET, and an archive of it with manual pages, completions and licences.
set -eu
. "$(dirname "$0")/target.sh"
require_std
cargo=build
# The card's driver cannot be loaded by a static program.
features=
case $TARGET in
    *-linux-*) features=--no-default-features; export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static" ;;
esac
if [ "$TARGET" != "$host" ] && [ "${TARGET#*-linux-}" != "$TARGET" ]; then
    require_tools
    cargo=zigbuild
fi
# shellcheck disable=SC2086
cargo $cargo --quiet --release --locked --package udeed-cli --target "$TARGET" $features
udeed=$build/$TARGET/release/udeed$exe
# What makes the pages and completions.
here=$udeed
if [ "$(machine "$TARGET")" != "$(machine "$host")" ]; then
    cargo build --quiet --release --locked --package udeed-cli
    here=$build/release/udeed$exe
fi

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
name=udeed-$version-$TARGET
home=$build/dist/$name
rm -rf "$home"
mkdir -p "$home/completions"
cp "$udeed" LICENSE-MIT LICENSE-APACHE README.md "$home"
"$here" man "$home/man/man1" --quiet
for shell in bash zsh fish powershell; do
    "$here" completions "$shell" > "$home/completions/udeed.$shell"
done
case $TARGET in
    *-linux-*)
        linked=$(ldd "$home/udeed$exe" 2>&1 || true)
        case $linked in
            *"not a dynamic executable"* | *"statically linked"*) echo "ldd: $(echo "$linked" | sed 's/^[[:space:]]*//')" ;;
            *) echo "$linked: expected a static program" >&2; exit 1 ;;
        esac
        ;;
esac
"$python" release/archive.py "$home"
if [ "$here" = "$udeed" ]; then
    "$udeed" --version
    "$python" release/start_page.py --command "$udeed"
else
    echo "not run: this machine is $host"
fi
