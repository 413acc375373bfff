#!/bin/sh
# Makes and tries all that a release needs, and prints a line for each. What cannot be tried on this machine is said with what it would need;
# CI=1 takes that for a failure.
set -u
cd "$(dirname "$0")/.."
logs=${CARGO_TARGET_DIR:-target}/release-check
mkdir -p "$logs"
failed=0
# What says that this machine lacks something.
missing='^missing: |failed to fetch advisory database'
for target in ${CHECK:-version-check deny advisories semver msrv packages wheels sdist binary start-page site}; do
    began=$(date +%s)
    make --silent "$target" >"$logs/$target.log" 2>&1
    code=$?
    last=$(sed '/^make/d' "$logs/$target.log" | tail -n 1 | cut -c1-160)
    if [ "$code" = 0 ]; then
        word=ok
    elif grep -Eq "$missing" "$logs/$target.log"; then
        word=missing
        last=$(grep -E "$missing" "$logs/$target.log" | head -n 1 | sed 's/^missing: //' | cut -c1-160)
        [ -z "${CI:-}" ] || failed=1
    else
        word=FAILED
        failed=1
    fi
    printf '%-8s%-14s%4d s  %s\n' "$word" "$target" "$(($(date +%s) - began))" "$last"
done
exit $failed
