#!/bin/sh
# Builds the wheel, installs it into fresh virtual environments, with the newest scikit-learn and with the oldest that is
# supported, and tests it there: tests, types, stubs, and every example in the documentation.
set -eu
cd "$(dirname "$0")"
. ./environments.sh
home=$target/python
rm -rf "$home"

build
"$UDEED_COMMAND" methods --json | "$python" generate.py --check
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
