#!/usr/bin/env bash
# Builds and runs the tests or the benchmarks of the CUDA backend: `on_gpu.sh test`, `on_gpu.sh bench`.
#
# Needs a GPU, CMake, Ninja, nvcc, and a Python with PyTorch, PyYAML, Jinja2 and pytest (python3, or as set in PYTHON),
# but neither system packages nor other front ends nor a network. Without a GPU, it says so and runs nothing.
set -euo pipefail
cd "$(dirname "$0")/../../.."

step=${1:?test or bench}
python=${PYTHON:-python3}
build=$PWD/build

if ! gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 2>/dev/null); then
  echo "CUDA $step: SKIPPED, there is no NVIDIA GPU (nvidia-smi finds none)"
  exit 0
fi
echo "CUDA $step on $gpu"

PYTHONPATH=. "$python" -m codegen generate
if [ ! -f build/build.ninja ]; then
  mkdir -p build
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release "-DPython3_EXECUTABLE=$(command -v "$python")" \
    -DONEFLOW_BUILD_TESTS=OFF >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
fi
cmake --build build
tools/build_device.sh cuda "-DCUDA_CHIPS=${CUDA_CHIPS:-90}"

export PYTHONPATH=$PWD:$build/python OF_BUILD=$build
case $step in
  test)
    "$python" -m tests.vectors
    "$python" -m pytest -p no:cacheprovider -q -k cuda tests/python/test_{conformance,large}.py runtime/devices/cuda/tests
    if [ -x build/bin/capi_replay ]; then # from C, if the packages to build it were installed
      "$python" -m pytest -p no:cacheprovider -q tests/capi
    fi
    ;;
  bench)
    chip=$(echo "${gpu#NVIDIA }" | tr 'A-Z ' 'a-z-')
    "$python" benchmarks/run.py --as "cuda-$chip" benchmarks/cuda/bench_cuda.py
    ;;
esac
