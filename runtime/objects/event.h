// Events as objects.
#ifndef ONEFLOW_OBJECTS_EVENT_H_
#define ONEFLOW_OBJECTS_EVENT_H_

#include <oneflow/oneflow.h>

#include "base/ref.h"

namespace oneflow::objects {

struct Event : RefCounted<Event> {
  Event(of_device device, bool is_timed);
  ~Event();

  const of_device device;
  of_event event{};

  void destroy() { delete this; }
};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_EVENT_H_
