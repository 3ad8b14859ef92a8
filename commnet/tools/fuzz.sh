#!/bin/sh
# Builds the library with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, and tries out frames of strangers
# and of hostile peers for N seconds each. Usage: tools/fuzz.sh [N]
# COMMNET_BUILD_FOLDER says where to build (default: build/fuzz), CXX with what (default: the first clang++ there is).
set -eu
seconds=${1:-60}
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${COMMNET_BUILD_FOLDER:-$source/build/fuzz}
compiler=${CXX:-$(command -v clang++ || ls /usr/bin/clang++-* | sort -V | tail -n 1)}
mkdir -p "$folder"
flags="-std=c++20 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
flags="$flags -DCOMMNET_BUILDING -DCOMMNET_VERSION=\"fuzz\" -DCOMMNET_TRANSPORTS=&kWithinProcess,&kSockets"
flags="$flags -I$source/include -I$source/src $(pkg-config --cflags libsodium)"
objects=
for file in "$source"/src/core/*.cpp "$source"/src/jobs/*.cpp "$source"/src/transports/memory/*.cpp "$source"/src/transports/sockets/*.cpp \
  "$source"/tests/fuzz/connection.cpp; do
  object=$folder/$(basename "$(dirname "$file")")_$(basename "$file" .cpp).o
  objects="$objects $object"
  if [ ! -e "$object" ] || [ -n "$(find "$source/src" "$source/include" "$source/tests/fuzz" -newer "$object" -name '*.[ch]*' | head -n 1)" ]; then
    "$compiler" $flags -fsanitize=fuzzer-no-link -c "$file" -o "$object"
  fi
done
for target in handshake frames; do
  "$compiler" $flags -fsanitize=fuzzer "$source/tests/fuzz/${target}_fuzz.cpp" $objects $(pkg-config --libs libsodium) \
    -o "$folder/${target}_fuzz"
  mkdir -p "$folder/corpus_$target"
  (cd "$folder" && "./${target}_fuzz" -max_total_time="$seconds" -max_len=4096 -print_final_stats=1 "corpus_$target")
done
