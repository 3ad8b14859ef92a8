#!/usr/bin/env bash
# Collects in build/cuda-bundle what on_gpu.sh needs besides the checkout: libraries, the Python front end, the test
# program in C and the conformance vectors. It runs on a machine with glibc and libstdc++ at least as new as here.
#
# Usage: bundle.sh PYTHON
# PYTHON is an interpreter of the version that the other machine has. Expects `make build-tests vectors` to be done.
set -euo pipefail
cd "$(dirname "$0")/../../.."

python=${1:?an interpreter of the version that the other machine has}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
bundle=$PWD/build/cuda-bundle
front_end=build/python-$version

echo "Building oneflow_py for Python $version"
if [ ! -f "$front_end/build.ninja" ]; then
  mkdir -p "$front_end"
  cmake -S . -B "$front_end" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DPython3_EXECUTABLE=$python" \
    -DONEFLOW_BUILD_TESTS=OFF >"$front_end/configure.log" 2>&1 || { cat "$front_end/configure.log"; exit 1; }
fi
cmake --build "$front_end" --target oneflow_python oneflow_python_files
tools/build_device.sh cuda "-DCUDA_CHIPS=${CUDA_CHIPS:-90}"

# The layout is that of the build folder, whose files find each other by relative paths.
rm -rf "$bundle"
mkdir -p "$bundle"/{bin,lib/oneflow_devices,python}
cp build/bin/capi_replay "$bundle/bin"
cp build/lib/*.so.? build/lib/oneflow-probe "$bundle/lib"
cp build/lib/oneflow_devices/cuda.so "$bundle/lib/oneflow_devices"
cp -r "$front_end/python/oneflow_py" "$bundle/python"
tar -c tests/generated/vectors | xz -T0 >"$bundle/vectors.tar.xz"
du -sh "$bundle"
