#include "device/allocator.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/per_thread.h"
#include "base/sanitizer.h"

namespace oneflow {

namespace {

constexpr int kSlots = 8;       // allocators with a cache per thread; further ones always lock their lists
constexpr int kMaxCached = 64;  // blocks of a class in a thread's cache …
constexpr uint64_t kMaxCachedBytes = 64 << 10;       // … and their bytes
constexpr int64_t kMaxUncounted = 64 << 10;          // bytes that a thread may leave out of the shared count
constexpr uint64_t kCacheWithoutTotal = 1ull << 30;  // cache limit of devices that do not report their total memory

constexpr uint64_t kPageLockedCache = 256ull << 20;  // other processes cannot use this memory

// Returns the maximum number of blocks of a class in a thread's cache.
constexpr int max_cached(int size_class) {
  return static_cast<int>(std::clamp<uint64_t>(kMaxCachedBytes / class_bytes(size_class), 4, kMaxCached));
}

// The small blocks of one allocator that one thread has cached.
struct ThreadCache {
  // Bytes allocated minus bytes freed by this thread and not yet added to the shared count. Only its thread writes it.
  std::atomic<int64_t> in_use{0};
  int count[kSmallClasses] = {};
  void* blocks[kSmallClasses][kMaxCached];

  // Counts bytes. Returns the bytes that the caller must add to the shared count, which are 0 for most calls.
  int64_t add(int64_t bytes) {
    const int64_t sum = in_use.load(std::memory_order_relaxed) + bytes;
    const bool is_large = sum > kMaxUncounted || sum < -kMaxUncounted;
    in_use.store(is_large ? 0 : sum, std::memory_order_relaxed);
    return is_large ? sum : 0;
  }
};

ForkSafe<std::mutex> creation_mutex{LockLevel::kAllocators};
int allocator_count = 0;
std::atomic<Allocator*> allocators[kSlots];  // by slot, for ThreadCaches::retire()

struct PressureCallback {
  of_memory_pressure_callback function = nullptr;
  void* context = nullptr;
};
ForkSafe<std::mutex> pressure_mutex{LockLevel::kPressure};
PressureCallback pressure_callback;

// Calls the memory-pressure callback; returns whether it released memory. Returns false if called from within the
// callback, which may run out of memory itself.
bool relieve_pressure(uint64_t bytes_wanted) {
  static thread_local bool is_in_callback = false;
  PressureCallback callback;
  {
    const std::lock_guard lock(pressure_mutex);
    callback = pressure_callback;
  }
  if (!callback.function || is_in_callback) return false;
  is_in_callback = true;
  const bool has_released = callback.function(callback.context, bytes_wanted);
  is_in_callback = false;
  return has_released;
}

}  // namespace

// The caches of one thread.
struct ThreadCaches {
  // By slot. Only the owning thread writes the pointers; other threads read them to add up the bytes in use.
  std::atomic<ThreadCache*> of[kSlots] = {};

  ThreadCache* own(int slot) const { return of[slot].load(std::memory_order_relaxed); }

