/* The test accelerator: a plugin with two asynchronous devices that uses only device_plugin.h. It is the worked example
 * of docs/guides/add-a-device.md, and tests use it to inject faults by options. For example, setting the option
 * `accel_fail_copies` to n makes the next n copies of each device fail, and `accel_fail_copies:1` those of the second
 * device. Faults that occur before options can be set are selected by the environment variable ACCEL_FAULT. */
#include <oneflow/device_plugin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "meeting.h"

enum {
  DEVICES = 2,
  MAX_MEMORY = 256 << 20 /* bytes per device */,
  PAGE = 4096,
  QUEUE_LENGTH = 1024,
  TIMES = 1 << 16,
  TEXT = 256
};

static const of_host_table* host; /* the functions of the runtime */

/* A single lock, and a single signal for all changes, for simplicity: this device need not be fast. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* -- settings of each device: faults, behaviour and counters ----------------------------------------------------- */

static const char* const names[] = {
    /* faults: the number of calls that will fail */
    "fail_allocations", "fail_host_allocations", "fail_copies", "fail_info", "fail_lookups", /* of kernels */
    "fail_kernels",      /* asynchronously, when they run */
    "fail_silently",     /* copies return an undefined status, without an error text */
    "empty_allocations", /* allocations succeed but return NULL */
    "fail_from",         /* not a number of calls: the n-th allocation from now on fails, and all after it */
    "fail_collectives",  /* they hang, and their communicator says that it has failed */
    "endless_name",      /* the device name is not terminated */
    "lose",              /* the device is lost at its next task */
    /* behaviour */
    "hold",     /* no task is started: 1: of any stream, 2: of the default stream, 3: of the others */
    "slow",     /* microseconds by which each task is delayed */
    "capacity", /* bytes of memory */
    /* counters: bytes in use, and numbers of calls */
    "used_memory", "used_host_memory", "peer_copies", "kernels", "streams", "lookups", "collectives"};
enum { SETTINGS = sizeof(names) / sizeof(*names) };
static _Atomic int64_t values[SETTINGS][DEVICES];

static _Atomic int64_t* setting(of_device id, const char* name) {
  int i = 0;
  while (strcmp(names[i], name) != 0) ++i;
  return &values[i][id.index];
}

/* Returns whether a fault is pending, and decrements its count. */
static bool take_fault(of_device id, const char* name) {
  _Atomic int64_t* times = setting(id, name);
  int64_t pending = *times;
  while (pending > 0 && !atomic_compare_exchange_weak(times, &pending, pending - 1)) continue;
  return pending > 0;
}

/* Returns whether the allocation that `fail_from` names, or one after it, is made now. */
static bool is_used_up(of_device id) {
  _Atomic int64_t* from = setting(id, "fail_from");
  int64_t left = *from;
  while (left > 1 && !atomic_compare_exchange_weak(from, &left, left - 1)) continue;
  return left == 1;
}

/* Finds the settings of an option, and returns their number: "accel_slow" is the setting of each device, "accel_slow:1"
 * that of the second device. */
static int find_settings(const char* option, _Atomic int64_t* found[DEVICES]) {
  int count = 0;
  for (int i = 0; i < SETTINGS * DEVICES; ++i) {
    char name[TEXT];
    snprintf(name, sizeof(name), "accel_%s:%d", names[i / DEVICES], i % DEVICES);
    const bool is_one = strcmp(option, name) == 0;
    *strchr(name, ':') = '\0';
    if (is_one || strcmp(option, name) == 0) found[count++] = &values[i / DEVICES][i % DEVICES];
  }
  return count;
}

static of_status set_option(const char* name, int64_t value) {
  _Atomic int64_t* found[DEVICES];
  const int count = find_settings(name, found);
  if (count == 0) return OF_UNSUPPORTED;
  if (value < 0 || value > MAX_MEMORY) return host->fail(OF_INVALID_ARGUMENT, "the value is out of range");
  pthread_mutex_lock(&lock);
  for (int i = 0; i < count; ++i) *found[i] = value;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return OF_OK;
}

