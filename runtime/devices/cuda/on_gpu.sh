#!/usr/bin/env bash
# Runs steps of the CUDA backend on a machine with a GPU: on_gpu.sh BUILD RESULTS STEP...
#
# BUILD is the build folder or, on a machine without compilers and a network, a copy of build/cuda-bundle (bundle.sh).
# Logs and results are written to RESULTS. The steps:
#   first     the driver, and one addition, copy and product; if that fails, nothing else is run
#   tests     at the same time: all conformance vectors from C and from Python, the tests in this folder, those of the
#             Python front end that run on every device, and a sample of the vectors under compute-sanitizer
#   bench     the benchmarks against PyTorch and CuPy
# Needs a Python with NumPy, PyTorch, pytest and hypothesis (python3, or as set in PYTHON). Without a GPU, it says so.
set -uo pipefail
build=$(realpath "${1:?the build folder}")
mkdir -p "${2:?a folder for results}"
results=$(realpath "$2")
shift 2
cd "$(dirname "$0")/../../.."

python=${PYTHON:-python3}
vectors=tests/generated/vectors
export known=tests/devices.json replay=$build/bin/capi_replay
export OF_BUILD=$build PYTHONPATH=$PWD:$build/python PYTHONUNBUFFERED=1

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 2>/dev/null) || {
  echo "CUDA: SKIPPED, there is no NVIDIA GPU (nvidia-smi finds none)"
  exit 0
}
[ -d $vectors ] || tar -xzf "$build/vectors.tar.gz"
: >"$results/failed"

# run NAME SECONDS LINES COMMAND...: writes the output of a command to NAME.log, and prints its last lines.
run() {
  local name=$1 limit=$2 lines=$3 start=$SECONDS status=0
  shift 3
  timeout --kill-after=5 "$limit" "$@" >"$results/$name.log" 2>&1 || status=$?
  [ $status -eq 0 ] || echo "$name" >>"$results/failed"
  echo "== $name: status $status, $((SECONDS - start)) s
$(tail -n "$lines" "$results/$name.log" | cut -c 1-300)"
}

first() {
  run first 60 40 "$python" runtime/devices/cuda/tests/first_steps.py
  [ -s "$results/failed" ] || return
  nvidia-smi
  ldd "$build/lib/oneflow_devices/cuda.so"
  exit 1
}

# Replays the given files. The cases of other devices are not of interest here.
replay_files() { "$replay" "$known" "$@" | grep -v " on cpu:0: "; }

tests() {
  local pytest=("$python" -m pytest -p no:cacheprovider -q)
  local conformance=("${pytest[@]}" tests/python/test_conformance.py -k)
  export -f replay_files
  run vectors-c 120 10 bash -c "set -o pipefail; ls $vectors/*.json |
    xargs -P 4 -n 12 bash -c 'set -o pipefail; replay_files \"\$@\"' -" &
  ONEFLOW_VECTORS=all run vectors-python 120 10 "${conformance[@]}" cuda &
  run tests-cuda 120 15 "${pytest[@]}" runtime/devices/cuda/tests &
  run tests-python 120 10 "${pytest[@]}" tests/python/test_{complex,contractions,reductions,sort_and_index,large}.py \
    -k cuda &
  run sanitize-memory 120 6 compute-sanitizer --error-exitcode 9 "${conformance[@]}" cuda &
  run sanitize-races 120 6 compute-sanitizer --tool racecheck --error-exitcode 9 "${conformance[@]}" \
    "cuda and (sum or var or argmax or matmul or einsum or sort or topk or cumsum or nonzero or index)" &
  wait
  awk '/ on cuda:0: / { right += $4; all += $6 } END { print right + 0 " of " all + 0 " cases right from C" }' \
    "$results/vectors-c.log"
}

bench() {
  local chip run_py=("$python" benchmarks/run.py --to "$results")
  chip=$(echo "${gpu#NVIDIA }" | tr 'A-Z ' 'a-z-')
  run bench-cuda 120 40 "${run_py[@]}" --as "cuda-$chip" benchmarks/cuda/bench_cuda.py
  run bench-einsum 180 70 "${run_py[@]}" --as "cuda-$chip-einsum" benchmarks/cuda/bench_einsum.py
}

echo "CUDA on $gpu"
for step in "$@"; do $step; done
if [ -s "$results/failed" ]; then
  echo "failed:" $(<"$results/failed")
  exit 1
fi
