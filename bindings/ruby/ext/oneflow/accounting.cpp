#include "accounting.h"

#include <ruby.h>

namespace oneflow::ruby {
namespace {

// Bytes made and freed by this thread that Ruby was not told of yet. Telling it of every small tensor would cost a
// tenth of an operator's call.
struct Account {
  size_t made, freed;
};
thread_local Account account = {};
constexpr size_t kTellEvery = 1 << 16;

}  // namespace

void account_made(size_t bytes) {
  Account& own = account;
  own.made += bytes;
  if (own.made < kTellEvery) return;
  rb_gc_adjust_memory_usage(static_cast<ssize_t>(own.made));
  own.made = 0;
  // Ruby looks at what it was told only when it allocates memory, which a loop over operators need not make it do.
  ruby_xfree(ruby_xmalloc(1));
}

void account_freed(size_t bytes) {
  Account& own = account;
  own.freed += bytes;
  if (own.freed < kTellEvery) return;
  rb_gc_adjust_memory_usage(-static_cast<ssize_t>(own.freed));
  own.freed = 0;
}

}  // namespace oneflow::ruby
