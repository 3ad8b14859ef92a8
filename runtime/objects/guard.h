// The boundary of functions of the C API that ask a language.
#ifndef ONEFLOW_OBJECTS_GUARD_H_
#define ONEFLOW_OBJECTS_GUARD_H_

#include "capi/boundary.h"
#include "objects/function.h"

namespace oneflow::objects {

// Runs `work`, which may throw Raised, as guard() does. Returns OF_INTERRUPTED after an exception of the language.
template <class Work>
of_status guard_language(const Work& work) {
  bool has_raised = false;
  const of_status status = guard([&] {
    try {
      work();
    } catch (const Raised&) {
      has_raised = true;
    }
  });
  return has_raised ? OF_INTERRUPTED : status;
}

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_GUARD_H_
