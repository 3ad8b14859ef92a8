/* Jobs of several processes: joining one, groups of ranks, and collectives that run meanwhile. The collectives
 * themselves are operators: "comm.all_reduce". */
#ifndef ONEFLOW_PROCESSES_H_
#define ONEFLOW_PROCESSES_H_

#include <oneflow/oneflow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- jobs */

/* How a process takes part in a job. Fields that are NULL or, for numbers, negative are what the environment says: the
 * variables of oneflow-run, torchrun, mpirun or srun. */
typedef struct of_job_options {
  uint32_t struct_size;
  int64_t rank, world_size;
  const char* meeting; /* where the processes find each other: "file:/an/empty/folder", "tcp://host:port" of rank 0 */
  const char* secret;  /* what only the processes of the job know */
  const char* listen;  /* the address of this host on which the others reach it; by default, only this host does */
  const char* communicator; /* what carries bytes: "commnet", "openmpi", "mpich", or the path of a library */
  double timeout;           /* for how many seconds a rank waits for others before it fails; 0: 600 */
} of_job_options;

/* Joins a job, and returns once all ranks have. Functions that need a job join that of the environment; without one,
 * the process is a job of one rank. */
OF_API of_status of_job_join(const of_job_options* options);
/* Leaves the job, if there is one. Collectives that are under way fail. */
OF_API of_status of_job_leave(void);
/* Returns whether the process has joined a job. */
OF_API bool of_job_is_joined(void);
/* Gets the name of what carries bytes; "" in a job of one rank. */
OF_API of_status of_job_communicator(const char** name);
/* Get the number of this process among those of its host, and how many they are. */
OF_API of_status of_job_local_rank(int64_t* rank);
OF_API of_status of_job_local_size(int64_t* size);

/* ---------------------------------------------------------------- groups */

/* An ordered set of ranks. Groups of the same ranks are the same handle, which is valid for ever. */
typedef struct of_group_object* of_group;

/* Gets the group of some ranks, or the group that a text names: "0-3,8". */
OF_API of_status of_group_create(const int64_t* ranks, size_t count, of_group* result);
OF_API of_status of_group_parse(const char* text, of_group* result);
/* Gets the group of all ranks of the job. */
OF_API of_status of_group_world(of_group* result);
/* They do nothing: groups live for ever. */
OF_API of_group of_group_retain(of_group group);
OF_API void of_group_release(of_group group);
/* Returns the canonical text, which names the group in calls of operators. */
OF_API const char* of_group_text(of_group group);
/* Gets the number of ranks. NULL stands for all ranks of the job, as in the functions below. */
OF_API of_status of_group_size(of_group group, int64_t* size);
/* Gets the rank at a position. */
OF_API of_status of_group_rank_at(of_group group, int64_t position, int64_t* rank);
/* Gets the position of this process; -1 if it is not a member. */
OF_API of_status of_group_position(of_group group, int64_t* position);
/* Waits until all members call it. */
OF_API of_status of_group_barrier(of_group group);
/* Gets the group of those members that give the same color, in the order of their keys, and of their positions where
 * keys are the same. All members must call it. NULL for a negative color. */
OF_API of_status of_group_split(of_group group, int64_t color, int64_t key, of_group* result);

/* ---------------------------------------------------------------- collectives that run meanwhile */

/* A handle to a collective between processes that has begun, with its arguments. */
typedef struct of_started_call_object* of_started_call;

/* Begins a call of a collective between processes, with arguments as those of of_call(). The caller releases the
 * handle. */
OF_API of_status of_call_start(of_op op, const of_value* args, size_t arg_count, of_started_call* call);
/* Waits for a call that has begun, and gets its result as of_call() would give it; a reference, which the caller
 * releases. After OF_INTERRUPTED it can be called again, as after success. */
OF_API of_status of_call_finish(of_started_call call, of_tensor* result);
/* Returns whether a call is done, so that of_call_finish() does not wait. */
OF_API bool of_started_call_is_done(of_started_call call);
/* Calls a function once the call is done: at once, or later on a thread of the library. */
OF_API of_status of_started_call_on_done(of_started_call call, void (*function)(void* context), void* context);
/* Adds a reference, and returns the handle. NULL is allowed. */
OF_API of_started_call of_started_call_retain(of_started_call call);
/* Releases a handle; the call goes on. NULL is allowed. */
OF_API void of_started_call_release(of_started_call call);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_PROCESSES_H_ */
