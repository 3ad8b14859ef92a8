/* The table. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accelerator.h"

const of_host_table* host;
accelerator devices[DEVICES];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const char* fault = "";

static int32_t device_count(void) {
  if (strcmp(fault, "negative_count") == 0) return -1;
  if (strcmp(fault, "absurd_count") == 0) return 1 << 20;
  if (strcmp(fault, "no_devices") != 0) return DEVICES;
  host->fail(OF_DEVICE_ERROR, "no accelerator was found; plug one in");
  return 0;
}

static of_status get_info(of_device id, of_device_info* info) {
  accelerator* device = &devices[id.index];
  if (strcmp(fault, "crashes_on_info") == 0) abort();
  if (take_fault(device, FAIL_INFO)) return host->fail(OF_DEVICE_ERROR, "the device does not answer");
  memset(info, 0, sizeof(*info));
  if (take_fault(device, ENDLESS_NAME))
    memset(info->name, 'x', sizeof(info->name));
  else
    snprintf(info->name, sizeof(info->name), "Test accelerator %d", id.index);
  pthread_mutex_lock(&lock);
  info->total_memory = (uint64_t)device->settings[CAPACITY];
  info->free_memory = info->total_memory - (uint64_t)device->settings[USED_MEMORY];
  pthread_mutex_unlock(&lock);
  info->compute_units = 1;
  return OF_OK;
}

__attribute__((visibility("default"))) const of_device_table* oneflow_device_plugin(const of_host_table* given) {
  static of_device_table table;
  host = given;
  fault = getenv("ACCEL_FAULT") ? getenv("ACCEL_FAULT") : "";
  if (strcmp(fault, "crashes") == 0) abort();
  if (strcmp(fault, "exits") == 0) _exit(0);
  if (strcmp(fault, "refuses") == 0) return host->fail(OF_DEVICE_ERROR, "the driver is too old"), NULL;
  for (int i = 0; i < DEVICES; ++i) {
    if (!map_memory(&devices[i])) return host->fail(OF_DEVICE_ERROR, "no memory could be mapped"), NULL;
    if (devices[i].settings[CAPACITY] == 0) devices[i].settings[CAPACITY] = (int64_t)MOST_MEMORY;
  }

  table = (of_device_table){
      .struct_size = strcmp(fault, "short_table") == 0 ? 16 : sizeof(table),
      .api_version = OF_DEVICE_API_VERSION + (strcmp(fault, "newer_version") == 0),
      .name = strcmp(fault, "bad_name") == 0 ? "Bad Name" : "accel",
      .count = strcmp(fault, "missing_hook") == 0 ? NULL : device_count,
      .get_info = get_info,
      .allocate = allocate,
      .deallocate = deallocate,
      .copy_from_host = copy,
      .copy_to_host = copy,
      .copy_within = copy,
      .fill = fill,
      .create_stream = create_stream,
      .synchronize = strcmp(fault, "half_a_stream") == 0 ? NULL : synchronize,
      .create_event = create_event,
      .destroy_event = destroy_event,
      .record_event = record_event,
      .wait_event = wait_event,
      .copy_peer = copy_peer,
      .allocate_host = allocate_host,
      .free_host = free_host,
      .find_kernel = find_kernel,
      .set_option = set_option,
      .get_option = get_option,
  };
  return &table;
}
