/* Events: numbered points in a queue, for which another one waits. */
#include <stdlib.h>

#include "accelerator.h"

typedef struct event {
  uint64_t recorded, reached; /* points, by number */
  int users;                  /* pieces of work, and whoever may still call destroy_event() */
} event;

/* Call it with the lock. */
static void drop_event(event* of_work) {
  if (--of_work->users == 0) free(of_work);
}

of_status create_event(of_device id, of_event* created) {
  event* made = calloc(1, sizeof(*made));
  (void)id;
  if (!made) return host->fail(OF_OUT_OF_MEMORY, "the host has no memory for an event");
  made->users = 1;
  *created = (of_event)made;
  return OF_OK;
}

void destroy_event(of_device id, of_event of_device_work) {
  (void)id;
  pthread_mutex_lock(&lock);
  drop_event((event*)of_device_work);
  pthread_mutex_unlock(&lock);
}

static void reach_event(task* now) {
  event* reached = now->to;
  pthread_mutex_lock(&lock);
  if (reached->reached < now->bytes) reached->reached = now->bytes;
  drop_event(reached);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void await_event(task* now) {
  event* awaited = now->to;
  pthread_mutex_lock(&lock);
  while (awaited->reached < now->bytes) pthread_cond_wait(&changed, &lock);
  drop_event(awaited);
  pthread_mutex_unlock(&lock);
}

static of_status submit_event(event* used, bool records, of_stream stream) {
  pthread_mutex_lock(&lock);
  ++used->users;
  used->recorded += records;
  const uint64_t point = used->recorded;
  pthread_mutex_unlock(&lock);
  void (*run)(task*) = records ? reach_event : await_event;
  const of_status status = submit(stream, (task){.run = run, .runs_always = true, .to = used, .bytes = point});
  if (status != OF_OK) {
    pthread_mutex_lock(&lock);
    drop_event(used);
    pthread_mutex_unlock(&lock);
  }
  return status;
}

of_status record_event(of_device id, of_event recorded, of_stream stream) {
  (void)id;
  return submit_event((event*)recorded, true, stream);
}

of_status wait_event(of_device id, of_event awaited, of_stream stream) {
  (void)id;
  return submit_event((event*)awaited, false, stream);
}
