#include "base/interrupt.h"

namespace oneflow {

thread_local constinit InterruptCheck interrupt_check __attribute__((tls_model("initial-exec"))) = {};

}  // namespace oneflow
