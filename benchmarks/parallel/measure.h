/* What a library under measurement provides to measure.c: oneflow.c, mpi.c. */
#ifndef BENCHMARKS_PARALLEL_MEASURE_H_
#define BENCHMARKS_PARALLEL_MEASURE_H_

#include <stddef.h>

enum collective { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, COLLECTIVES };

/* Joins the job; sets the number of this process, and how many there are. */
void join(int* count, char*** values, int* rank, int* ranks);
/* Allocates tensors of floats for a collective, whose larger side has a number of bytes. */
void prepare(enum collective which, size_t bytes);
/* Runs it once, to the end. */
void run(void);
void barrier(void);
void leave(void);

#endif
