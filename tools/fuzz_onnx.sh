#!/usr/bin/env bash
# Fuzzes the reader of ONNX files with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer. The seeds are the
# files of tests/data/onnx, and the models of the tests of single nodes. The corpus is kept in build-fuzz/found-onnx for
# the next run.
#
# Usage: fuzz_onnx.sh [INPUTS]
set -euo pipefail
cd "$(dirname "$0")/.."

inputs=${1:-20000}
build=build-fuzz
libraries=${OF_BUILD:-$PWD/build}/lib
mkdir -p $build/found-onnx $build/seeds-onnx
cp tests/data/onnx/*.onnx $build/seeds-onnx/
"${PYTHON:-.venv/bin/python}" -m tests.onnx_files --examples $build/seeds-onnx
flags=(-std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iruntime -Iruntime/include
  -Iruntime/generated/include)
sources=(runtime/tests/fuzz/onnx_fuzz.cpp runtime/onnx/operators/*.cpp
  runtime/onnx/{arranging,file,importer,load,node_call,operators,parser,tensors}.cpp)
clang++-14 "${flags[@]}" "${sources[@]}" -L"$libraries" -loneflow -Wl,-rpath,"$libraries" -o $build/onnx_fuzz
$build/onnx_fuzz -runs="$inputs" -max_len=4096 -timeout=30 -rss_limit_mb=3072 -print_final_stats=1 -seed=1 \
  -artifact_prefix=$build/ $build/found-onnx $build/seeds-onnx
