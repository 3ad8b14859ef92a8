#!/bin/sh
# Builds the library with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, and tries out N inputs for each of
# the targets: frames of strangers (handshake), of those whom an endpoint connects to (answers), of hostile peers (frames);
# URLs, options, tokens and files (texts).
# Usage: tools/fuzz.sh [N (default: 200000) [target...]]
# COMMNET_BUILD_FOLDER says where to build (default: build/fuzz), CXX with what (default: the first clang++ there is),
# COMMNET_FUZZ_SEED where to begin (default: 1). The corpus of inputs is kept there for the next run.
set -eu
inputs=${1:-200000}
[ $# -eq 0 ] || shift
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${COMMNET_BUILD_FOLDER:-$source/build/fuzz}
compiler=${CXX:-$(command -v clang++ || ls /usr/bin/clang++-* | sort -V | tail -n 1)}
mkdir -p "$folder"
flags="-std=c++20 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
flags="$flags -DCOMMNET_BUILDING -DCOMMNET_VERSION=\"fuzz\" -DCOMMNET_TRANSPORTS=&kWithinProcess,&kShared,&kSockets"
flags="$flags -I$source/include -I$source/src $(pkg-config --cflags libsodium)"
objects=
outdated=
for file in $(find "$source/src" -name '*.cpp' -not -path '*/ucx/*') \
  "$source"/tests/fuzz/connection.cpp "$source"/tests/fuzz/numeric_hosts.cpp; do
  object=$folder/$(basename "$(dirname "$file")")_$(basename "$file" .cpp).o
  objects="$objects $object"
  if [ ! -e "$object" ] || [ -n "$(find "$source/src" "$source/include" "$source/tests/fuzz" -newer "$object" -name '*.[ch]*' | head -n 1)" ]; then
    outdated="$outdated$file $object
"
  fi
done
printf %s "$outdated" | xargs -r -P "$(nproc)" -L 1 sh -c "exec $compiler $(printf %s "$flags" | sed 's/[&"]/\\&/g') -fsanitize=fuzzer-no-link -c \"\$0\" -o \"\$1\""
for target in ${*:-handshake answers frames texts}; do
  "$compiler" $flags -fsanitize=fuzzer -Wl,--wrap=getaddrinfo "$source/tests/fuzz/${target}_fuzz.cpp" $objects \
    $(pkg-config --libs libsodium) -o "$folder/${target}_fuzz"
  mkdir -p "$folder/corpus_$target"
  # Leaks are looked for at the end, with all that was found: after each input it would take most of the time.
  (cd "$folder" && "./${target}_fuzz" -detect_leaks=0 -runs="$inputs" -max_len=4096 -timeout=60 -rss_limit_mb=2048 \
    -seed="${COMMNET_FUZZ_SEED:-1}" -artifact_prefix="found-$target-" -print_final_stats=1 "corpus_$target" &&
    "./${target}_fuzz" -runs=0 "corpus_$target")
done
