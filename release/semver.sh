#!/bin/sh
# Compares the interface of the library with that of a commit or tag, by default the newest tag of a version.
set -eu
cd "$(dirname "$0")/.."
baseline=${1:-$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || true)}
if [ -z "$baseline" ]; then
    echo "missing: no version has a tag yet to compare with, expected one such as v0.1.0, or \`make semver BASELINE=COMMIT\`" >&2
    exit 3
fi
cargo semver-checks --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-semver-checks
exec cargo semver-checks --package udeed --baseline-rev "$baseline"
