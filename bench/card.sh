#!/usr/bin/env bash
# On a machine with an NVIDIA card: the descent on the card against the processor (gradients of 30 shapes, whole fits, times of steps
# and fits on all cores and on two), its times beside PyTorch's, and the sanitizer of CUDA where it is installed. Some five minutes.
#   cargo build --release -p udeed-cuda --example card && bench/card.sh target/release/examples/card [FILE...]
set -uo pipefail
card=$1; shift
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
"$card" "$@"
echo "two cores"
RAYON_NUM_THREADS=2 "$card" --times
if python3 -c "import torch" 2> /dev/null; then
    python3 "$(dirname "$0")/card.py"
fi
if command -v compute-sanitizer > /dev/null; then
    # It makes kernels slower, the second a thousand times: fewer rows are enough for every kernel.
    echo memcheck
    compute-sanitizer --tool memcheck "$card" --check 5100 2>&1 | tail -4
    echo racecheck
    compute-sanitizer --tool racecheck "$card" --check 1100 2>&1 | tail -4
fi
