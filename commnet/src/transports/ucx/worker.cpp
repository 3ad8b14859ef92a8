#include "transports/ucx/worker.h"

#include <unistd.h>

#include "core/status.h"

namespace commnet::ucx {

namespace {

void check(ucs_status_t status, const char* what) {
  if (status != UCS_OK)
    fail(CN_UNSUPPORTED, "UCX does not work here: %s: %s", what, library().ucs_status_string(status));
}

}  // namespace

ucp_context_h make_context() {
  static const pid_t first = getpid();
  if (first != getpid())
    fail(CN_UNSUPPORTED, "UCX does not work in the child of a process that has used it before fork()");
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

ucp_worker_h make_worker(ucp_context_h context, int* descriptor) {
  const Library& ucp = library();
  ucp_worker_params_t parameters{};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucp_worker_h worker = nullptr;
  check(ucp.ucp_worker_create(context, &parameters, &worker), "a worker");
  if (const ucs_status_t status = ucp.ucp_worker_get_efd(worker, descriptor); status != UCS_OK) {
    ucp.ucp_worker_destroy(worker);
    check(status, "the descriptor of a worker");
  }
  return worker;
}

std::string address_of(ucp_worker_h worker) {
  const Library& ucp = library();
  ucp_address_t* address = nullptr;
  size_t size = 0;
  check(ucp.ucp_worker_get_address(worker, &address, &size), "the address of a worker");
  std::string bytes(reinterpret_cast<const char*>(address), size);
  ucp.ucp_worker_release_address(worker, address);
  return bytes;
}

}  // namespace commnet::ucx
