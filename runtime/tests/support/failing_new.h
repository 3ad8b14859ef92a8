// Replaces operator new in the whole test program by one that fails on demand.
#ifndef ONEFLOW_TESTS_SUPPORT_FAILING_NEW_H_
#define ONEFLOW_TESTS_SUPPORT_FAILING_NEW_H_

namespace oneflow {

// Makes the calling thread's allocations fail after `count` further ones; a negative count makes all succeed.
// A function, because UBSan reports a null pointer for a thread_local variable of another file.
void allow_allocations(int count);

}  // namespace oneflow

#endif  // ONEFLOW_TESTS_SUPPORT_FAILING_NEW_H_