static of_status get_option(const char* name, int64_t* value) {
  _Atomic int64_t* found[DEVICES];
  const int count = find_settings(name, found);
  if (count == 0) return OF_UNSUPPORTED;
  *value = 0;
  for (int i = 0; i < count; ++i) *value += *found[i];
  return OF_OK;
}

/* -- work: a queue per stream, and a thread that runs its tasks -------------------------------------------------- */

typedef struct event { /* a point in a queue */
  struct queue* queue; /* NULL before the event is recorded */
  uint64_t point;      /* the number of tasks submitted before */
  double recorded;     /* when it was recorded, in milliseconds */
} event;

/* A task with copies of all its arguments, because those of a hook are only valid during the call. */
typedef struct task {
  void (*run)(struct task* now);
  void* to; /* copies and fills */
  const void* from;
  uint64_t bytes;
  uint8_t value;
  event awaited; /* waits */
  struct collective* collective;
  const char* op; /* kernels */
  bool fails;
  float (*function)(float first, float second);
  int rank;
  int64_t sizes[OF_MAX_RANK];
  struct {
    float* data; /* NULL for a number */
    float number;
    int64_t strides[OF_MAX_RANK];
  } operands[3]; /* the result, then the inputs */
} task;

/* Queues are never freed, so that events stay valid: a destroyed stream leaves its queue to the next one. */
typedef struct queue {
  of_device id;
  bool is_default, is_free;
  struct queue* next;                   /* of the same device */
  task tasks[QUEUE_LENGTH];             /* a ring buffer */
  double times[TIMES];                  /* when the last tasks were finished, in milliseconds */
  _Atomic uint64_t submitted, finished; /* numbers of tasks since the start */
  _Atomic(const char*) failed_op;       /* the operator of the first failure that has not been reported */
} queue;

static queue* queues[DEVICES]; /* of each device, the default stream last */
static _Atomic bool is_dead[DEVICES];

static double now_in_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static bool is_held(const queue* own) {
  const int64_t hold = *setting(own->id, "hold");
  return hold == 1 || (hold == 2 && own->is_default) || (hold == 3 && !own->is_default);
}

static void* work(void* argument) {
  queue* own = argument;
  pthread_mutex_lock(&lock);
  while (true) {
    while (own->finished == own->submitted || is_held(own)) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    task* now = &own->tasks[own->finished % QUEUE_LENGTH];
    if (*setting(own->id, "slow")) usleep((useconds_t)*setting(own->id, "slow"));
    if (take_fault(own->id, "lose")) {
      is_dead[own->id.index] = true;
      host->lost(own->id, "it was told to die");
    }
    if (!is_dead[own->id.index]) now->run(now);
    if (now->fails && !own->failed_op) own->failed_op = now->op;
    pthread_mutex_lock(&lock);
    own->times[own->finished % TIMES] = now_in_milliseconds();
    ++own->finished;
    pthread_cond_broadcast(&changed);
  }
  return NULL;
}

static of_status submit(of_device_stream stream, task added) {
  queue* own = (queue*)stream;
  pthread_mutex_lock(&lock);
  while (own->submitted - own->finished == QUEUE_LENGTH) pthread_cond_wait(&changed, &lock);
  own->tasks[own->submitted++ % QUEUE_LENGTH] = added;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return OF_OK;
}

/* Starts the thread of a new queue. */
static queue* start_queue(of_device id) {
  queue* created = calloc(1, sizeof(queue));
  pthread_t worker;
  if (!created) return NULL;
  created->id = id;
  created->times[0] = now_in_milliseconds();
  if (pthread_create(&worker, NULL, work, created) == 0) return created;
  free(created);
  return NULL;
}

static of_status create_stream(of_device id, of_device_stream* stream) {
  pthread_mutex_lock(&lock);
  queue* found = queues[id.index];
  while (found && !found->is_free) found = found->next;
  if (!found && (found = start_queue(id))) {
    found->is_default = !queues[id.index];
    found->next = queues[id.index];
    queues[id.index] = found;
  }
  if (found) found->is_free = false;
  pthread_mutex_unlock(&lock);
  if (!found) return host->fail(OF_DEVICE_ERROR, "no thread could be started for a stream of the device");
  ++*setting(id, "streams");
  *stream = (of_device_stream)found;
  return OF_OK;
}

