// operator new that fails on demand, for all of the test program.
#ifndef ONEFLOW_TESTS_FAILING_NEW_H_
#define ONEFLOW_TESTS_FAILING_NEW_H_

namespace oneflow {

// How many allocations of this thread still succeed; negative: all.
extern thread_local int allocations_left;

}  // namespace oneflow

#endif  // ONEFLOW_TESTS_FAILING_NEW_H_
