/* Collectives of oneflow, for measure.c. */
#include <oneflow/processes.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"

static const char* const names[COLLECTIVES] = {"comm.all_reduce", "comm.all_gather", "comm.reduce_scatter"};

static int64_t ranks_;
static of_op called;
static of_tensor input;

static void check(of_status status) {
  if (status == OF_OK) return;
  fprintf(stderr, "%s: %s\n", of_status_name(status), of_last_error());
  exit(1);
}

void join(int* count, char*** values, int* rank, int* ranks) {
  (void)count, (void)values;
  int64_t position;
  check(of_group_position(NULL, &position));
  check(of_group_size(NULL, &ranks_));
  *rank = (int)position;
  *ranks = (int)ranks_;
}

void prepare(enum collective which, size_t bytes) {
  called = of_op_find(names[which]);
  of_tensor_release(input);
  void* const zeros = calloc(1, bytes);
  const int64_t elements = (int64_t)(bytes / sizeof(float)),
                sizes[] = {which == ALL_GATHER ? elements / ranks_ : elements};
  const of_tensor_source source = {.struct_size = sizeof source,
                                   .dtype = OF_FLOAT32,
                                   .device = of_default_device(),
                                   .rank = 1,
                                   .sizes = sizes,
                                   .data = zeros,
                                   .bytes = (size_t)sizes[0] * sizeof(float)};
  check(of_tensor_create(&source, &input));
  free(zeros);
}

void run(void) {
  const of_value argument = {.kind = OF_VALUE_TENSOR, .as.tensor = input};
  of_value result = {0};
  check(of_call(called, &argument, 1, &result, 1));
  of_tensor_release(result.as.tensor);
}

void barrier(void) { check(of_group_barrier(NULL)); }

void leave(void) { check(of_job_leave()); }
