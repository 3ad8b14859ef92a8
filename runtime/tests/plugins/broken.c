/* A plugin that is wrong in the way that FAULT says; see the tests of plugin loading. */
#include <oneflow/device_plugin.h>
#include <stdlib.h>
#include <unistd.h>

#define NO_SYMBOL 1
#define NEWER_VERSION 2
#define SHORT_TABLE 3
#define MISSING_HOOK 4
#define BAD_NAME 5
#define REFUSES 6
#define CRASHES 7
#define EXITS 8

#if FAULT == NO_SYMBOL
int unrelated_symbol;
#else
__attribute__((visibility("default"))) const of_device_table* oneflow_device_plugin(const of_host_table* host) {
  static of_device_table table;
  table.struct_size = FAULT == SHORT_TABLE ? 16 : sizeof(table);
  table.api_version = FAULT == NEWER_VERSION ? OF_DEVICE_API_VERSION + 1 : OF_DEVICE_API_VERSION;
  table.name = FAULT == BAD_NAME ? "Bad Name" : "broken";
  if (FAULT == REFUSES) {
    host->fail(OF_DEVICE_ERROR, "the driver is too old");
    return NULL;
  }
  if (FAULT == CRASHES) abort();
  if (FAULT == EXITS) _exit(0);
  return &table; /* MISSING_HOOK: all of them */
}
#endif
