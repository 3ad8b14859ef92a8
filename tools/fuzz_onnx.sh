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
mkdir -p $build/found-onnx $build/seeds-onnx
cp tests/data/onnx/*.onnx $build/seeds-onnx/
"${PYTHON:-.venv/bin/python}" -m tests.onnx_files --examples $build/seeds-onnx
tools/build_fuzzer.sh onnx
$build/onnx_fuzz -runs="$inputs" -max_len=4096 -timeout=30 -rss_limit_mb=3072 -print_final_stats=1 -seed=1 \
  -artifact_prefix=$build/ $build/found-onnx $build/seeds-onnx
