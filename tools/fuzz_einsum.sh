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
tools/build_fuzzer.sh einsum
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