static void destroy_stream(of_device id, of_device_stream stream) {
  pthread_mutex_lock(&lock);
  ((queue*)stream)->is_free = true;
  --*setting(id, "streams");
  pthread_mutex_unlock(&lock);
}

/* A forked process has no worker threads, so that its devices are lost. */
static void lose_in_child(void) {
  for (int i = 0; i < DEVICES; ++i)
    if (queues[i]) host->lost(queues[i]->id, "it was used before the process was forked");
}

static event end_of(queue* own) { return (event){own, own->submitted, now_in_milliseconds()}; }

static bool is_reached(event awaited) { return !awaited.queue || awaited.queue->finished >= awaited.point; }

static void wait_for(event awaited) {
  pthread_mutex_lock(&lock);
  while (!is_reached(awaited)) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

static void wait_for_all(of_device id) {
  pthread_mutex_lock(&lock);
  for (queue* each = queues[id.index]; each; each = each->next)
    while (!is_reached(end_of(each))) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

static of_status synchronize(of_device id, of_device_stream stream) {
  queue* own = (queue*)stream;
  wait_for(end_of(own));
  if (is_dead[id.index]) return host->fail(OF_DEVICE_ERROR, "the device died");
  const char* op = atomic_exchange(&own->failed_op, NULL);
  char text[TEXT];
  snprintf(text, sizeof(text), "%s: the kernel was told to find bad data", op ? op : "");
  return op ? host->fail(OF_INVALID_ARGUMENT, text) : OF_OK;
}

static of_status query_stream(of_device id, of_device_stream stream, bool* is_done) {
  *is_done = is_reached(end_of((queue*)stream));
  return OF_OK;
}

static of_status create_event(of_device id, bool is_timed, of_device_event* created) {
  *created = calloc(1, sizeof(event));
  return *created ? OF_OK : host->fail(OF_OUT_OF_MEMORY, "the host has no memory for an event");
}

static void destroy_event(of_device id, of_device_event destroyed) { free(destroyed); }

static of_status record_event(of_device id, of_device_event recorded, of_device_stream stream) {
  *(event*)recorded = end_of((queue*)stream);
  return OF_OK;
}

static void run_wait(task* now) { wait_for(now->awaited); }

/* The task holds a copy of the event, which may be recorded again or destroyed before the task runs. */
static of_status wait_event(of_device id, of_device_event awaited, of_device_stream stream) {
  return submit(stream, (task){.run = run_wait, .awaited = *(event*)awaited});
}

static of_status query_event(of_device id, of_device_event asked, bool* is_done) {
  *is_done = is_reached(*(event*)asked);
  return OF_OK;
}

static of_status synchronize_event(of_device id, of_device_event awaited) {
  wait_for(*(event*)awaited);
  return OF_OK;
}

/* Returns when the queue passed an event: when the last task before it was finished, or at once if it was idle. */
static double passed(const event* reached) {
  const double finished = reached->point ? reached->queue->times[(reached->point - 1) % TIMES] : 0;
  return finished > reached->recorded ? finished : reached->recorded;
}

static of_status elapsed_time(of_device id, of_device_event start, of_device_event end, double* milliseconds) {
  const event *first = (const event*)start, *last = (const event*)end;
  pthread_mutex_lock(&lock);
  const bool is_known = first->queue->submitted - first->point < TIMES;
  *milliseconds = passed(last) - passed(first);
  pthread_mutex_unlock(&lock);
  return is_known ? OF_OK : OF_UNSUPPORTED; /* the time of an old task is no longer kept */
}

/* -- memory: the host gets addresses that it cannot access, and the device translates them ----------------------- */

enum { ALL_MEMORY = DEVICES * MAX_MEMORY }; /* of all devices, one after another */
static char *memory_base, *host_base;       /* the start of the memory, and of the addresses that the host gets */
static bool is_used[ALL_MEMORY / PAGE];

/* Initializes the plugin when it is first loaded. */
static bool start(void) {
  if (host_base) return true;
  char* mapped = mmap(NULL, 2 * ALL_MEMORY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED || mprotect(mapped, ALL_MEMORY, PROT_READ | PROT_WRITE) != 0) return false;
  memory_base = mapped;
  host_base = mapped + ALL_MEMORY;
  for (int16_t i = 0; i < DEVICES; ++i) *setting((of_device){0, i}, "capacity") = MAX_MEMORY;
  return pthread_atfork(NULL, NULL, lose_in_child) == 0;
}

/* Translates an address of device memory; any other address is one of host memory. */
static void* translate(const void* address) {
  const uintptr_t offset = (uintptr_t)address - (uintptr_t)host_base;
  return offset < ALL_MEMORY ? memory_base + offset : (void*)address;
}

static uint64_t pages_for(uint64_t bytes) { return bytes / PAGE + (bytes % PAGE != 0); }

/* Allocates the first gap that is large enough. */
static of_status allocate(of_device id, uint64_t bytes, void** memory) {
  const uint64_t count = pages_for(bytes);
  *memory = NULL;
  if (is_used_up(id) || take_fault(id, "fail_allocations"))
    return host->fail(OF_OUT_OF_MEMORY, "the device was told to have no memory");
  if (take_fault(id, "empty_allocations")) return OF_OK;
  pthread_mutex_lock(&lock);
  uint64_t page = (uint64_t)id.index * MAX_MEMORY / PAGE, gap = 0;
  const uint64_t end = page + (uint64_t)*setting(id, "capacity") / PAGE;
  while (gap < count && page < end) gap = is_used[page++] ? 0 : gap + 1;
  if (gap == count) {
    *memory = host_base + (page - count) * PAGE;
    memset(is_used + page - count, true, count);
    *setting(id, "used_memory") += (int64_t)(count * PAGE);
  }
  pthread_mutex_unlock(&lock);
  return *memory ? OF_OK : host->fail(OF_OUT_OF_MEMORY, "the device has no room");
}

static void deallocate(of_device id, void* memory, uint64_t bytes) {
  wait_for_all(id);
  pthread_mutex_lock(&lock);
  memset(is_used + ((char*)memory - host_base) / PAGE, false, pages_for(bytes));
  *setting(id, "used_memory") -= (int64_t)(pages_for(bytes) * PAGE);
  pthread_mutex_unlock(&lock);
}

/* Allocates memory for copies. A real device would lock its pages. */
static of_status allocate_host(of_device id, uint64_t bytes, void** memory) {
  if (take_fault(id, "fail_host_allocations") || posix_memalign(memory, PAGE, bytes) != 0)
    return host->fail(OF_OUT_OF_MEMORY, "no memory can be locked");
  *setting(id, "used_host_memory") += (int64_t)bytes;
  return OF_OK;
}

static void free_host(of_device id, void* memory, uint64_t bytes) {
  *setting(id, "used_host_memory") -= (int64_t)bytes;
  free(memory);
}

static void run_copy(task* now) { memcpy(translate(now->to), translate(now->from), now->bytes); }

static of_status copy(of_device id, void* to, const void* from, uint64_t bytes, of_device_stream stream) {
  if (take_fault(id, "fail_copies")) return host->fail(OF_DEVICE_ERROR, "the copy was told to fail");
  if (take_fault(id, "fail_silently")) return (of_status)4711;
  return submit(stream, (task){.run = run_copy, .to = to, .from = from, .bytes = bytes});
}

static of_status copy_peer(of_device id, void* to, of_device peer, const void* from, uint64_t bytes,
                           of_device_stream stream) {
  ++*setting(id, "peer_copies");
  return copy(id, to, from, bytes, stream);
}

static void run_fill(task* now) { memset(translate(now->to), now->value, now->bytes); }

static of_status fill(of_device id, void* to, uint8_t value, uint64_t bytes, of_device_stream stream) {
  return submit(stream, (task){.run = run_fill, .to = to, .value = value, .bytes = bytes});
}

/* -- kernels: three elementwise kernels for float32 -------------------------------------------------------------- */

static float* element(task* now, int k, int64_t i) {
  float* at = now->operands[k].data;
  if (!at) return &now->operands[k].number;
  for (int d = now->rank - 1; d >= 0; i /= now->sizes[d--]) at += i % now->sizes[d] * now->operands[k].strides[d];
  return at;
}

static void run_kernel(task* now) {
  int64_t elements = 1;
  for (int d = 0; d < now->rank; ++d) elements *= now->sizes[d];
  for (int64_t i = 0; i < elements; ++i) *element(now, 0, i) = now->function(*element(now, 1, i), *element(now, 2, i));
}

static float to_float(of_scalar number) {
  if (number.kind == OF_SCALAR_FLOAT) return (float)number.as.real;
  return number.kind == OF_SCALAR_UINT ? (float)number.as.natural : (float)number.as.integer;
}

static float negative(float a, float b) { return -a; }
static float product(float a, float b) { return a * b; }
static float second(float a, float b) { return b; }

/* The kernels: one function, whose user pointer says what it computes. */
static const struct function {
  const char* name;
  float (*function)(float first, float second);
} functions[] = {{"copy", second}, {"mul", product}, {"neg", negative}};

static of_status submit_kernel(const of_kernel_context* context) {
  const struct function* called = context->user;
  const of_kernel_tensor* result = context->outputs;
  task added = {.run = run_kernel, .function = called->function, .op = context->op, .rank = result->rank};
  memcpy(added.sizes, result->sizes, sizeof(int64_t) * (size_t)result->rank);
  for (int k = 0; k <= context->input_count; ++k) {
    const of_kernel_tensor* operand = k == 0 ? result : &context->inputs[k - 1];
    if (!operand->data) {
      added.operands[k].number = to_float(operand->scalar);
    } else if (operand->dtype == OF_FLOAT32) {
      added.operands[k].data = translate(operand->data);
      memcpy(added.operands[k].strides, operand->strides, sizeof(int64_t) * (size_t)operand->rank);
    } else {
      return OF_UNSUPPORTED; /* half floats, whose compute type is float32: the runtime falls back to the host */
    }
  }
  added.fails = take_fault(context->device, "fail_kernels");
  ++*setting(context->device, "kernels");
  return submit(context->stream, added);
}

/* A plugin with generated kernels compares the hash. The meaning of these three operators does not change. */
static of_status find_kernel(of_device id, const char* name, uint64_t kernel_id, of_dtype compute,
                             of_kernel_entry* entry) {
  if (take_fault(id, "fail_lookups")) return host->fail(OF_DEVICE_ERROR, "the kernel could not be compiled");
  ++*setting(id, "lookups");
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); ++i) {
    if (compute != OF_FLOAT32 || strcmp(name, functions[i].name) != 0) continue;
    entry->function = submit_kernel;
    entry->user = (void*)&functions[i];
    return OF_OK;
  }
  return OF_UNSUPPORTED;
}

