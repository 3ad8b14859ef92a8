// The memory of a call: what its arguments and its result point to.
#ifndef ONEFLOW_OBJECTS_MEMORY_H_
#define ONEFLOW_OBJECTS_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <string_view>

namespace oneflow::objects {

// Memory that is freed at once. The first bytes need no allocation.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Returns `count` values that are zero. T has no destructor.
  template <class T>
  T* allocate(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    void* bytes = resource_.allocate(count * sizeof(T), alignof(T));
    return static_cast<T*>(std::memset(bytes, 0, count * sizeof(T)));
  }

  // Returns a copy of a text with a zero byte after it.
  const char* copy(std::string_view text) {
    char* characters = allocate<char>(text.size() + 1);
    text.copy(characters, text.size());
    return characters;
  }

 private:
  std::array<std::byte, 512> first_;
  std::pmr::monotonic_buffer_resource resource_{first_.data(), first_.size()};
};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_MEMORY_H_
