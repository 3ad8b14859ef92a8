#include "fork.h"

#include <pthread.h>

namespace commnet::ruby {
namespace {

unsigned forks = 0;

}  // namespace

unsigned fork_count() { return forks; }

void watch_forks() {
  pthread_atfork(nullptr, nullptr, [] { ++forks; });
}

}  // namespace commnet::ruby