/* -- collectives between processes: exchanges of bytes, and reductions of what has come in the order of the ranks ----
 */

typedef struct communicator {
  of_device id;
  uint32_t rank, size;
  meeting* joined;
  _Atomic bool is_aborted, has_failed;
  _Atomic int users; /* the runtime, and tasks that are not done */
} communicator;

typedef struct collective { /* arrays by rank */
  communicator* own;
  bool fails;
  const void* inputs[MAX_RANKS];
  void* outputs[MAX_RANKS];
  uint64_t sent[MAX_RANKS], received[MAX_RANKS];
  /* reductions */
  void* result; /* NULL: none */
  void* scratch;
  uint64_t count;
  of_dtype dtype;
  of_reduction reduction;
} collective;

static const char* communicator_version(void) {
  if (strcmp(getenv("ACCEL_FAULT") ? getenv("ACCEL_FAULT") : "", "no_communicator") != 0) return "accel 1";
  return host->fail(OF_UNSUPPORTED, "the links were told to be missing"), NULL;
}

/* Each process has devices of its own, unless it was told to share them. */
static of_status identify(of_device id, uint64_t* identity) {
  const bool is_shared = strcmp(getenv("ACCEL_FAULT") ? getenv("ACCEL_FAULT") : "", "shared_devices") == 0;
  *identity = (is_shared ? 0 : (uint64_t)getpid() * DEVICES) + (uint64_t)id.index;
  return OF_OK;
}

