// Memory that runs out: operator new of this program, and of the library, fails when a test says so.
#ifndef COMMNET_TESTS_FAILING_NEW_H_
#define COMMNET_TESTS_FAILING_NEW_H_

#include <cstdint>

namespace commnet::tests {

// Lets `count` allocations fail after the next `first`, on all threads but those that are spared.
void fail_allocations(int64_t first, int64_t count);
// Returns how many allocations there were since then.
int64_t allocations();

// Spares the calling thread, as long as it exists, or not.
class Spared {
 public:
  explicit Spared(bool is_spared = true);
  Spared(const Spared&) = delete;
  ~Spared();

 private:
  const bool before_;
};

}  // namespace commnet::tests

#endif  // COMMNET_TESTS_FAILING_NEW_H_
