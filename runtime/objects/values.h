// Converted arguments as values of operators.
#ifndef ONEFLOW_OBJECTS_VALUES_H_
#define ONEFLOW_OBJECTS_VALUES_H_

#include <oneflow/objects.h>

#include "objects/memory.h"

namespace oneflow::objects {

// Returns the value for an argument of a type. Lists are in `memory`.
of_value to_value(const of_type& type, const of_data& data, Memory& memory);

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_VALUES_H_
