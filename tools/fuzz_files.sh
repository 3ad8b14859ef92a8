#!/usr/bin/env bash
# Fuzzes the readers of files of tensors with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer. The seeds are files
# that the reference packages write (tests/files/seeds.py). The corpus is kept in build-fuzz/found-files for the next run.
#
# Usage: fuzz_files.sh [INPUTS]
set -euo pipefail
cd "$(dirname "$0")/.."

inputs=${1:-200000}
build=build-fuzz
seeds=$build/seeds-files
mkdir -p $build/found-files
"${PYTHON:-.venv/bin/python}" -m tests.files.seeds $seeds
tools/build_fuzzer.sh files
cat >$build/words-files <<'WORDS'
"\"dtype\":"
"\"shape\":"
"\"data_offsets\":"
"\"__metadata__\":"
"\"oneflow.structure\":"
"\"weight_map\":"
"BOOL"
"BF16"
"F4"
"'descr':"
"'fortran_order':"
"'shape':"
"True"
">f8"
"PK\x03\x04"
"PK\x01\x02"
"PK\x05\x06"
"PK\x06\x06"
"PK\x06\x07"
"\x93NUMPY"
"\xff\xff\xff\xff"
"18446744073709551615"
"9223372036854775807"
WORDS
$build/files_fuzz -runs="$inputs" -max_len=4096 -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=256 -dict=$build/words-files \
  -print_final_stats=1 -seed=1 $build/found-files $seeds
