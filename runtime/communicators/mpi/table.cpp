// What the library of the communicator exports. It is built for each binary interface of MPI.
#include <memory>
#include <new>

#include "communicator.h"

namespace {

using oneflow::mpi::Communicator;

Communicator& of(void* self) { return *static_cast<Communicator*>(self); }

of_status open(const of_communicator_options* options, void** self) {
  try {
    std::string reason;
    const auto* const mpi = oneflow::mpi::load_library(&reason);
    if (!mpi)
      return options->fail(OF_UNSUPPORTED,
                           ("the communicator '" ONEFLOW_COMMUNICATOR "' cannot be loaded: " + reason).c_str());
    auto opened = std::make_unique<Communicator>(*mpi, *options);
    if (const of_status status = opened->join()) return status;
    *self = opened.release();
    return OF_OK;
  } catch (const std::bad_alloc&) {
    return options->fail(OF_OUT_OF_MEMORY, "the host is out of memory");
  }
}

constexpr of_communicator_table kTable = {
    .struct_size = sizeof(of_communicator_table),
    .version = OF_COMMUNICATOR_VERSION,
    .name = ONEFLOW_COMMUNICATOR,
    .message_limit = Communicator::kMessageLimit,
    .open = open,
    .close = [](void* self) { delete &of(self); },
    .is_bound_to_thread = [](void* self) { return of(self).is_bound_to_thread(); },
    .offer_from = [](void*, uint32_t) -> size_t { return Communicator::kOfferFrom; },
    .post = [](void* self, uint32_t rank, const void* data, size_t size) { return of(self).post(rank, data, size); },
    .offer = [](void* self, uint32_t rank, const void* data, size_t size, void* transfer,
                of_communicator_key* key) { return of(self).offer(rank, data, size, transfer, key); },
    .fetch = [](void* self, uint32_t rank, const of_communicator_key* key, void* data, size_t size,
                void* transfer) { return of(self).fetch(rank, *key, data, size, transfer); },
    .withdraw = [](void* self, void* transfer) { of(self).withdraw(transfer); },
    .progress = [](void* self) { return of(self).progress(); },
    .descriptor = [](void*) { return -1; },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const of_communicator_table* oneflow_communicator(void) {
  return &kTable;
}
