// operator new that fails on demand, for all of the test program.
#ifndef ONEFLOW_TESTS_FAILING_NEW_H_
#define ONEFLOW_TESTS_FAILING_NEW_H_

namespace oneflow {

// How many allocations of this thread still succeed; negative: all.
// A function, as UBSan takes the address of another file's thread_local variable for a null pointer.
void allow_allocations(int count);

}  // namespace oneflow

#endif  // ONEFLOW_TESTS_FAILING_NEW_H_
