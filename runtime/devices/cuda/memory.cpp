// Memory comes from cudaMalloc. Its cost does not matter, as the runtime caches freed memory. Peer access has to be
// enabled only once for a pair of devices, whereas the pools of cudaMallocAsync would need it pool by pool.
#include "memory.h"

#include <mutex>

#include "device.h"

namespace oneflow::cuda {

of_status allocate(of_device device, uint64_t bytes, void** memory) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  return check(device, cudaMalloc(memory, bytes), "allocate device memory");
}

void deallocate(of_device device, void* memory, uint64_t) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return;
  // Work that uses the memory may still be running. If it fails, the next synchronisation reports the error.
  cudaDeviceSynchronize();
  cudaFree(memory);
  cudaGetLastError();
}

// The driver recognises page-locked memory by its address, and stages pageable memory through its own buffers.
of_status copy(of_device device, void* destination, const void* source, uint64_t bytes, of_device_stream stream) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  return check(device, cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, stream_of(stream).queue), "copy");
}

of_status fill(of_device device, void* destination, uint8_t value, uint64_t bytes, of_device_stream stream) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  return check(device, cudaMemsetAsync(destination, value, bytes, stream_of(stream).queue), "fill memory");
}

of_status copy_peer(of_device destination_device, void* destination, of_device source_device, const void* source,
                    uint64_t bytes, of_device_stream stream) {
  const OnDevice on(destination_device);
  if (on.status() != OF_OK) return on.status();
  can_access(destination_device, source_device);  // enables peer access, which makes the copy direct
  return check(destination_device,
               cudaMemcpyPeerAsync(destination, destination_device.index, source, source_device.index, bytes,
                                   stream_of(stream).queue),
               "copy from another device");
}

bool can_access(of_device device, of_device peer) {
  static std::atomic<int8_t> known[kMostDevices][kMostDevices];  // 0: not queried yet, 1: it can, -1: it cannot
  if (device.index == peer.index) return true;
  std::atomic<int8_t>& answer = known[device.index][peer.index];
  if (answer != 0) return answer > 0;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (answer != 0) return answer > 0;
  const OnDevice on(device);
  if (on.status() != OF_OK) return false;
  int can = 0;
  cudaError_t code = cudaDeviceCanAccessPeer(&can, device.index, peer.index);
  if (code == cudaSuccess && can != 0) code = cudaDeviceEnablePeerAccess(peer.index, 0);
  if (code == cudaErrorPeerAccessAlreadyEnabled) code = cudaSuccess;  // enabled by another library of the process
  cudaGetLastError();
  answer = code == cudaSuccess && can != 0 ? 1 : -1;
  return answer > 0;
}

of_status allocate_host(of_device device, uint64_t bytes, void** memory) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  return check(device, cudaHostAlloc(memory, bytes, cudaHostAllocPortable), "page-lock host memory");
}

void free_host(of_device device, void* memory, uint64_t) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return;
  cudaFreeHost(memory);
  cudaGetLastError();
}

}  // namespace oneflow::cuda
