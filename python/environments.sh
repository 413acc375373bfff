# What the scripts here that test the package share: the folder for what they make, virtual environments, and a wheel.
target=${CARGO_TARGET_DIR:-$(cd .. && pwd)/target}
python=${PYTHON:-python3}

# A virtual environment of the given name, with the given packages.
environment() {
    name=$1
    shift
    test -d "$home/$name" || "$python" -m venv "$home/$name"
    "$home/$name/bin/pip" install --quiet --disable-pip-version-check "$@"
}

# The command, and a wheel of the package, to which `--release` may be given.
build() {
    cargo build --quiet --locked --package udeed-cli
    export UDEED_COMMAND="$target/debug/udeed"
    environment build "maturin>=1.9.4,<2"
    rm -rf "$home/wheels"
    "$home/build/bin/maturin" build --quiet --locked --out "$home/wheels" "$@"
    wheel=$(echo "$home"/wheels/*.whl)
}
