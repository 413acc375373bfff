#!/bin/sh
# Compares the interface of the library with that of a commit or tag: by default the newest version before this one, and before the
# first release the commit before the version was raised.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
raised=$(git log --format=%H -G "^version = \"$version\"$" --reverse -- Cargo.toml | head -n 1)
baseline=${1:-$(git describe --tags --abbrev=0 --match 'v[0-9]*' --exclude "v$version" 2>/dev/null ||
    git rev-parse --quiet --verify "$raised^" || true)}
if [ -z "$baseline" ]; then
    echo "missing: no version before $version to compare with, expected a tag such as v0.1.0, or \`make semver BASELINE=COMMIT\`" >&2
    exit 3
fi
cargo semver-checks --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-semver-checks
cargo semver-checks --package udeed --baseline-rev "$baseline"
echo "version $version keeps what it promises beside $(git describe --tags --always "$baseline")"