static uint64_t element_bytes(of_dtype dtype) { return dtype == OF_FLOAT32 || dtype == OF_INT32 ? 4 : 8; }

static bool can_reduce(of_dtype dtype, of_reduction reduction) {
  if (dtype == OF_INT32 || dtype == OF_INT64) return reduction != OF_REDUCTION_MEAN;
  return dtype == OF_FLOAT32 || dtype == OF_FLOAT64;
}

static of_status make_id(of_device_communicator_id* made) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  memset(made, 0, sizeof(*made));
  snprintf((char*)made->bytes, sizeof(made->bytes), "/accel-%d-%lld-%ld", getpid(), (long long)now.tv_sec, now.tv_nsec);
  return OF_OK;
}

static of_status open_communicator(of_device id, const of_device_communicator_id* given, uint32_t rank, uint32_t size,
                                   of_device_communicator* opened) {
  if (size > MAX_RANKS) return host->fail(OF_UNSUPPORTED, "there are too many ranks");
  communicator* own = calloc(1, sizeof(communicator));
  meeting* joined = own ? join_meeting((const char*)given->bytes, rank, size) : NULL;
  if (!joined) {
    free(own);
    return host->fail(OF_DEVICE_ERROR, "no memory could be shared with other processes");
  }
  own->id = id;
  own->rank = rank;
  own->size = size;
  own->joined = joined;
  own->users = 1;
  *opened = (of_device_communicator)own;
  return OF_OK;
}

