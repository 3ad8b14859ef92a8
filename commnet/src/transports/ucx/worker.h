// Workers of UCP, which are kept for later endpoints: the thread of UCX may use one that is destroyed.
#ifndef COMMNET_TRANSPORTS_UCX_WORKER_H_
#define COMMNET_TRANSPORTS_UCX_WORKER_H_

#include "transports/ucx/library.h"

namespace commnet::ucx {

struct Worker {
  ucp_context_h context = nullptr;
  ucp_worker_h handle = nullptr;
  int descriptor = -1;
};

// Returns a worker without connections. Throws Error with CN_UNSUPPORTED if UCX cannot be used.
Worker take_worker();
// Gives back a worker all of whose connections and listeners are closed.
void keep_worker(const Worker& worker);

}  // namespace commnet::ucx

#endif  // COMMNET_TRANSPORTS_UCX_WORKER_H_
