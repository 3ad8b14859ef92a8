/* The plugin far.c with one thing in its table that is not true, as FAULT says; see the tests of plugin loading. */
#define oneflow_device_plugin truthful_plugin
#include "far.c"
#undef oneflow_device_plugin
#include <stdlib.h>

#define NEGATIVE_COUNT 1
#define ABSURD_COUNT 2
#define HALF_A_STREAM 3
#define CRASHES_ON_INFO 4
#define ENDLESS_NAME 5
#define NO_MEMORY_BEHIND 6
#define NO_REASON 7

static int32_t false_count(void) { return FAULT == NEGATIVE_COUNT ? -1 : 1 << 20; }

static of_status create_stream(of_device device, of_stream* stream) {
  (void)device;
  *stream = NULL;
  return OF_OK;
}

static of_status crash(of_device device, of_device_info* info) {
  (void)device;
  (void)info;
  abort();
}

static of_status long_name(of_device device, of_device_info* info) {
  (void)device;
  memset(info, 'x', sizeof(*info));
  return OF_OK;
}

static of_status allocate_nothing(of_device device, uint64_t bytes, void** memory) {
  (void)device;
  (void)bytes;
  *memory = NULL;
  return OF_OK;
}

static of_status fail_silently(of_device device, void* destination, const void* source, uint64_t bytes,
                               of_stream stream) {
  (void)device;
  (void)destination;
  (void)source;
  (void)bytes;
  (void)stream;
  return (of_status)4711;
}

__attribute__((visibility("default"))) const of_device_table* oneflow_device_plugin(const of_host_table* given) {
  static of_device_table table;
  table = *truthful_plugin(given);
  table.name = NAME;
  if (FAULT == NEGATIVE_COUNT || FAULT == ABSURD_COUNT) table.count = false_count;
  if (FAULT == HALF_A_STREAM) table.create_stream = create_stream;
  if (FAULT == CRASHES_ON_INFO) table.get_info = crash;
  if (FAULT == ENDLESS_NAME) table.get_info = long_name;
  if (FAULT == NO_MEMORY_BEHIND) table.allocate = allocate_nothing;
  if (FAULT == NO_REASON) table.copy_from_host = fail_silently;
  return &table;
}
