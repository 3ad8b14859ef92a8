// What all code that asks a language about its values needs.
#ifndef ONEFLOW_OBJECTS_LANGUAGE_H_
#define ONEFLOW_OBJECTS_LANGUAGE_H_

#include "objects/function.h"

namespace oneflow::objects {

// Throws Raised if a function of the language has failed.
inline void check_language(of_status status) {
  if (status != OF_OK) throw Raised();
}

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_LANGUAGE_H_
