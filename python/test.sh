#!/bin/sh
# Builds the wheel, installs it into fresh virtual environments, with the newest scikit-learn and with the oldest that is
# supported, and tests it there: tests, types, stubs, and every example in the documentation.
set -eu
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-$(cd .. && pwd)/target}
python=${PYTHON:-python3}
home=$target/python
rm -rf "$home"

# A virtual environment of the given name, with the given packages.
environment() {
    name=$1
    shift
    "$python" -m venv "$home/$name"
    "$home/$name/bin/pip" install --quiet --disable-pip-version-check "$@"
}

cargo build --quiet --locked --package udeed-cli
export UDEED_COMMAND="$target/debug/udeed"
"$UDEED_COMMAND" methods --json | "$python" generate.py --check

environment build "maturin>=1.9.4,<2"
"$home/build/bin/maturin" build --quiet --locked --out "$home/wheels"
wheel=$(echo "$home"/wheels/*.whl)
# One wheel for every Python from 3.10 on.
case $(basename "$wheel") in
    *-cp310-abi3-*) ;;
    *) echo "found $(basename "$wheel"), expected one wheel, *-cp310-abi3-*" >&2; exit 1 ;;
esac
size=$(wc -c < "$wheel")
echo "$(basename "$wheel"): $((size / 1024)) KiB"
test "$size" -lt 5000000

environment newest "$wheel[test]"
(
    # Away from the sources: what is tested is what was installed.
    cd "$home"
    "$home/newest/bin/python" -m mypy.stubtest udeed --mypy-config-file "$OLDPWD/pyproject.toml" \
        --allowlist "$OLDPWD/stubtest-allowlist.txt"
)
"$home/newest/bin/mypy" --python-executable "$home/newest/bin/python"
"$home/newest/bin/python" -m pytest

echo "not run: tests/spark, which need a real Spark: make spark"

environment oldest "$wheel" "scikit-learn==1.6.*" pandas polars pyarrow pytest
"$home/oldest/bin/python" -m pytest tests/test_sklearn.py tests/test_scikit_learn_tools.py tests/test_estimators.py \
    tests/test_labels.py tests/test_rows.py tests/test_arrow.py tests/test_unlabeled.py tests/test_split.py tests/test_udeed_cv.py tests/test_hostile.py tests/test_meta.py
