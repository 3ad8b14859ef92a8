/* Measures collectives between processes: measure.c with the file of one library.
 *
 * Arguments: pairs of a collective and the bytes of its larger side, such as "all_reduce:1048576". Rank 0 prints a JSON
 * object: the microseconds of each, of the best of several batches of calls. */
#define _GNU_SOURCE
#include "measure.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char* const names[COLLECTIVES] = {"all_reduce", "all_gather", "reduce_scatter"};

/* A batch moves about so many bytes, in at most so many calls, and all batches about so many. */
enum { BATCH_BYTES = 4 << 20, ALL_BYTES = 128 << 20, MOST_CALLS = 100, FEWEST_BATCHES = 3, MOST_BATCHES = 15 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static size_t within(size_t value, size_t least, size_t most) {
  return value < least ? least : value > most ? most : value;
}

static double best_seconds(size_t bytes) {
  const size_t calls = within(BATCH_BYTES / bytes, 1, MOST_CALLS);
  const int batches = (int)within(ALL_BYTES / bytes, FEWEST_BATCHES, MOST_BATCHES);
  double best = 1e9;
  for (int i = 0; i <= batches; ++i) {
    barrier();
    const double start = now();
    for (size_t k = 0; k < calls; ++k) run();
    const double seconds = (now() - start) / (double)calls;
    if (i > 0 && seconds < best) best = seconds; /* the first batch touches the memory */
  }
  return best;
}

/* Keeps this process on one of the processors that it may use: ranks share them evenly. */
static void pin(int rank) {
  cpu_set_t allowed, own;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int skipped = rank % CPU_COUNT(&allowed), cpu = 0;
  while (!CPU_ISSET(cpu, &allowed) || skipped-- > 0) ++cpu;
  CPU_ZERO(&own);
  CPU_SET(cpu, &own);
  sched_setaffinity(0, sizeof own, &own);
}

int main(int count, char** values) {
  int rank = 0, ranks = 0;
  join(&count, &values, &rank, &ranks);
  pin(rank);
  for (int i = 1; i < count; ++i) {
    const char* const colon = strchr(values[i], ':');
    int which = 0;
    while (which < COLLECTIVES && strncmp(values[i], names[which], (size_t)(colon - values[i])) != 0) ++which;
    const size_t bytes = strtoull(colon + 1, NULL, 10);
    prepare((enum collective)which, bytes);
    const double seconds = best_seconds(bytes);
    if (rank == 0) printf("%s\"%s\": %.3f", i == 1 ? "{" : ", ", values[i], seconds * 1e6);
  }
  if (rank == 0) printf("}\n");
  leave();
  return 0;
}
