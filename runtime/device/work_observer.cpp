#include "device/work_observer.h"

namespace oneflow {

thread_local constinit WorkObserver* work_observer __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace oneflow
