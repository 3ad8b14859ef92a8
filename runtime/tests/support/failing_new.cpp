#include "tests/support/failing_new.h"

#include <cstdlib>
#include <new>

namespace oneflow {

thread_local int allocations_left = -1;  // negative: unlimited

void allow_allocations(int count) { allocations_left = count; }

}  // namespace oneflow

namespace {

void* try_allocate(size_t bytes) {
  if (oneflow::allocations_left == 0) return nullptr;
  if (oneflow::allocations_left > 0) --oneflow::allocations_left;
  return std::malloc(bytes);
}

}  // namespace

void* operator new(size_t bytes) {
  void* memory = try_allocate(bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return try_allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
