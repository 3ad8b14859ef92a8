#include "tensor/extensions.h"

#include "base/error.h"

namespace oneflow {

struct Extensions::Item {
  of_layer layer;
  void* data;
  of_deleter destroy;
  Item* next;
};

void check_layer(of_layer layer) {
  if (layer < 0 || layer >= OF_LAYER_LIMIT)
    fail(OF_INVALID_ARGUMENT, "layer must be from 0 to %d, got %d", OF_LAYER_LIMIT - 1, layer);
}

void* Extensions::find(of_layer layer) const {
  for (const Item* item = first_.load(std::memory_order_acquire); item; item = item->next)
    if (item->layer == layer) return item->data;
  return nullptr;
}

void Extensions::add(of_layer layer, void* data, of_deleter destroy) {
  check_layer(layer);
  if (!data) fail(OF_INVALID_ARGUMENT, "data must not be NULL");
  Item* added = new Item{layer, data, destroy, first_.load(std::memory_order_acquire)};
  do {
    for (const Item* item = added->next; item; item = item->next) {
      if (item->layer != layer) continue;
      delete added;
      fail(OF_INVALID_ARGUMENT, "the tensor has data of layer %d already", layer);
    }
  } while (!first_.compare_exchange_weak(added->next, added, std::memory_order_acq_rel));
  layers_.fetch_or(uint32_t{1} << layer, std::memory_order_release);
}

void Extensions::release() noexcept {
  static thread_local constinit Item* waiting = nullptr;
  static thread_local constinit bool is_freeing = false;
  Item* item = first_.load(std::memory_order_acquire);
  while (item) {
    Item* const next = item->next;
    item->next = waiting;
    waiting = item;
    item = next;
  }
  if (is_freeing) return;
  is_freeing = true;
  while (waiting) {
    Item* const freed = waiting;
    waiting = freed->next;
    if (freed->destroy) freed->destroy(freed->data);
    delete freed;
  }
  is_freeing = false;
}

}  // namespace oneflow