static of_status poll_communicator(of_device_communicator asked, bool* is_ready) {
  const communicator* own = (const communicator*)asked;
  if (own->has_failed) return host->fail(OF_DEVICE_ERROR, "a link was told to fail");
  *is_ready = is_complete(own->joined);
  return OF_OK;
}

static void release(communicator* own) {
  if (--own->users > 0) return;
  leave_meeting(own->joined);
  free(own);
}

static void close_communicator(of_device_communicator closed) { release((communicator*)closed); }

static void abort_communicator(of_device_communicator aborted) {
  ((communicator*)aborted)->is_aborted = true;
  release((communicator*)aborted);
}

#define COMBINE(type)                                                                        \
  for (uint64_t i = 0; i < now->count; ++i) {                                                \
    type total = ((const type*)now->outputs[0])[i];                                          \
    for (uint32_t r = 1; r < now->own->size; ++r) {                                          \
      const type next = ((const type*)now->outputs[r])[i];                                   \
      if (now->reduction == OF_REDUCTION_PRODUCT) {                                          \
        total *= next;                                                                       \
      } else if (now->reduction == OF_REDUCTION_MIN || now->reduction == OF_REDUCTION_MAX) { \
        if ((now->reduction == OF_REDUCTION_MIN) == (next < total)) total = next;            \
      } else {                                                                               \
        total += next;                                                                       \
      }                                                                                      \
    }                                                                                        \
    if (now->reduction == OF_REDUCTION_MEAN) total /= (type)now->own->size;                  \
    ((type*)now->result)[i] = total;                                                         \
  }

static void combine(const collective* now) {
  switch (now->dtype) {
    case OF_FLOAT32:
      COMBINE(float) break;
    case OF_FLOAT64:
      COMBINE(double) break;
    case OF_INT32:
      COMBINE(int32_t) break;
    default:
      COMBINE(int64_t)
  }
}

static void run_collective(task* done) {
  collective* now = done->collective;
  if (now->fails) {
    now->own->has_failed = true;
    while (!now->own->is_aborted) usleep(1000);
  } else if (exchange_bytes(now->own->joined, now->inputs, now->sent, now->outputs, now->received,
                            &now->own->is_aborted) &&
             now->result) {
    combine(now);
  }
  release(now->own);
  free(now->scratch);
  free(now);
}

