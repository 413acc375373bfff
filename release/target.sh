# Read by the scripts beside it: the target that is built for, and the tools that build it.
cd "$(dirname "$0")/.."
build=${CARGO_TARGET_DIR:-target}
python=${PYTHON:-python3}
host=$(rustc -vV | sed -n 's/^host: //p')
TARGET=${TARGET:-$host}
# x86_64-linux of x86_64-unknown-linux-musl: a static binary asks for no more.
machine() { echo "$1" | sed 's/-[a-z]*-\([a-z]*\).*/-\1/'; }
# Where a virtual environment has its programs, and how they end.
scripts=bin exe=
case $host in *-windows-*) scripts=Scripts exe=.exe ;; esac

# The standard library of the target.
require_std() {
    libraries=$(rustc --print target-libdir --target "$TARGET" 2>/dev/null) || {
        echo "TARGET=$TARGET: Rust knows no such target, expected one of \`rustc --print target-list\`" >&2
        exit 1
    }
    ls "$libraries"/libstd-*.rlib >/dev/null 2>&1 || {
        echo "missing: Rust's standard library for TARGET=$TARGET, expected it from \`rustup target add $TARGET\`" >&2
        exit 1
    }
}

# A virtual environment with the tools.
require_tools() {
    tools=$(mkdir -p "$build/release-tools" && cd "$build/release-tools" && pwd)
    if ! cmp -s release/requirements.txt "$tools/installed"; then
        "$python" -m venv --clear "$tools/venv"
        "$tools/venv/$scripts/pip" install --quiet --disable-pip-version-check --requirement release/requirements.txt
        cp release/requirements.txt "$tools/installed"
    fi
    PATH=$tools/venv/$scripts:$PATH
}
