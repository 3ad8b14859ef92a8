/* A rank of a short job, which checks the results of a few collectives. With the arguments FAULT RANK WHEN, a rank ends
 * early: "killed" after WHEN microseconds, wherever it is; "fails" or "leaves" after WHEN collectives, with the status
 * 3 or 0. The others then end with the status 4, unless they are done. */
#include <oneflow/operators.h>
#include <oneflow/processes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROUNDS = 6, SMALL = 3, LARGE = 100000, FAILS = 3, TOLD = 4, WRONG = 5 };

static void check(of_status status) {
  if (status == OF_OK) return;
  fprintf(stderr, "%s: %s\n", of_status_name(status), of_last_error());
  exit(status == OF_COMMUNICATION_ERROR ? TOLD : WRONG);
}

static void check_sum(int64_t rank, int64_t size, int64_t count) {
  float* const values = malloc((size_t)count * sizeof(float));
  for (int64_t i = 0; i < count; ++i) values[i] = (float)rank + 1;
  const of_tensor_source source = {.struct_size = sizeof source,
                                   .dtype = OF_FLOAT32,
                                   .device = of_default_device(),
                                   .rank = 1,
                                   .sizes = &count,
                                   .data = values,
                                   .bytes = (uint64_t)count * sizeof(float)};
  of_tensor input = NULL, sum = NULL;
  check(of_tensor_create(&source, &input));
  check(of_comm_all_reduce(input, "sum", NULL, &sum));
  check(of_tensor_read(sum, values, (uint64_t)count * sizeof(float)));
  for (int64_t i = 0; i < count; ++i)
    if (values[i] != (float)(size * (size + 1) / 2)) exit(WRONG);
  free(values);
  of_tensor_release(input);
  of_tensor_release(sum);
}

static void end(int number) {
  (void)number;
  kill(getpid(), SIGKILL);
}

int main(int argc, char** argv) {
  const char* const fault = argc > 3 && !strcmp(argv[2], getenv("ONEFLOW_RANK")) ? argv[1] : "";
  const int when = argc > 3 ? atoi(argv[3]) : 0;
  if (!strcmp(fault, "killed")) {
    signal(SIGALRM, end);
    const struct itimerval timer = {.it_value = {.tv_sec = 0, .tv_usec = when}};
    setitimer(ITIMER_REAL, &timer, NULL);
  }
  int64_t rank = 0, size = 0;
  check(of_group_position(NULL, &rank));
  check(of_group_size(NULL, &size));
  for (int round = 0; round < ROUNDS; ++round) {
    check_sum(rank, size, round % 2 ? LARGE : SMALL);
    check(of_group_barrier(NULL));
    if (round == when && !strcmp(fault, "fails")) exit(FAILS);
    if (round == when && !strcmp(fault, "leaves")) exit(0);
  }
  return 0;
}
