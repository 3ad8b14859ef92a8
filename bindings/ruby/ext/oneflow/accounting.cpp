#include "accounting.h"

#include <ruby.h>

namespace oneflow::ruby {
namespace {

// Bytes that this thread allocated and freed and has not reported to Ruby yet. Reporting every small tensor would make
// operator calls noticeably slower.
struct Account {
  size_t allocated, freed;
};
thread_local Account account = {};
constexpr size_t kReportEvery = 1 << 16;

}  // namespace

void account_allocated(size_t bytes) {
  Account& own = account;
  own.allocated += bytes;
  if (own.allocated < kReportEvery) return;
  rb_gc_adjust_memory_usage(static_cast<ssize_t>(own.allocated));
  own.allocated = 0;
  // Ruby checks the reported amount only when it allocates memory itself, which a loop over operators need not do.
  ruby_xfree(ruby_xmalloc(1));
}

void account_freed(size_t bytes) {
  Account& own = account;
  own.freed += bytes;
  if (own.freed < kReportEvery) return;
  rb_gc_adjust_memory_usage(-static_cast<ssize_t>(own.freed));
  own.freed = 0;
}

}  // namespace oneflow::ruby
