// The worker of UCP that does the work of an endpoint.
#ifndef COMMNET_TRANSPORTS_UCX_WORKER_H_
#define COMMNET_TRANSPORTS_UCX_WORKER_H_

#include <string>

#include "transports/ucx/access.h"
#include "transports/ucx/library.h"

namespace commnet::ucx {

class Worker {
 public:
  // Throws Error with CN_UNSUPPORTED if UCX cannot be used.
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  ucp_context_h context() const { return context_; }
  ucp_worker_h handle() const { return worker_; }
  // Readable when there is something to do, if it was armed.
  int descriptor() const { return descriptor_; }
  // By which others reach it.
  const std::string& address() const { return address_; }
  // Returns whether there are remote keys, and when they are used.
  bool accesses_memory() const { return accesses_memory_; }
  AccessRule rule() const { return rule_; }
  // Leaves all to the end of the process: UCX may still use memory of the program.
  void abandon() { context_ = nullptr; }

 private:
  void open();
  void make_context(uint64_t features);
  void close() noexcept;

  const AccessRule rule_ = access_rule();
  bool accesses_memory_ = rule_ == AccessRule::kAlways;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::string address_;
};

}  // namespace commnet::ucx

#endif  // COMMNET_TRANSPORTS_UCX_WORKER_H_
