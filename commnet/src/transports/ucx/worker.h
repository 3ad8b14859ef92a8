// The objects of UCP that stand behind a transport.
#ifndef COMMNET_TRANSPORTS_UCX_WORKER_H_
#define COMMNET_TRANSPORTS_UCX_WORKER_H_

#include <string>

#include "transports/ucx/library.h"

namespace commnet::ucx {

// Both throw Error with CN_UNSUPPORTED if UCX cannot be used.
ucp_context_h make_context();
ucp_worker_h make_worker(ucp_context_h context, int* descriptor);
// Returns the address by which others reach a worker. Throws Error.
std::string address_of(ucp_worker_h worker);

}  // namespace commnet::ucx

#endif  // COMMNET_TRANSPORTS_UCX_WORKER_H_
