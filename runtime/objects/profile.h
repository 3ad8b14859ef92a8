// Profiles as objects.
#ifndef ONEFLOW_OBJECTS_PROFILE_H_
#define ONEFLOW_OBJECTS_PROFILE_H_

#include <oneflow/profile.h>

#include "base/ref.h"
#include "objects/handle.h"

namespace oneflow::objects {

struct Profile : RefCounted<Profile> {
  Owned<of_profile, of_profile_release> handle;  // NULL before it begins

  void destroy() { delete this; }
};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_PROFILE_H_
