/* Profiles: what calls of operators take, in time and memory, while a profile runs.
 *
 *     of_profile profile;
 *     of_profile_begin(&profile);
 *     ...                                  calls of operators, on any threads
 *     of_profile_end(profile);
 *     char* table;
 *     of_profile_table(profile, &table);   readable, one line per operator; free it with of_free()
 *     of_profile_release(profile);
 *
 * One profile of the process runs at a time. It sees the calls of all threads, including those that operators make
 * within their bodies, but not calls of of_infer(). A child process goes on with its copy of the profile. */
#ifndef ONEFLOW_PROFILE_H_
#define ONEFLOW_PROFILE_H_

#include <oneflow/oneflow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A profile. Opaque. */
typedef struct of_profile_object* of_profile;

/* Begins a profile, which of_profile_release() frees. Fails with OF_INVALID_ARGUMENT if one is running. */
OF_API of_status of_profile_begin(of_profile* profile);
/* Ends a profile, once the calls that run on other threads have returned and the devices have done their work. Reports
 * the first error of that work, like of_synchronize(); the profile has ended nevertheless. Fails if the profile is not
 * running, or within a call that it sees. */
OF_API of_status of_profile_end(of_profile profile);
/* Frees a profile, which is ended if it is running. NULL is allowed. */
OF_API void of_profile_release(of_profile profile);

/* A tensor of a call. */
typedef struct of_profile_tensor {
  of_dtype dtype;
  of_shape shape;
} of_profile_tensor;

/* A call of an operator. All times are in nanoseconds. */
typedef struct of_profile_entry {
  uint32_t struct_size;
  int32_t thread;      /* the number of its thread, in the order of their first calls */
  of_op op;            /* the operator */
  const char* name;    /* its name, with the overload: "max.dim" */
  const char* caller;  /* the operator that the user called, whose body may have made the call */
  of_device device;    /* the device that the call ran on */
  int64_t parent;      /* the position of the call whose body made this call; -1: the user made it */
  int64_t start;       /* since the profile began */
  int64_t host_time;   /* from the beginning of the call until it returned */
  int64_t self_time;   /* the part of it outside of the calls that it made */
  int64_t device_time; /* from the beginning to the end of its work on an asynchronous device; -1: not known */
  uint64_t memory;     /* bytes of memory that it allocated for tensors, in all */
  double operations;   /* of a contraction: 2 for each combination of indices of all labels; 0 for other operators */
  uint64_t bytes;      /* of the operands and results; 0 for views */
  const of_profile_tensor* operands;
  size_t operand_count;
  const of_profile_tensor* results;
  size_t result_count;
  bool failed; /* whether the call failed */
} of_profile_entry;

/* Returns the number of calls in a profile that has ended, else 0. */
OF_API size_t of_profile_count(of_profile profile);
/* Gets a call of a profile that has ended: thread by thread, in the order of their beginnings. What it points to is
 * valid until the profile is released. */
OF_API of_status of_profile_at(of_profile profile, size_t position, of_profile_entry* entry);

/* Makes a table with a line per operator, the one with the longest total time first: its total time, its time outside
 * of other operators, the number of calls, the mean time, and the rate of its work: GFLOP/s of contractions, GB/s of
 * others. Free the text with of_free(). Fails if the profile is running. */
OF_API of_status of_profile_table(of_profile profile, char** text);
/* Makes a trace in the JSON format of Chrome, which Perfetto opens. Free the text with of_free(). Fails if the profile
 * is running. */
OF_API of_status of_profile_trace(of_profile profile, char** text);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_PROFILE_H_ */
