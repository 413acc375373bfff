#!/bin/sh
# Looks at the HTML report and labels on the page of `udeed label` in a real headless Chromium, and installs one where it may.
# Without any it says so and is content: the pages are then only checked as text, by `cargo test`.
set -eu
cd "$(dirname "$0")/../../.."

found() {
    [ -n "${CHROMIUM:-}" ] && return 0
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" >/dev/null && return 0
    done
    return 1
}

if ! found && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "no Chromium: installing it" >&2
    { apt-get update && apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1 || true
fi
if ! found; then
    echo "skipped: no Chromium (set CHROMIUM to one, or install the package chromium)" >&2
    # Where nobody looks on, a page that was not looked at is a failure.
    [ -z "${CI:-}" ] || exit 1
    exit 0
fi
cargo test -p udeed-lab --test browser -- --ignored "$@"
exec cargo test -p udeed-cli --test label_browser -- --ignored "$@"
