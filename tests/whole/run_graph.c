/* Runs a graph of one float32 input, and prints the exact elements of its first output: run_graph MODEL SIZE... */
#include <oneflow/session.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void check(of_status status) {
  if (status == OF_OK) return;
  fprintf(stderr, "%s: %s\n", of_status_name(status), of_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  enum { MOST = 8 };
  int64_t sizes[MOST], count = 1;
  if (argc < 2 || argc > MOST + 2) return 2;
  for (int i = 2; i < argc; ++i) count *= sizes[i - 2] = atoll(argv[i]);
  float* elements = malloc(sizeof(float) * (size_t)count);
  if (!elements) return 1;
  uint32_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    elements[i] = (float)(state >> 8) / (float)(1 << 24) - 0.5f;
  }

  of_session session = NULL;
  check(of_session_open(argv[1], NULL, &session));
  of_tensor_source source = {.struct_size = sizeof source,
                             .dtype = OF_FLOAT32,
                             .rank = argc - 2,
                             .sizes = sizes,
                             .data = elements,
                             .bytes = (uint64_t)count * sizeof(float)};
  of_tensor input = NULL;
  check(of_tensor_create(&source, &input));
  of_value output = {0};
  check(of_session_run(session, &input, 1, &output, 1, NULL));
  count = of_tensor_count(output.as.tensor);
  float* results = malloc(sizeof(float) * (size_t)count);
  if (!results) return 1;
  check(of_tensor_read(output.as.tensor, results, sizeof(float) * (uint64_t)count));
  for (int64_t i = 0; i < count; ++i) printf("%a\n", (double)results[i]);

  free(results);
  free(elements);
  of_value_release(&output);
  of_tensor_release(input);
  of_session_release(session);
  return 0;
}