/* Returns a collective without any bytes; NULL if there is no memory. */
static collective* new_collective(of_device_communicator given) {
  collective* made = calloc(1, sizeof(collective));
  if (made) made->own = (communicator*)given;
  return made;
}

static of_status submit_collective(collective* made, of_device_stream stream) {
  communicator* own = made->own;
  made->fails = take_fault(own->id, "fail_collectives");
  ++*setting(own->id, "collectives");
  ++own->users;
  return submit(stream, (task){.run = run_collective, .collective = made});
}

static of_status fail_for_memory(void) {
  return host->fail(OF_OUT_OF_MEMORY, "the host has no memory for a collective");
}

/* Adds the memory and the arguments of a reduction of `count` elements of each rank. */
static bool add_reduction(collective* made, void* output, uint64_t count, of_dtype dtype, of_reduction reduction) {
  const uint64_t bytes = count * element_bytes(dtype);
  made->scratch = malloc(bytes * made->own->size + 1);
  if (!made->scratch) return false;
  for (uint32_t r = 0; r < made->own->size; ++r) {
    made->outputs[r] = (char*)made->scratch + r * bytes;
    made->received[r] = bytes;
  }
  made->result = translate(output);
  made->count = count;
  made->dtype = dtype;
  made->reduction = reduction;
  return true;
}

static of_status reduce(of_device_communicator given, int32_t root, const void* input, void* output, uint64_t count,
                        of_dtype dtype, of_reduction reduction, of_device_stream stream) {
  collective* made = new_collective(given);
  if (!made) return fail_for_memory();
  for (uint32_t r = 0; r < made->own->size; ++r) {
    made->inputs[r] = translate(input);
    made->sent[r] = root < 0 || (uint32_t)root == r ? count * element_bytes(dtype) : 0;
  }
  if (made->sent[made->own->rank] > 0 && !add_reduction(made, output, count, dtype, reduction)) {
    free(made);
    return fail_for_memory();
  }
  return submit_collective(made, stream);
}

static of_status reduce_scatter(of_device_communicator given, const void* input, void* output, const uint64_t* counts,
                                of_dtype dtype, of_reduction reduction, of_device_stream stream) {
  collective* made = new_collective(given);
  if (!made) return fail_for_memory();
  const char* part = translate(input);
  for (uint32_t r = 0; r < made->own->size; part += made->sent[r++]) {
    made->inputs[r] = part;
    made->sent[r] = counts[r] * element_bytes(dtype);
  }
  if (!add_reduction(made, output, counts[made->own->rank], dtype, reduction)) {
    free(made);
    return fail_for_memory();
  }
  return submit_collective(made, stream);
}

static of_status all_gather(of_device_communicator given, const void* input, void* output, const uint64_t* bytes,
                            of_device_stream stream) {
  collective* made = new_collective(given);
  if (!made) return fail_for_memory();
  char* part = translate(output);
  for (uint32_t r = 0; r < made->own->size; part += bytes[r++]) {
    made->inputs[r] = translate(input);
    made->sent[r] = bytes[made->own->rank];
    made->outputs[r] = part;
    made->received[r] = bytes[r];
  }
  return submit_collective(made, stream);
}

static of_status broadcast(of_device_communicator given, int32_t root, const void* input, void* output, uint64_t bytes,
                           of_device_stream stream) {
  collective* made = new_collective(given);
  if (!made) return fail_for_memory();
  for (uint32_t r = 0; r < made->own->size; ++r) {
    made->inputs[r] = translate(input);
    made->sent[r] = made->own->rank == (uint32_t)root ? bytes : 0;
  }
  made->outputs[root] = translate(output);
  made->received[root] = bytes;
  made->outputs[made->own->rank] = translate(output);
  return submit_collective(made, stream);
}

