#!/bin/sh
# Tests udeed.spark beside a real Spark, in virtual environments of its own: the newest, as an application of its own and by
# Spark Connect, and 3.5. Needs Java 17, and downloads Spark from the Python registry, some 450 MB each. `spark.sh times PART...`
# measures it instead (bench/spark.py).
set -eu
cd "$(dirname "$0")"
. ./environments.sh
home=$target/spark
mkdir -p "$home"
command -v java > /dev/null || { echo "found no java, expected that of a JRE 17" >&2; exit 1; }

if [ "${1:-}" = times ]; then
    shift
    release=--release
fi
build ${release:-}

# The tests, with the given environment and kind of session.
tests() {
    echo "$1, $2"
    PYSPARK_PYTHON="$home/$1/bin/python" UDEED_SPARK=$2 "$home/$1/bin/python" -m pytest tests/spark
}

# The page of the documentation, on a Spark in the driver's own process.
page() {
    PYSPARK_PYTHON="$home/$1/bin/python" "$home/$1/bin/python" -m pytest tests/test_docs.py -k spark
}

environment newest "pyspark[connect]" "pandas<3" pyarrow pytest
environment newest --force-reinstall --no-deps "$wheel"
environment newest "$wheel[spark]"
if [ -n "${release:-}" ]; then
    export PYSPARK_PYTHON="$home/newest/bin/python"
    exec "$PYSPARK_PYTHON" ../bench/spark.py "$@"
fi
tests newest classic
tests newest connect
page newest
environment 3.5 "pyspark==3.5.*" "numpy<2" "pandas<3" "pyarrow<18" setuptools pytest
environment 3.5 --force-reinstall --no-deps "$wheel"
environment 3.5 "$wheel[spark]" "numpy<2"
tests 3.5 classic
