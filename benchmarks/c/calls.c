/* Measures the cost of einsum for two 2 x 2 matrices from C, including the allocation and release of the result. The
 * peer is malloc, three loops and free. Both run once in each round; the median is reported. bench_calls.sh compiles
 * and runs this program. */
#include <oneflow/operators.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15, CALLS = 200000 };

static const float values[4] = {1, 2, 3, 4};

static void check(of_status status) {
  if (status == OF_OK) return;
  fprintf(stderr, "%s: %s\n", of_status_name(status), of_last_error());
  exit(1);
}

static double nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static of_tensor matrix(void) {
  const int64_t sizes[2] = {2, 2};
  const of_tensor_source source = {.struct_size = sizeof source,
                                   .dtype = OF_FLOAT32,
                                   .device = of_default_device(),
                                   .rank = 2,
                                   .sizes = sizes,
                                   .data = (void*)values,
                                   .bytes = sizeof values};
  of_tensor result = NULL;
  check(of_tensor_create(&source, &result));
  return result;
}

static void ours(const of_tensor operands[2]) {
  of_tensor result = NULL;
  check(of_einsum("ij,jk->ik", operands, 2, "auto", NULL, &result));
  of_tensor_release(result);
}

static void loops(const volatile float* a, const volatile float* b) {
  volatile float* c = malloc(4 * sizeof *c);
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k) {
      float sum = 0;
      for (int j = 0; j < 2; ++j) sum += a[2 * i + j] * b[2 * j + k];
      c[2 * i + k] = sum;
    }
  free((void*)c);
}

static int compare(const void* a, const void* b) {
  const double left = *(const double*)a, right = *(const double*)b;
  return (left > right) - (left < right);
}

int main(void) {
  const of_tensor operands[2] = {matrix(), matrix()};
  double times[2][ROUNDS];
  for (int round = 0; round < ROUNDS; ++round) {
    const double start = nanoseconds();
    for (int i = 0; i < CALLS; ++i) ours(operands);
    const double middle = nanoseconds();
    for (int i = 0; i < CALLS; ++i) loops(values, values);
    times[0][round] = (middle - start) / CALLS;
    times[1][round] = (nanoseconds() - middle) / CALLS;
  }
  for (int i = 0; i < 2; ++i) qsort(times[i], ROUNDS, sizeof(double), compare);
  printf(
      "{\"what\": \"C einsum ij,jk->ik, 2 x 2\", \"unit\": \"ns\", \"ours\": %.1f, \"peers\": {\"malloc, loops, "
      "free\": %.1f}, "
      "\"references\": {\"target\": 150}, \"bounds\": [{\"peer\": \"target\", \"at_most\": 1}]}\n",
      times[0][ROUNDS / 2], times[1][ROUNDS / 2]);
  for (int i = 0; i < 2; ++i) of_tensor_release(operands[i]);
  return 0;
}
