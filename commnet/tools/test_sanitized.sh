#!/bin/sh
# Builds the library, its tests and its examples with AddressSanitizer and UndefinedBehaviorSanitizer, then with
# ThreadSanitizer, and runs them. Usage: tools/test_sanitized.sh [address|thread] [arguments of ctest]
# COMMNET_BUILD_FOLDER says where to build (default: build/sanitized), COMMNET_JOBS with how many processes (default: 2),
# COMMNET_CMAKE_ARGUMENTS with what else: -DCOMMNET_UCX=OFF leaves UCX out.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${COMMNET_BUILD_FOLDER:-$source/build/sanitized}
kinds="address thread"
case "${1:-}" in address | thread)
  kinds=$1
  shift
  ;;
esac
# The first error ends a process, also a child of a test.
export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=1"
export LSAN_OPTIONS="suppressions=$source/tests/leak_sanitizer.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1"
# Children of processes with threads make endpoints of their own.
export TSAN_OPTIONS="halt_on_error=1:die_after_fork=0:second_deadlock_stack=1:suppressions=$source/tests/thread_sanitizer.supp"
# UCX would watch over the memory of threads that ThreadSanitizer does not know any more.
export UCX_MEM_EVENTS=n
for kind in $kinds; do
  flags="-fsanitize=$kind -fno-omit-frame-pointer -g -O1"
  # The check of virtual tables needs a descriptor to look at memory, and a test takes them all.
  [ "$kind" = address ] && flags="-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1"
  cmake -S "$source" -B "$folder/$kind" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" \
    -DCMAKE_EXE_LINKER_FLAGS="$flags" ${COMMNET_CMAKE_ARGUMENTS:-} >/dev/null
  cmake --build "$folder/$kind" -j "${COMMNET_JOBS:-2}"
  # Programs of commnet_install are built without sanitizers, which the library then needs.
  ctest --test-dir "$folder/$kind" --output-on-failure --no-tests=error -E commnet_install "$@"
done