  // Returns all blocks to their allocators when the thread ends.
  void retire() noexcept {
    for (int slot = 0; slot < kSlots; ++slot) {
      ThreadCache* cache = own(slot);
      if (!cache) continue;
      Allocator& allocator = *allocators[slot].load(std::memory_order_acquire);
      for (int c = 0; c < kSmallClasses; ++c)
        allocator.return_small(c, *allocator.first_, cache->blocks[c], cache->count[c]);
      allocator.change_in_use(cache->in_use.load(std::memory_order_relaxed));
      delete cache;
    }
  }
};

namespace {

// Returns the calling thread's cache of a slot; null if it does not exist.
ThreadCache* existing_cache(int slot) {
  ThreadCaches* caches = PerThread<ThreadCaches>::get();
  return caches && slot < kSlots ? caches->own(slot) : nullptr;
}

// Returns the calling thread's cache of a slot, which is created if necessary; null if that is not possible.
ThreadCache* cache_of_thread(int slot) {
  ThreadCaches* caches = PerThread<ThreadCaches>::get();
  if (!caches || slot >= kSlots) return nullptr;
  if (!caches->own(slot)) caches->of[slot].store(new (std::nothrow) ThreadCache, std::memory_order_release);
  return caches->own(slot);
}

// Returns what a hook says about a device; nothing if there is no hook, or it fails.
of_device_info info_of(of_status (*get_info)(of_device, of_device_info*), of_device device) {
  of_device_info info{};
  info.struct_size = sizeof(info);
  if (get_info && get_info(device, &info) != OF_OK) {
    clear_device_error();
    return {};
  }
  return info;
}

}  // namespace

MemorySource device_memory(const of_device_table& table, of_device device) {
  const of_device_info info = info_of(table.get_info, device);
  return {format_text("%s:%d", table.name, device.index),
          device,
          table.allocate,
          table.deallocate,
          table.host_accessible,
          info.total_memory ? info.total_memory / 4 : kCacheWithoutTotal,
          false,
          table.get_info};
}

MemorySource page_locked_memory(const of_device_table& table, of_device device) {
  return {format_text("page-locked memory of %s:%d", table.name, device.index),
          device,
          table.allocate_host,
          table.free_host,
          true,
          kPageLockedCache,
          true};
}

Allocator& Allocator::create(MemorySource source) {
  const std::lock_guard lock(creation_mutex);
  Allocator* allocator = new Allocator(std::move(source), allocator_count);
  if (allocator_count < kSlots) allocators[allocator_count].store(allocator, std::memory_order_release);
  ++allocator_count;
  return *allocator;
}

Allocator::Allocator(MemorySource source, int slot)
    : source_(std::move(source)), slot_(slot), first_(std::make_unique<Pool>(nullptr)) {}

Pool* Allocator::add_pool(Stream& stream) {
  auto pool = std::make_unique<Pool>(&stream);
  const std::lock_guard lock(mutex_);
  return more_.emplace_back(std::move(pool)).get();
}

void* Allocator::allocate(uint64_t bytes, Pool* pool) {
  // With a limit, try_allocate() adds up the bytes in use for each allocation.
  if (bytes <= kSmallLimit && !pool && limit_.load(std::memory_order_relaxed) == 0) [[likely]] {
    ThreadCache* cache = existing_cache(slot_);
    const int c = size_class(bytes);
    if (cache && cache->count[c]) [[likely]] {
      void* memory = cache->blocks[c][--cache->count[c]];
      if (const int64_t change = cache->add(static_cast<int64_t>(class_bytes(c)))) change_in_use(change);
      if (source_.host_accessible) unpoison_memory(memory, bytes);
      return memory;
    }
  }
  return allocate_slowly(bytes, pool ? *pool : *first_);
}

void Allocator::deallocate(void* memory, uint64_t bytes, Pool* pool) noexcept {
  const int c = size_class(bytes);
  if (source_.host_accessible) poison_memory(memory, class_bytes(c));
  if (bytes <= kSmallLimit && !pool) [[likely]] {
    ThreadCache* cache = existing_cache(slot_);
    if (cache && cache->count[c] < max_cached(c)) [[likely]] {
      cache->blocks[c][cache->count[c]++] = memory;
      if (const int64_t change = cache->add(-static_cast<int64_t>(class_bytes(c)))) change_in_use(change);
      return;
    }
  }
  deallocate_slowly(memory, bytes, pool ? *pool : *first_);
}

void Allocator::deallocate_after(std::vector<Event> ends, void* memory, uint64_t bytes, Pool* pool) noexcept {
  if (ends.empty()) return deallocate(memory, bytes, pool);
  const int c = size_class(bytes);
  change_in_use(-static_cast<int64_t>(class_bytes(c)));
  Pool& own = pool ? *pool : *first_;
  put_waiting({memory, c, std::move(ends)}, own);
  bool are_many = false;
  {
    const std::lock_guard lock(mutex_);
    are_many = own.has_many_waiting();
  }
  if (are_many) settle_waiting(own, true);
}

void Allocator::put_waiting(Pool::Waiting block, Pool& pool) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    return pool.put_waiting(std::move(block));
  } catch (...) {  // no memory for the list
  }
  settle(block, pool);
}

void Allocator::settle(const Pool::Waiting& block, Pool& pool) noexcept {
  for (const Event& end : block.ends) end.wait();
  put_free(block.size_class, pool, block.memory);
}

void Allocator::put_free(int size_class, Pool& pool, void* memory) noexcept {
  if (size_class < kSmallClasses) return return_small(size_class, pool, &memory, 1);
  try {
    const std::lock_guard lock(mutex_);
    size_class = pool.end_loan(size_class, memory);
    pool.put(size_class, memory);
  } catch (...) {  // no memory for the list
    return free_to_device(memory, class_bytes(size_class));
  }
  trim_cache(source_.cache_limit, pool);
}

