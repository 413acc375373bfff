#!/usr/bin/env bash
# Compiles the kernels to the PTX that is committed beside them; with --check only compares. Needs neither CUDA nor a card: the
# compiler comes from the Python registry. PTX of ISA 7.8 is what drivers from 520 on understand.
#   crates/udeed-cuda/kernels/compile.sh [--check]
set -euo pipefail
cd "$(dirname "$0")"
tools=${CARGO_TARGET_DIR:-../../../target}/nvcc
version=13.0.88
if [ ! -e "$tools/$version" ]; then
    rm -rf "$tools"
    ${PYTHON:-python3} -m pip install --quiet --disable-pip-version-check --no-deps --target "$tools" \
        nvidia-cuda-nvcc==$version nvidia-nvvm==$version nvidia-cuda-crt==$version nvidia-cuda-runtime==13.0.96
    touch "$tools/$version"
fi
nvcc=$tools/nvidia/cu13/bin/nvcc
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
# Sums and products are not contracted but where the source says `fma`: the same bits whoever assembles the PTX.
compile() { # part, architecture
    {
        echo "// Made from descent.cu by compile.sh; not to be edited."
        echo "// source: $(cksum < descent.cu)"
        echo "// compiler: nvcc $version"
        "$nvcc" -ptx -arch="compute_$2" -std=c++17 -O3 -fmad=false -diag-suppress 177 "-DUDEED_${1^^}" -o - descent.cu |
            sed -e '/^\/\//d' -e '/^$/d' -e 's/^\.version .*/.version 7.8/'
    } > "$made/$1.ptx"
    # What it takes on the card; spilling more than a few registers would cost speed.
    sed 's/^\.version .*/.version 7.8/' "$made/$1.ptx" > "$made/assembled.ptx"
    "${nvcc%nvcc}ptxas" -arch="sm_90" -v "$made/assembled.ptx" -o /dev/null 2> "$made/$1.txt"
    awk -v part="$1" '/spill stores/ && $5 > 160 { print part ": a kernel spills " $5 " bytes"; bad = 1 } END { exit bad }' "$made/$1.txt"
}
compile any 80
compile fused_single 80
compile fused_double 90
for part in any fused_single fused_double; do
    if [ "${1:-}" = --check ]; then
        cmp "$made/$part.ptx" "$part.ptx" || { echo "$part.ptx is not what descent.cu compiles to: run crates/udeed-cuda/kernels/compile.sh"; exit 1; }
    else
        cp "$made/$part.ptx" "$part.ptx"
    fi
done
