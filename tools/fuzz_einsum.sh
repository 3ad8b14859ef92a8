#!/usr/bin/env bash
# Fuzzes the equation parser and the path search of einsum with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer.
# The corpus is kept in build-fuzz/found for the next run. runtime/tests/fuzz/report-2026-11-22.md reports a run with ten
# million inputs.
#
# Usage: fuzz_einsum.sh [INPUTS]
set -euo pipefail
cd "$(dirname "$0")/.."

inputs=${1:-200000}
build=build-fuzz
mkdir -p $build/found
flags=(-std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iruntime -Iruntime/include)
sources=(runtime/tests/fuzz/einsum_fuzz.cpp runtime/base/{characters,error,shape,dtype}.cpp
  runtime/einsum/{equation,equation_text,exact_path,expression,greedy_path,improve_path,network,path,sizes}.cpp)
clang++-14 "${flags[@]}" "${sources[@]}" -lutf8proc -o $build/einsum_fuzz
cat >$build/words <<'WORDS'
"->"
"..."
"["
"]"
"\x0a"
"\xc3\xa9"
"\xe6\x97\xa5"
"\xf0\x9f\x98\x80"
"2147483648"
WORDS
seeds=runtime/tests/fuzz/equations
$build/einsum_fuzz -runs="$inputs" -max_len=96 -timeout=10 -dict=$build/words -print_final_stats=1 -seed=1 $build/found $seeds
