#!/usr/bin/env bash
# Runs steps of the CUDA backend on a machine with a GPU: on_gpu.sh BUILD RESULTS STEP...
#
# BUILD is the build folder or, on a machine without compilers and a network, a copy of build/cuda-bundle (bundle.sh).
# Logs and results are written to RESULTS. The steps:
#   first     the driver, and one addition, copy and product; if that fails, nothing else is run
#   vectors   all conformance vectors, from C and from Python
#   tests     the tests in this folder, and those of the Python front end that run on every device
#   sanitize  a sample of the vectors under compute-sanitizer
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
export OF_BUILD=$build PYTHONPATH=$PWD:$build/python PYTHONUNBUFFERED=1

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 2>/dev/null) || {
  echo "CUDA: SKIPPED, there is no NVIDIA GPU (nvidia-smi finds none)"
  exit 0
}
[ -d $vectors ] || "$python" -m tarfile -e "$build/vectors.tar.xz" .
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

pytest=("$python" -m pytest -p no:cacheprovider -q)
conformance=("${pytest[@]}" tests/python/test_conformance.py -k)

# One after the other: a GPU divides its time among processes in long slices, and each case waits for its results.
vectors() {
  run vectors-c 120 3 "$build/bin/capi_replay" tests/devices.json $vectors/*.json
  awk '/ on cuda:0: / { right += $4; all += $6 } END { print right + 0 " of " all + 0 " cases right from C" }' \
    "$results/vectors-c.log"
  ONEFLOW_VECTORS=all run vectors-python 120 10 "${conformance[@]}" cuda
}

tests() {
  run tests-cuda 60 10 "${pytest[@]}" runtime/devices/cuda/tests
  run tests-python 90 10 "${pytest[@]}" tests/python/test_{complex,contractions,reductions,sort_and_index,large,gradients,numbers,files}.py \
    -k cuda
}

sanitize() {
  command -v compute-sanitizer >/dev/null || { echo "== sanitize: SKIPPED, there is no compute-sanitizer"; return; }
  run sanitize-memory 60 6 compute-sanitizer --error-exitcode 9 "${conformance[@]}" \
    "cuda and (add or permute or sum or argmax or matmul or sort or nonzero or index)"
  run sanitize-races 60 6 compute-sanitizer --tool racecheck --error-exitcode 9 "${conformance[@]}" \
    "cuda and (permute or sum or argmax or matmul or sort or nonzero)"
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
