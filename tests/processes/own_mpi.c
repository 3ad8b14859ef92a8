/* A program that uses MPI itself, beside collectives of oneflow: with the level of threads that it is given, and
 * without leaving the job before MPI is finalized. */
#include <mpi.h>
#include <oneflow/operators.h>
#include <oneflow/processes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(of_status status) {
  if (status == OF_OK) return;
  fprintf(stderr, "%s: %s\n", of_status_name(status), of_last_error());
  exit(1);
}

static of_status sum_of_ranks(int rank, float* sum) {
  enum { COUNT = 100000 };
  float* const values = malloc(COUNT * sizeof(float));
  for (int i = 0; i < COUNT; ++i) values[i] = (float)rank + 1;
  const int64_t sizes[] = {COUNT};
  const of_tensor_source source = {.struct_size = sizeof source,
                                   .dtype = OF_FLOAT32,
                                   .device = of_default_device(),
                                   .rank = 1,
                                   .sizes = sizes,
                                   .data = values,
                                   .bytes = COUNT * sizeof(float)};
  of_tensor input = NULL, result = NULL;
  of_status status = of_tensor_create(&source, &input);
  if (status == OF_OK) status = of_comm_all_reduce(input, "sum", NULL, &result);
  if (status == OF_OK) status = of_tensor_read(result, values, COUNT * sizeof(float));
  *sum = values[COUNT - 1];
  free(values);
  of_tensor_release(input);
  of_tensor_release(result);
  return status;
}

/* Calls a collective on another thread. */
static void* call_elsewhere(void* given) {
  float sum = 0;
  const of_status status = sum_of_ranks(*(int*)given, &sum);
  if (status == OF_OK) {
    printf("elsewhere %g\n", (double)sum);
  } else {
    printf("elsewhere %s\n", of_last_error());
  }
  return NULL;
}

int main(int argc, char** argv) {
  const char* const level = argc > 1 ? argv[1] : "";
  const int wanted = !strcmp(level, "single")     ? MPI_THREAD_SINGLE
                     : !strcmp(level, "funneled") ? MPI_THREAD_FUNNELED
                                                  : MPI_THREAD_MULTIPLE;
  int provided = 0, rank = 0, size = 0;
  MPI_Init_thread(NULL, NULL, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < 2; ++round) {
    int own = rank, highest = 0;
    float sum = 0;
    MPI_Allreduce(&own, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check(sum_of_ranks(rank, &sum));
    const char* name = NULL;
    check(of_job_communicator(&name));
    printf("%s %d of %d: %g\n", name, highest, size, (double)sum);
    if (round == 0) check(of_job_leave());
    if (round == 0) {
      const of_job_options options = {.struct_size = sizeof options, .rank = -1, .world_size = -1};
      check(of_job_join(&options));
    }
  }
  pthread_t thread;
  pthread_create(&thread, NULL, call_elsewhere, &rank);
  pthread_join(thread, NULL);
  MPI_Finalize();
  float sum = 0;
  if (sum_of_ranks(rank, &sum) != OF_OK) printf("finalized %s\n", of_last_error());
  return 0;
}
