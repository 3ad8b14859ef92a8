#include "transports/ucx/worker.h"

#include <unistd.h>

#include <mutex>
#include <vector>

#include "core/status.h"

namespace commnet::ucx {

namespace {

struct Idle {
  std::mutex mutex;
  std::vector<Worker> workers;
  const pid_t process = getpid();
};

Idle& idle() {
  static Idle& only = *new Idle;
  return only;
}

void check(ucs_status_t status, const char* what) {
  if (status != UCS_OK)
    fail(CN_UNSUPPORTED, "UCX does not work here: %s: %s", what, library().ucs_status_string(status));
}

Worker make_worker() {
  const Library& ucp = library();
  ucp_config_t* config = nullptr;
  check(ucp.ucp_config_read(nullptr, nullptr, &config), "its settings");
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  Worker made;
  const ucs_status_t status = ucp.ucp_init_version(kMajor, kMinor, &parameters, config, &made.context);
  ucp.ucp_config_release(config);
  check(status, "no device or transport");
  try {
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    check(ucp.ucp_worker_create(made.context, &worker, &made.handle), "a worker");
    check(ucp.ucp_worker_get_efd(made.handle, &made.descriptor), "the descriptor of a worker");
  } catch (...) {
    if (made.handle) ucp.ucp_worker_destroy(made.handle);
    ucp.ucp_cleanup(made.context);
    throw;
  }
  return made;
}

}  // namespace

Worker take_worker() {
  Idle& all = idle();
  if (all.process != getpid())
    fail(CN_UNSUPPORTED, "UCX does not work in the child of a process that has used it before fork()");
  const std::lock_guard lock(all.mutex);
  if (all.workers.empty()) return make_worker();
  const Worker worker = all.workers.back();
  all.workers.pop_back();
  return worker;
}

void keep_worker(const Worker& worker) {
  Idle& all = idle();
  const std::lock_guard lock(all.mutex);
  all.workers.push_back(worker);
}

}  // namespace commnet::ucx
