/* A device plugin with only the required hooks: memory that the host cannot access, and no kernels, so that all
 * operators run on the CPU. An address of the device is the real address with bits set that make it non-canonical:
 * dereferencing it ends the process. */
#include <oneflow/device_plugin.h>
#include <string.h>
#include <sys/mman.h>

#define FAR_MARK ((uintptr_t)0x5a00000000000000)

static const of_host_table* host;

/* Returns the real address for an address of the device. */
static void* near(const void* memory) { return (void*)((uintptr_t)memory & ~FAR_MARK); }

static int32_t far_count(void) { return 2; }

static of_status far_get_info(of_device device, of_device_info* info) {
  strcpy(info->name, device.index == 0 ? "Far device A" : "Far device B");
  info->total_memory = (uint64_t)1 << 30;
  info->free_memory = (uint64_t)1 << 30;
  info->compute_units = 1;
  return OF_OK;
}

static of_status far_allocate(of_device device, uint64_t bytes, void** memory) {
  void* block = MAP_FAILED;
  (void)device;
  if (bytes <= (uint64_t)1 << 30) block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return host->fail(OF_OUT_OF_MEMORY, "far: no memory");
  *memory = (void*)((uintptr_t)block | FAR_MARK);
  return OF_OK;
}

static void far_deallocate(of_device device, void* memory, uint64_t bytes) {
  (void)device;
  munmap(near(memory), bytes);
}

static of_status far_copy_from_host(of_device device, void* destination, const void* source, uint64_t bytes,
                                    of_device_stream stream) {
  (void)device;
  (void)stream;
  memcpy(near(destination), source, bytes);
  return OF_OK;
}

static of_status far_copy_to_host(of_device device, void* destination, const void* source, uint64_t bytes,
                                  of_device_stream stream) {
  (void)device;
  (void)stream;
  memcpy(destination, near(source), bytes);
  return OF_OK;
}

static of_status far_copy_within(of_device device, void* destination, const void* source, uint64_t bytes,
                                 of_device_stream stream) {
  (void)device;
  (void)stream;
  memcpy(near(destination), near(source), bytes);
  return OF_OK;
}

static of_status far_fill(of_device device, void* destination, uint8_t value, uint64_t bytes, of_device_stream stream) {
  (void)device;
  (void)stream;
  memset(near(destination), value, bytes);
  return OF_OK;
}

__attribute__((visibility("default"))) const of_device_table* oneflow_device_plugin(const of_host_table* given) {
  static of_device_table table;
  host = given;
  table.struct_size = sizeof(table);
  table.api_version = OF_DEVICE_API_VERSION;
  table.name = "far";
  table.count = far_count;
  table.get_info = far_get_info;
  table.allocate = far_allocate;
  table.deallocate = far_deallocate;
  table.copy_from_host = far_copy_from_host;
  table.copy_to_host = far_copy_to_host;
  table.copy_within = far_copy_within;
  table.fill = far_fill;
  return &table;
}
