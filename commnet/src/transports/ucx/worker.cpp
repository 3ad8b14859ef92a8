#include "transports/ucx/worker.h"

#include <unistd.h>

#include <cstdlib>

#include "core/status.h"

namespace commnet::ucx {

namespace {

void check(ucs_status_t status, const char* what) {
  if (status != UCS_OK)
    fail(CN_UNSUPPORTED, "UCX does not work here: %s: %s", what, library().ucs_status_string(status));
}

ucp_context_h make_context() {
  const Library& ucp = library();
  ucp_config_t* config = nullptr;
  check(ucp.ucp_config_read(nullptr, nullptr, &config), "its settings");
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  ucp_context_h context = nullptr;
  const ucs_status_t status = ucp.ucp_init_version(kMajor, kMinor, &parameters, config, &context);
  ucp.ucp_config_release(config);
  check(status, "no device or transport");
  return context;
}

}  // namespace

Worker::Worker() {
  static const pid_t first = getpid();
  if (first != getpid())
    fail(CN_UNSUPPORTED, "UCX does not work in the child of a process that has used it before fork()");
  try {
    open();
  } catch (...) {
    close();
    throw;
  }
}

Worker::~Worker() { close(); }

void Worker::open() {
  const Library& ucp = library();
  context_ = make_context();
  ucp_worker_params_t parameters{};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  check(ucp.ucp_worker_create(context_, &parameters, &worker_), "a worker");
  check(ucp.ucp_worker_get_efd(worker_, &descriptor_), "the descriptor of a worker");
  ucp_address_t* address = nullptr;
  size_t size = 0;
  check(ucp.ucp_worker_get_address(worker_, &address, &size), "the address of a worker");
  address_.assign(reinterpret_cast<const char*>(address), size);
  ucp.ucp_worker_release_address(worker_, address);
}

void Worker::close() noexcept {
  if (!context_) return;
  const Library& ucp = library();
  if (worker_) ucp.ucp_worker_destroy(worker_);
  ucp.ucp_cleanup(context_);
}

}  // namespace commnet::ucx
