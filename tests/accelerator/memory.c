/* Memory that is mapped twice, and copies. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "accelerator.h"

enum { ALIGNMENT = 64 };

void* reach(const void* address) {
  for (int i = 0; i < DEVICES; ++i) {
    const uintptr_t offset = (uintptr_t)address - (uintptr_t)devices[i].outside;
    if (devices[i].outside && offset < MOST_MEMORY) return devices[i].inside + offset;
  }
  return (void*)address;
}

bool map_memory(accelerator* device) {
  if (device->outside) return true;
  const int file = memfd_create("accelerator", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)MOST_MEMORY) != 0) return false;
  device->inside = mmap(NULL, MOST_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  device->outside = mmap(NULL, MOST_MEMORY, PROT_NONE, MAP_SHARED, file, 0);
  close(file);
  return device->inside != MAP_FAILED && device->outside != MAP_FAILED;
}

/* The first gap that is wide enough. */
of_status allocate(of_device id, uint64_t bytes, void** memory) {
  accelerator* device = &devices[id.index];
  if (take_fault(device, FAIL_ALLOCATIONS))
    return host->fail(OF_OUT_OF_MEMORY, "the device was told to have no memory");
  if (take_fault(device, EMPTY_ALLOCATIONS)) {
    *memory = NULL;
    return OF_OK;
  }
  block* added = bytes <= MOST_MEMORY ? malloc(sizeof(*added)) : NULL;
  if (!added) return host->fail(OF_OUT_OF_MEMORY, "the device has less memory");
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  pthread_mutex_lock(&lock);
  uint64_t start = 0;
  block** place = &device->blocks;
  for (; *place && (*place)->start - start < bytes; place = &(*place)->next) start = (*place)->start + (*place)->bytes;
  const bool fits = start + bytes <= (uint64_t)device->settings[CAPACITY];
  if (fits) {
    *added = (block){start, bytes, *place};
    *place = added;
    device->settings[USED_MEMORY] += (int64_t)bytes;
    *memory = device->outside + start;
  } else {
    free(added);
  }
  pthread_mutex_unlock(&lock);
  return fits ? OF_OK : host->fail(OF_OUT_OF_MEMORY, "the device has no room");
}

void deallocate(of_device id, void* memory, uint64_t bytes) {
  accelerator* device = &devices[id.index];
  (void)bytes;
  pthread_mutex_lock(&lock);
  wait_for_work(device);
  block** place = &device->blocks;
  while (device->outside + (*place)->start != (char*)memory) place = &(*place)->next;
  block* gone = *place;
  *place = gone->next;
  device->settings[USED_MEMORY] -= (int64_t)gone->bytes;
  pthread_mutex_unlock(&lock);
  free(gone);
}

/* A real device would lock the pages. */
of_status allocate_host(of_device id, uint64_t bytes, void** memory) {
  accelerator* device = &devices[id.index];
  if (take_fault(device, FAIL_HOST_ALLOCATIONS) || posix_memalign(memory, ALIGNMENT, bytes) != 0)
    return host->fail(OF_OUT_OF_MEMORY, "no memory can be locked");
  count(device, USED_HOST_MEMORY, (int64_t)bytes);
  return OF_OK;
}

void free_host(of_device id, void* memory, uint64_t bytes) {
  count(&devices[id.index], USED_HOST_MEMORY, -(int64_t)bytes);
  free(memory);
}

static void run_copy(task* now) { memcpy(reach(now->to), reach(now->from), now->bytes); }

of_status copy(of_device id, void* to, const void* from, uint64_t bytes, of_stream stream) {
  accelerator* device = &devices[id.index];
  if (take_fault(device, FAIL_COPIES)) return host->fail(OF_DEVICE_ERROR, "the copy was told to fail");
  if (take_fault(device, FAIL_SILENTLY)) return (of_status)4711;
  return submit(stream, (task){.run = run_copy, .to = to, .from = from, .bytes = bytes});
}

of_status copy_peer(of_device to_id, void* to, of_device from_id, const void* from, uint64_t bytes, of_stream stream) {
  (void)from_id;
  count(&devices[to_id.index], PEER_COPIES, 1);
  return copy(to_id, to, from, bytes, stream);
}

static void run_fill(task* now) { memset(reach(now->to), now->value, now->bytes); }

of_status fill(of_device id, void* to, uint8_t value, uint64_t bytes, of_stream stream) {
  (void)id;
  return submit(stream, (task){.run = run_fill, .to = to, .value = value, .bytes = bytes});
}
