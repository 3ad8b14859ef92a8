/* Queries a device plugin for the kernels given as lines "name hash compute" on standard input, and prints those that
 * it lacks. */
#include <dlfcn.h>
#include <inttypes.h>
#include <oneflow/device_plugin.h>
#include <stdio.h>

static of_status fail(of_status status, const char* text) {
  (void)text;
  return status;
}

/* Returns whether the first device of a plugin has a kernel. */
static bool has_kernel(const of_device_table* table, const char* name, uint64_t hash, int compute) {
  of_kernel_entry entry = {.struct_size = sizeof(entry)};
  const of_device first = {0, 0};
  return table->find_kernel(first, name, hash, (of_dtype)compute, &entry) == OF_OK && entry.function != NULL;
}

int main(int count, char** arguments) {
  static const of_host_table host = {.struct_size = sizeof(host), .api_version = OF_DEVICE_API_VERSION, .fail = fail};
  void* library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  union {
    void* symbol;
    of_device_plugin_function function;
  } entry = {dlsym(library, "oneflow_device_plugin")};
  const of_device_table* table = entry.symbol != NULL ? entry.function(&host) : NULL;
  if (table == NULL || table->find_kernel == NULL || table->contract == NULL) {
    fprintf(stderr, "%s has no kernels or no contractions\n", arguments[1]);
    return 1;
  }
  char name[128];
  uint64_t hash;
  int compute;
  int queried = 0;
  while (scanf("%127s %" SCNu64 " %d", name, &hash, &compute) == 3) {
    ++queried;
    if (!has_kernel(table, name, hash, compute)) printf("lacks %s %d\n", name, compute);
    if (has_kernel(table, name, hash + 1, compute)) printf("takes another schema of %s\n", name);
  }
  if (has_kernel(table, "no_such_operator", 0, OF_FLOAT32)) printf("has no_such_operator\n");
  printf("queried %d\n", queried);
  return 0;
}
