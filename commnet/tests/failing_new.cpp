#include "failing_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace commnet::tests {

namespace {

std::atomic<bool> counts{false};
std::atomic<int64_t> seen{0}, first_failure{0}, last_failure{0};
thread_local bool is_spared = false;

bool fails() {
  if (!counts.load(std::memory_order_relaxed) || is_spared) return false;
  const int64_t number = seen++;
  return number >= first_failure && number < last_failure;
}

}  // namespace

void fail_allocations(int64_t first, int64_t count) {
  counts = false;
  seen = 0;
  first_failure = first;
  last_failure = first + count;
  counts = count > 0;
}

int64_t allocations() { return seen; }

Spared::Spared(bool spared) : before_(is_spared) { is_spared = spared; }
Spared::~Spared() { is_spared = before_; }

}  // namespace commnet::tests

void* operator new(size_t size) {
  void* const memory = commnet::tests::fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
