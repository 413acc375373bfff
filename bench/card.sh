#!/usr/bin/env bash
# On a machine with an NVIDIA card: the descent on the card against the processor (gradients of 30 shapes, whole fits), its times
# beside PyTorch's, and the sanitizer of CUDA where it is installed. Some five minutes.
#   cargo build --release -p udeed-cuda --example card && bench/card.sh target/release/examples/card [FILE...]
set -uo pipefail
card=$1; shift
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
"$card" "$@"
if python3 -c "import torch" 2> /dev/null; then
    python3 "$(dirname "$0")/card.py"
fi
if command -v compute-sanitizer > /dev/null; then
    for tool in memcheck racecheck; do
        echo "$tool"
        compute-sanitizer --tool $tool "$card" --only-check 2>&1 | tail -4
    done
fi