void* Allocator::allocate_slowly(uint64_t bytes, Pool& pool) {
  if (bytes <= kLargestBlock) {
    const int c = size_class(bytes);
    void* memory = try_allocate(c, pool);
    if (!memory && relieve_pressure(bytes)) memory = try_allocate(c, pool);
    if (memory) {
      if (source_.host_accessible) unpoison_memory(memory, bytes);
      return memory;
    }
  }
  const MemoryStatistics now = statistics();
  const std::string limit = now.limit ? format_text(" of at most %lu", now.limit) : "";
  const of_device_info info = info_of(source_.get_info, source_.device);
  const std::string outer =
      info.limited_by ? format_text("; the limit of %s is %lu bytes", info.limited_by, info.total_memory) : "";
  fail(OF_OUT_OF_MEMORY, "%s has no memory for %lu bytes; %lu%s are in use%s", source_.name.c_str(), bytes, now.in_use,
       limit.c_str(), outer.c_str());
}

void* Allocator::try_allocate(int size_class, Pool& pool) {
  const auto bytes = static_cast<int64_t>(class_bytes(size_class));
  const uint64_t limit = limit_.load(std::memory_order_relaxed);
  if (limit && in_use() + static_cast<uint64_t>(bytes) > limit) return nullptr;

  if (size_class < kSmallClasses) {
    ThreadCache* cache = &pool == first_.get() ? cache_of_thread(slot_) : nullptr;
    if (cache && cache->count[size_class]) {
      change_in_use(bytes);
      return cache->blocks[size_class][--cache->count[size_class]];
    }
    void* blocks[kMaxCached];
    const int wanted = cache ? (max_cached(size_class) + 1) / 2 : 1;
    int taken = take_small(size_class, pool, blocks, wanted);
    if (taken == 0) {
      empty_cache();
      taken = take_small(size_class, pool, blocks, wanted);
    }
    if (taken == 0) return nullptr;
    for (int i = 1; i < taken; ++i) cache->blocks[size_class][cache->count[size_class]++] = blocks[i];
    change_in_use(bytes);
    return blocks[0];
  }

  void* memory = nullptr;
  {
    const std::lock_guard lock(mutex_);
    memory = pool.take(size_class);
  }
  if (!memory) memory = take_waiting(size_class, pool);
  if (!memory) memory = allocate_from_device(bytes);
  if (!memory) {
    empty_cache();
    memory = allocate_from_device(bytes);
  }
  if (memory) change_in_use(bytes);
  return memory;
}

void* Allocator::allocate_from_device(uint64_t bytes) {
  void* memory = nullptr;
  if (is_lost_.load(std::memory_order_relaxed)) return nullptr;
  const of_status status = source_.allocate(source_.device, bytes, &memory);
  if (status == OF_OUT_OF_MEMORY) {
    clear_device_error();  // otherwise a later failure without a text would be reported with this one
    return nullptr;
  }
  check(status);
  if (memory) reserved_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  return memory;
}

void Allocator::free_to_device(void* memory, uint64_t bytes) noexcept {
  if (source_.host_accessible) unpoison_memory(memory, bytes);
  if (!is_lost_.load(std::memory_order_relaxed)) source_.deallocate(source_.device, memory, bytes);
  reserved_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
}

void Allocator::deallocate_slowly(void* memory, uint64_t bytes, Pool& pool) noexcept {
  const int c = size_class(bytes);
  const uint64_t block_bytes = class_bytes(c);
  change_in_use(-static_cast<int64_t>(block_bytes));
  if (c >= kSmallClasses) return put_free(c, pool, memory);
  ThreadCache* cache = &pool == first_.get() ? cache_of_thread(slot_) : nullptr;
  if (!cache) return return_small(c, pool, &memory, 1);
  if (cache->count[c] == max_cached(c)) {
    const int kept = cache->count[c] / 2;
    return_small(c, pool, cache->blocks[c] + kept, cache->count[c] - kept);
    cache->count[c] = kept;
  }
  cache->blocks[c][cache->count[c]++] = memory;
}

int Allocator::take_small(int size_class, Pool& pool, void** blocks, int wanted) {
  {
    const std::lock_guard lock(mutex_);
    if (const int taken = pool.take_small(size_class, blocks, wanted)) return taken;
  }
  if ((blocks[0] = take_waiting(size_class, pool))) return 1;
  auto* slab = static_cast<char*>(allocate_from_device(kSlabBytes));
  if (!slab) return 0;
  try {
    const std::lock_guard lock(mutex_);
    pool.add_slab(size_class, slab);
    if (source_.host_accessible) poison_memory(slab, kSlabBytes);
    return pool.take_small(size_class, blocks, wanted);
  } catch (...) {  // no memory for the lists
    free_to_device(slab, kSlabBytes);
    throw;
  }
}

