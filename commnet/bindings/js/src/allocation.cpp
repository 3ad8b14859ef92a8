#include "allocation.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "environment.h"

namespace commnet::node {

namespace {

// All of this process. Worker threads have endpoints of their own, but addresses belong to all of them.
struct Table {
  struct Entry {
    uintptr_t end;
    std::weak_ptr<Allocation> allocation;
  };
  std::mutex mutex;
  std::map<uintptr_t, Entry> entries;  // by where they begin
};

// Never destroyed: threads may go on while the process ends.
Table& table() {
  static auto& table = *new Table;
  return table;
}

}  // namespace

std::shared_ptr<Allocation> Allocation::at(const void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(table().mutex);
  const auto after = table().entries.upper_bound(place);
  if (after == table().entries.begin()) return nullptr;
  const Table::Entry& entry = std::prev(after)->second;
  return place < entry.end ? entry.allocation.lock() : nullptr;
}

Allocation::Allocation(cn_memory* handle, void* data, size_t size) : handle_(handle), data_(data), size_(size) {}

Allocation::~Allocation() { release(); }

void Allocation::release() {
  if (!handle_) return;
  {
    // Before another one may get the address.
    const std::lock_guard lock(table().mutex);
    table().entries.erase(reinterpret_cast<uintptr_t>(data_));
  }
  cn_memory_release(std::exchange(handle_, nullptr));
}

Napi::ArrayBuffer Allocation::array_buffer(Napi::Env env) {
  const auto begin = reinterpret_cast<uintptr_t>(data_);
  {
    const std::lock_guard lock(table().mutex);
    table().entries.insert_or_assign(begin, Table::Entry{begin + size_, weak_from_this()});
  }
  try {
    return Napi::ArrayBuffer::New(env, data_, size_, [kept = shared_from_this()](Napi::Env, void*) {});
  } catch (const Napi::Error& error) {
    throw Environment::of(env).make_error(env, CN_UNSUPPORTED, error.Message().c_str());
  }
}

}  // namespace commnet::node
