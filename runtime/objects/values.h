// Converted arguments as values of operators.
#ifndef ONEFLOW_OBJECTS_VALUES_H_
#define ONEFLOW_OBJECTS_VALUES_H_

#include <oneflow/objects.h>

#include "objects/memory.h"

namespace oneflow::objects {

// Returns the device of an argument that may be absent: by default the default device.
inline of_device device_or_default(const of_data& given) {
  return given.kind == OF_DATA_DEVICE ? given.as.device : of_default_device();
}

// Returns the value for an argument of a type. Lists are in `memory`.
of_value to_value(const of_type& type, const of_data& data, Memory& memory);

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_VALUES_H_
