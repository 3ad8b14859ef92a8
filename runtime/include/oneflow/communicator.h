/* The interface between the runtime and a communicator: what carries bytes between the processes of a job.
 *
 * A communicator is a shared library that includes only this header and exports one function:
 *
 *     const of_communicator_table* oneflow_communicator(void);
 *
 * The result lives as long as the process. The runtime writes all algorithms over the few functions of the table, so
 * that results do not depend on the communicator.
 *
 * Rules:
 *  - Threads: one thread at a time calls the functions of an open communicator; it is not always the same one, unless
 *    `is_bound_to_thread` is set.
 *  - None of the functions but open() and close() waits for another process.
 *  - Errors: a function that fails passes the text to `fail` of the options, and returns a status other than OF_OK.
 *  - Ranks are numbers from 0 below the size of the job. No function is called for the own rank.
 */
#ifndef ONEFLOW_COMMUNICATOR_H_
#define ONEFLOW_COMMUNICATOR_H_

#include <oneflow/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. */
#define OF_COMMUNICATOR_VERSION 1

enum { OF_COMMUNICATOR_KEY_SIZE = 64 };
/* What names an offer to the rank that may fetch it. It is sent in a message. */
typedef struct of_communicator_key {
  uint8_t bytes[OF_COMMUNICATOR_KEY_SIZE];
} of_communicator_key;

/* How a job is joined, and what the runtime is told. The functions are called within functions of the communicator;
 * they may call post(), offer(), fetch() and withdraw(). */
typedef struct of_communicator_options {
  uint32_t struct_size;
  uint32_t rank, size; /* of this process, and of the job */
  const char* meeting; /* where the processes find each other, for those that need to be told; "": nowhere */
  const char* secret;  /* what only the processes of the job know; "": nothing */
  const char* listen;  /* the address of this host on which others reach it; "": only this host does */
  uint32_t timeout_ms; /* how long open() waits for others; one that is silent for so long is lost */
  void* context;       /* of the functions below */
  /* Sets the text of a failure, and returns `status`. */
  of_status (*fail)(of_status status, const char* text);
  /* A message has come. Its bytes are valid during the call. */
  void (*arrived)(void* context, uint32_t rank, const void* data, size_t size);
  /* An offer or a fetch has ended, with a text if it has failed: its memory is not accessed any more. */
  void (*ended)(void* context, void* transfer, of_status status, const char* text);
  /* A rank has left the job or is lost, with a text that says how. It is told once. */
  void (*lost)(void* context, uint32_t rank, const char* text);
} of_communicator_options;

typedef struct of_communicator_table {
  uint32_t struct_size; /* sizeof(of_communicator_table) */
  uint32_t version;     /* OF_COMMUNICATOR_VERSION */
  const char* name;
  /* The most bytes of a message. */
  uint32_t message_limit;
  /* Joins the job, and returns once all ranks have. */
  of_status (*open)(const of_communicator_options* options, void** self);
  /* Leaves the job. Messages that are under way may arrive; transfers end. */
  void (*close)(void* self);
  /* Returns whether only the thread that opened the communicator may call its functions. */
  bool (*is_bound_to_thread)(void* self);
  /* Returns the size from which on an offer to a rank is faster than a message. */
  size_t (*offer_from)(void* self, uint32_t rank);
  /* Sends a message, whose bytes may be changed when the function returns. Messages to a rank arrive in their order. */
  of_status (*post)(void* self, uint32_t rank, const void* data, size_t size);
  /* Offers bytes to a rank, which must not change before `ended` is called with `transfer`. Sets *key. */
  of_status (*offer)(void* self, uint32_t rank, const void* data, size_t size, void* transfer,
                     of_communicator_key* key);
  /* Fetches all bytes of an offer of a rank. */
  of_status (*fetch)(void* self, uint32_t rank, const of_communicator_key* key, void* data, size_t size,
                     void* transfer);
  /* Ends a transfer soon, if it can: `ended` is called in any case. */
  void (*withdraw)(void* self, void* transfer);
  /* Does the work that is there. Returns whether there was any. */
  bool (*progress)(void* self);
  /* Returns a file descriptor that is readable while there is work; -1 if there is none, and progress() must be called
   * now and then. */
  int (*descriptor)(void* self);
} of_communicator_table;

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_COMMUNICATOR_H_ */
