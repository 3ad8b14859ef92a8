#include "transports/ucx/worker.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/status.h"

namespace commnet::ucx {

namespace {

void check(ucs_status_t status, const char* what) {
  if (status != UCS_OK)
    fail(CN_UNSUPPORTED, "UCX does not work here: %s: %s", what, library().ucs_status_string(status));
}

// Changes a setting unless a variable of the environment sets it.
void prefer(ucp_config_t* config, const char* variable, const char* name, const char* value) {
  if (!std::getenv(variable)) library().ucp_config_modify(config, name, value);
}

// Returns whether the environment has UCX use shared memory for endpoints that have to hear of errors. By default it
// does not: a process that is killed while it writes to the queue of another one may block that queue for all.
bool trusts_shared_memory() {
  const auto names = {"UCX_MM_ERROR_HANDLING", "UCX_POSIX_ERROR_HANDLING", "UCX_SYSV_ERROR_HANDLING"};
  return std::ranges::any_of(names, [](const char* name) { return std::getenv(name) != nullptr; });
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
  make_context(accesses_memory_ ? UCP_FEATURE_RMA : 0);
  const auto print = [&](std::FILE* file) { ucp.ucp_context_print_info(context_, file); };
  if (rule_ == AccessRule::kHardware && names_hardware(printed(print))) {
    ucp.ucp_cleanup(std::exchange(context_, nullptr));
    make_context(UCP_FEATURE_RMA);
    accesses_memory_ = true;
  }
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

void Worker::make_context(uint64_t features) {
  const Library& ucp = library();
  ucp_config_t* config = nullptr;
  check(ucp.ucp_config_read(nullptr, nullptr, &config), "its settings");
  // Over TCP, each path between two workers takes a descriptor. What could not be used would take memory.
  prefer(config, "UCX_MAX_RNDV_LANES", "MAX_RNDV_LANES", "1");
  // The sockets and the pings of the library tell that the other side has ended. For this one, UCX would have the two
  // ends of a link find each other while they connect, which it does not survive if one ends meanwhile.
  prefer(config, "UCX_KEEPALIVE_INTERVAL", "KEEPALIVE_INTERVAL", "inf");
  // UCX 1.13 does not survive that one event of several which it has taken at a time closes the socket of another one.
  prefer(config, "UCX_TCP_MAX_POLL", "MAX_POLL", "1");
  if (!trusts_shared_memory()) prefer(config, "UCX_TLS", "TLS", "^posix,sysv,self");
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | features;
  const ucs_status_t status = ucp.ucp_init_version(kMajor, kMinor, &parameters, config, &context_);
  ucp.ucp_config_release(config);
  if (status != UCS_OK) context_ = nullptr;
  check(status, "no device or transport");
}

void Worker::close() noexcept {
  if (!context_) return;
  const Library& ucp = library();
  if (worker_) ucp.ucp_worker_destroy(worker_);
  ucp.ucp_cleanup(context_);
}

}  // namespace commnet::ucx
