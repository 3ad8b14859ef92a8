/* The test accelerator: a plugin of two asynchronous devices, written against device_plugin.h alone. It is the worked
 * example of docs/guides/add-a-device.md, and what the tests break devices with.
 *
 * Each device has memory that the host cannot touch (memory.c), a thread that does its work in order (queue.c), three
 * kernels (kernels.c), and faults that options switch on (options.c): `accel_fail_copies` makes the next so many copies
 * of each device fail, `accel_fail_copies:1` those of the second one. What has to go wrong before there are options is
 * named by the environment variable ACCEL_FAULT (plugin.c). */
#ifndef ACCELERATOR_H_
#define ACCELERATOR_H_

#include <oneflow/device_plugin.h>
#include <pthread.h>

enum { DEVICES = 2, TEXT = 256 };
#define MOST_MEMORY ((uint64_t)256 << 20)

/* The settings of a device, as constants and as options are called. The first ones count down what is to go wrong, the
 * last ones up what has happened. */
#define SETTINGS(X)                                                                                          \
  X(FAIL_ALLOCATIONS, "fail_allocations")           /* out of memory */                                      \
  X(EMPTY_ALLOCATIONS, "empty_allocations")         /* success, but no memory */                             \
  X(FAIL_HOST_ALLOCATIONS, "fail_host_allocations") /* of page-locked memory */                              \
  X(FAIL_COPIES, "fail_copies")                     /* when they are submitted */                            \
  X(FAIL_SILENTLY, "fail_silently")                 /* copies, with a status that is none, without a text */ \
  X(FAIL_KERNELS, "fail_kernels")                   /* when they run, which is found later */                \
  X(FAIL_INFO, "fail_info")                                                                                  \
  X(ENDLESS_NAME, "endless_name") /* a device name without an end */                                         \
  X(LOSE, "lose")                 /* the device dies of its next piece of work */                            \
  X(HOLD, "hold")                 /* not 0: no work is begun */                                              \
  X(SLOW, "slow")                 /* microseconds that each piece of work takes longer */                    \
  X(CAPACITY, "capacity")         /* bytes of memory */                                                      \
  X(USED_MEMORY, "used_memory")   /* bytes */                                                                \
  X(USED_HOST_MEMORY, "used_host_memory")                                                                    \
  X(PEER_COPIES, "peer_copies")                                                                              \
  X(KERNELS, "kernels")
#define CONSTANT(constant, name) constant,
typedef enum setting { SETTINGS(CONSTANT) SETTING_COUNT } setting;

/* A piece of work. */
typedef struct task {
  struct task* next;
  void (*run)(struct task* task);
  void* to;
  const void* from;
  uint64_t bytes;
  uint8_t value;
  void* owned; /* freed with the task */
} task;

typedef struct block { /* of memory in use */
  uint64_t start, bytes;
  struct block* next; /* at a higher address */
} block;

typedef struct accelerator {
  of_device id;
  int64_t settings[SETTING_COUNT];
  char *outside, *inside; /* the same memory twice: at the addresses that are given out, and where it can be reached */
  block* blocks;
  task *first, *last; /* the queue; the first one is being done */
  uint64_t submitted, finished;
  bool has_worker, is_dead;
  of_status error; /* the first that work has found and nobody was told of */
  char error_text[TEXT];
} accelerator;

extern const of_host_table* host; /* what the runtime gave the plugin */
extern accelerator devices[DEVICES];
/* One lock, and one signal that something has changed: this device is to be correct, not fast. */
extern pthread_mutex_t lock;
extern pthread_cond_t changed;

/* options.c */
void count(accelerator* device, setting which, int64_t change);
bool take_fault(accelerator* device, setting which); /* whether something is to go wrong this time */
of_status set_option(const char* name, int64_t value);
of_status get_option(const char* name, int64_t* value);

/* queue.c. submit() takes over what the work owns; call wait_for_work() and leave_error() with the lock. */
of_status submit(of_stream stream, task description);
void wait_for_work(accelerator* device);
void leave_error(accelerator* device, of_status status, const char* op, const char* text);
of_status create_stream(of_device id, of_stream* stream);
of_status synchronize(of_device id, of_stream stream);
of_status create_event(of_device id, of_event* created);
void destroy_event(of_device id, of_event destroyed);
of_status record_event(of_device id, of_event recorded, of_stream stream);
of_status wait_event(of_device id, of_event awaited, of_stream stream);

/* memory.c */
bool map_memory(accelerator* device);
void* reach(const void* address); /* where its memory is: on one of the devices, or the host's own */
of_status allocate(of_device id, uint64_t bytes, void** memory);
void deallocate(of_device id, void* memory, uint64_t bytes);
of_status allocate_host(of_device id, uint64_t bytes, void** memory);
void free_host(of_device id, void* memory, uint64_t bytes);
of_status copy(of_device id, void* to, const void* from, uint64_t bytes, of_stream stream);
of_status copy_peer(of_device to_id, void* to, of_device from_id, const void* from, uint64_t bytes, of_stream stream);
of_status fill(of_device id, void* to, uint8_t value, uint64_t bytes, of_stream stream);

/* kernels.c */
of_kernel find_kernel(const char* name, uint64_t schema_hash, of_dtype compute);

#endif /* ACCELERATOR_H_ */