void Allocator::return_small(int size_class, Pool& pool, void* const* blocks, int count) noexcept {
  const std::lock_guard lock(mutex_);
  pool.put_small(size_class, blocks, count);
}

void* Allocator::take_waiting(int size_class, Pool& pool) {
  std::vector<Pool::Waiting> blocks;
  {
    const std::lock_guard lock(mutex_);
    blocks = pool.take_waiting(size_class);
  }
  // Returns all blocks but the one that is taken, also after an error.
  struct Rest {
    Allocator& allocator;
    Pool& pool;
    std::vector<Pool::Waiting>& blocks;
    ~Rest() {
      for (Pool::Waiting& each : blocks)
        if (each.memory) allocator.put_waiting(std::move(each), pool);
    }
  } const rest{*this, pool, blocks};
  for (Pool::Waiting& each : blocks) {
    if (pool.stream())
      for (const Event& end : each.ends) end.hold(*pool.stream());
    else if (!each.is_done())
      continue;
    return std::exchange(each.memory, nullptr);
  }
  return nullptr;
}

void Allocator::settle_waiting(Pool& pool, bool only_done) noexcept {
  std::vector<Pool::Waiting> blocks;
  {
    const std::lock_guard lock(mutex_);
    blocks = pool.take_waiting();
  }
  for (Pool::Waiting& each : blocks) {
    if (only_done && !each.is_done())
      put_waiting(std::move(each), pool);
    else
      settle(each, pool);
  }
  const std::lock_guard lock(mutex_);
  pool.reset_many_waiting();
}

void Allocator::free_unused_slabs(int size_class, Pool& pool) noexcept {
  std::vector<char*> taken;
  try {
    const std::lock_guard lock(mutex_);
    taken = pool.take_unused_slabs(size_class);
  } catch (...) {  // no memory for the list: they stay
  }
  for (char* slab : taken) free_to_device(slab, kSlabBytes);
}

void Allocator::trim_cache(uint64_t bytes, Pool& pool) noexcept {
  uint64_t begin = UINT64_MAX - 1;
  while (true) {
    void* oldest = nullptr;
    int oldest_class = 0;
    {
      const std::lock_guard lock(mutex_);
      begin = std::min(begin, pool.now());
      if (pool.large_bytes() > bytes) oldest = pool.take_oldest(begin, &oldest_class);
    }
    if (!oldest) return;
    free_to_device(oldest, class_bytes(oldest_class));
  }
}

void Allocator::empty_pool(Pool& pool) noexcept {
  settle_waiting(pool, false);
  trim_cache(0, pool);
  ThreadCache* cache = &pool == first_.get() ? existing_cache(slot_) : nullptr;
  for (int c = 0; c < kSmallClasses; ++c) {
    if (cache) return_small(c, pool, cache->blocks[c], std::exchange(cache->count[c], 0));
    free_unused_slabs(c, pool);
  }
}

void Allocator::empty_cache() noexcept {
  empty_pool(*first_);
  for (size_t i = 0;; ++i) {
    Pool* pool = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (i < more_.size()) pool = more_[i].get();
    }
    if (!pool) return;
    empty_pool(*pool);
  }
}

void Allocator::change_in_use(int64_t bytes) noexcept {
  const int64_t now = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

uint64_t Allocator::in_use() {
  int64_t sum = in_use_.load(std::memory_order_relaxed);
  if (slot_ < kSlots)
    PerThread<ThreadCaches>::for_each([&](ThreadCaches& caches) {
      if (const ThreadCache* cache = caches.of[slot_].load(std::memory_order_acquire))
        sum += cache->in_use.load(std::memory_order_relaxed);
    });
  return static_cast<uint64_t>(std::max<int64_t>(sum, 0));
}

MemoryStatistics Allocator::statistics() {
  MemoryStatistics result;
  result.in_use = in_use();
  result.peak_in_use = std::max(result.in_use, static_cast<uint64_t>(peak_.load(std::memory_order_relaxed)));
  const auto reserved = static_cast<uint64_t>(reserved_.load(std::memory_order_relaxed));
  result.cached = reserved > result.in_use ? reserved - result.in_use : 0;
  result.limit = limit_.load(std::memory_order_relaxed);
  return result;
}

void Allocator::reset_peak() { peak_.store(static_cast<int64_t>(in_use()), std::memory_order_relaxed); }

void set_memory_pressure_callback(of_memory_pressure_callback callback, void* context) {
  const std::lock_guard lock(pressure_mutex);
  pressure_callback = {callback, context};
}

}  // namespace oneflow
