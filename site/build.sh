#!/bin/sh
# Builds the site: runs the gallery with the package and the command as they are now, makes the pages, the interface of the library
# beside them, and follows every link.
set -eu
cd "$(dirname "$0")/.."
build=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
python=${PYTHON:-python3}
home=$build/site-tools
if ! cmp -s site/requirements.txt "$home/installed"; then
    "$python" -m venv --clear "$home/venv"
    "$home/venv/bin/pip" install --quiet --disable-pip-version-check --requirement site/requirements.txt "maturin>=1.9.4,<2"
    cp site/requirements.txt "$home/installed"
fi
# UDEED_WHEEL and UDEED_COMMAND name those that are built already.
if [ -z "${UDEED_COMMAND:-}" ]; then
    cargo build --quiet --locked --package udeed-cli
    UDEED_COMMAND=$build/debug/udeed
fi
if [ -z "${UDEED_WHEEL:-}" ]; then
    rm -rf "$home/wheels"
    (cd python && "$home/venv/bin/maturin" build --quiet --locked --out "$home/wheels")
    UDEED_WHEEL=$(echo "$home"/wheels/*.whl)
fi
export UDEED_COMMAND
"$home/venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$UDEED_WHEEL"
"$home/venv/bin/python" site/gallery.py "$build/gallery"
# Not quiet: warnings would not count. The theme announces its end in 2027; its successor reads the same `mkdocs.yml`.
export NO_MKDOCS_2_WARNING=1
UDEED_GALLERY=$build/gallery "$home/venv/bin/mkdocs" build --strict --config-file site/mkdocs.yml --site-dir "$build/site"

# In a folder of its own: `make docs` leaves pages of what is private.
RUSTDOCFLAGS="-D warnings" CARGO_TARGET_DIR=$build/site-doc cargo doc --quiet --locked --no-deps \
    --package udeed --package udeed-lab --package udeed-label --package udeed-cuda
cp -r "$build/site-doc/doc" "$build/site/rust-api"
"$home/venv/bin/python" site/links.py "$build/site"