static of_status exchange(of_device_communicator given, const void* const* inputs, const uint64_t* sent_bytes,
                          void* const* outputs, const uint64_t* received_bytes, of_device_stream stream) {
  collective* made = new_collective(given);
  if (!made) return fail_for_memory();
  for (uint32_t r = 0; r < made->own->size; ++r) {
    made->inputs[r] = translate(inputs[r]);
    made->sent[r] = sent_bytes[r];
    made->outputs[r] = translate(outputs[r]);
    made->received[r] = received_bytes[r];
  }
  return submit_collective(made, stream);
}

static const of_communicator_hooks communicator_hooks = {
    .struct_size = sizeof(communicator_hooks),
    .version = communicator_version,
    .identify = identify,
    .can_reduce = can_reduce,
    .make_id = make_id,
    .open = open_communicator,
    .poll = poll_communicator,
    .abort = abort_communicator,
    .close = close_communicator,
    .reduce = reduce,
    .reduce_scatter = reduce_scatter,
    .all_gather = all_gather,
    .broadcast = broadcast,
    .exchange = exchange,
};

/* -- the table --------------------------------------------------------------------------------------------------- */

static const char* fault = ""; /* ACCEL_FAULT */
static bool has(const char* name) { return strcmp(fault, name) == 0; }

static int32_t device_count(void) {
  if (has("negative_count")) return -1;
  if (has("absurd_count")) return 1 << 20;
  if (!has("no_devices")) return DEVICES;
  return host->fail(OF_DEVICE_ERROR, "no accelerator was found; plug one in"), 0;
}

static of_status get_info(of_device id, of_device_info* info) {
  if (has("crashes_on_info")) abort();
  if (take_fault(id, "fail_info")) return host->fail(OF_DEVICE_ERROR, "the device does not answer");
  snprintf(info->name, sizeof(info->name), "Test accelerator %d", id.index);
  if (take_fault(id, "endless_name")) memset(info->name, 'x', sizeof(info->name));
  info->total_memory = (uint64_t)*setting(id, "capacity");
  info->free_memory = info->total_memory - (uint64_t)*setting(id, "used_memory");
  info->compute_units = 1;
  return OF_OK;
}

__attribute__((visibility("default"))) const of_device_table* oneflow_device_plugin(const of_host_table* given) {
  static of_device_table table;
  host = given;
  fault = getenv("ACCEL_FAULT") ? getenv("ACCEL_FAULT") : "";
  if (has("crashes")) abort();
  if (has("hangs")) pause();
  if (has("exits")) _exit(0);
  if (has("refuses")) return host->fail(OF_DEVICE_ERROR, "the driver is too old"), NULL;
  if (!start()) return host->fail(OF_DEVICE_ERROR, "no memory could be mapped"), NULL;

  table = (of_device_table){
      .struct_size = has("short_table") ? 16 : sizeof(table),
      .api_version = has("older_version")   ? OF_DEVICE_API_OLDEST - 1
                     : has("newer_version") ? OF_DEVICE_API_VERSION + 1
                                            : OF_DEVICE_API_VERSION,
      .runtime_version = has("other_release") ? "0.0.9" : NULL,
      .name = has("bad_name") ? "Bad Name" : "accel",
      .count = has("missing_hook") ? NULL : device_count,
      .get_info = get_info,
      .allocate = allocate,
      .deallocate = deallocate,
      .copy_from_host = copy,
      .copy_to_host = copy,
      .copy_within = copy,
      .fill = fill,
      .create_stream = create_stream,
      .destroy_stream = destroy_stream,
      .synchronize = has("half_a_stream") ? NULL : synchronize,
      .query_stream = query_stream,
      .create_event = create_event,
      .destroy_event = destroy_event,
      .record_event = record_event,
      .wait_event = wait_event,
      .query_event = query_event,
      .synchronize_event = synchronize_event,
      .elapsed_time = elapsed_time,
      .copy_peer = copy_peer,
      .allocate_host = allocate_host,
      .free_host = free_host,
      .find_kernel = find_kernel,
      .set_option = set_option,
      .get_option = get_option,
      .communicator = &communicator_hooks,
  };
  return &table;
}
