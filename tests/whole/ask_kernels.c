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
    if (table->find_kernel(name, hash, (of_dtype)compute) == NULL) printf("lacks %s %d\n", name, compute);
    if (table->find_kernel(name, hash + 1, (of_dtype)compute) != NULL) printf("takes another schema of %s\n", name);
  }
  if (table->find_kernel("no_such_operator", 0, OF_FLOAT32) != NULL) printf("has no_such_operator\n");
  printf("queried %d\n", queried);
  return 0;
}
