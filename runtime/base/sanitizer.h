// Marks memory that is kept for reuse as freed for AddressSanitizer. Does nothing in other builds.
#ifndef ONEFLOW_BASE_SANITIZER_H_
#define ONEFLOW_BASE_SANITIZER_H_

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace oneflow {

// Makes AddressSanitizer report accesses to `bytes` bytes at `memory`.
inline void poison_memory([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_poison_memory_region(memory, bytes);
#endif
}

// Allows accesses again.
inline void unpoison_memory([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace oneflow

#endif  // ONEFLOW_BASE_SANITIZER_H_
