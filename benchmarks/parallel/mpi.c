/* Collectives of an MPI, for measure.c. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

static enum collective collective;
static int ranks_, elements;
static float *input, *output;

void join(int* count, char*** values, int* rank, int* ranks) {
  MPI_Init(count, values);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, ranks);
  ranks_ = *ranks;
}

void prepare(enum collective which, size_t bytes) {
  collective = which;
  elements = (int)(bytes / sizeof(float));
  free(input);
  free(output);
  input = malloc(bytes);
  output = malloc(bytes);
  memset(input, 0, bytes);
  memset(output, 0, bytes);
}

void run(void) {
  if (collective == ALL_REDUCE)
    MPI_Allreduce(input, output, elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  else if (collective == ALL_GATHER)
    MPI_Allgather(input, elements / ranks_, MPI_FLOAT, output, elements / ranks_, MPI_FLOAT, MPI_COMM_WORLD);
  else
    MPI_Reduce_scatter_block(input, output, elements / ranks_, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

void leave(void) { MPI_Finalize(); }
