/* Streams: a queue of work per device, and the thread that does it. Events: points in a queue, for which others wait.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "accelerator.h"

void leave_error(accelerator* device, of_status status, const char* op, const char* text) {
  if (device->error != OF_OK) return;
  device->error = status;
  snprintf(device->error_text, TEXT, "%s: %s", op, text);
}

static void* work(void* argument) {
  accelerator* device = argument;
  pthread_mutex_lock(&lock);
  while (true) {
    while (!device->first || device->settings[HOLD]) pthread_cond_wait(&changed, &lock);
    task* now = device->first;
    const bool dies = device->settings[LOSE] > 0 && !device->is_dead;
    device->is_dead |= dies;
    const bool runs = !device->is_dead;
    const int64_t delay = device->settings[SLOW];
    pthread_mutex_unlock(&lock);
    if (dies) host->lost(device->id, "it was told to die");
    if (delay > 0) usleep((useconds_t)delay);
    if (runs) now->run(now);
    pthread_mutex_lock(&lock);
    device->first = now->next;
    ++device->finished;
    free(now->owned);
    free(now);
    pthread_cond_broadcast(&changed);
  }
  return NULL;
}

of_status submit(of_stream stream, task description) {
  accelerator* device = (accelerator*)stream;
  task* added = malloc(sizeof(*added));
  if (!added) {
    free(description.owned);
    return host->fail(OF_OUT_OF_MEMORY, "the host has no memory to submit work with");
  }
  *added = description;
  pthread_mutex_lock(&lock);
  if (device->first)
    device->last->next = added;
  else
    device->first = added;
  device->last = added;
  ++device->submitted;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return OF_OK;
}

void wait_for_work(accelerator* device) {
  const uint64_t point = device->submitted;
  while (device->finished < point) pthread_cond_wait(&changed, &lock);
}

/* A forked process has no workers. */
static void lose_in_child(void) {
  for (int i = 0; i < DEVICES; ++i)
    if (devices[i].has_worker) host->lost(devices[i].id, "it was used before the process was forked");
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, lose_in_child); }

of_status create_stream(of_device id, of_stream* stream) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_t worker;
  accelerator* device = &devices[id.index];
  device->id = id;
  if (pthread_create(&worker, NULL, work, device) != 0)
    return host->fail(OF_DEVICE_ERROR, "no thread could be started for the device");
  pthread_detach(worker);
  device->has_worker = true;
  pthread_once(&once, watch_forks);
  *stream = (of_stream)device;
  return OF_OK;
}

of_status synchronize(of_device id, of_stream stream) {
  accelerator* device = (accelerator*)stream;
  char text[TEXT];
  (void)id;
  pthread_mutex_lock(&lock);
  wait_for_work(device);
  const of_status status = device->is_dead ? OF_DEVICE_ERROR : device->error;
  snprintf(text, TEXT, "%s", device->is_dead ? "the device died" : device->error_text);
  device->error = OF_OK;
  pthread_mutex_unlock(&lock);
  return status == OF_OK ? OF_OK : host->fail(status, text);
}

typedef struct event {
  accelerator* device;
  uint64_t point; /* so much work was submitted before it */
} event;

of_status create_event(of_device id, of_event* created) {
  event* made = malloc(sizeof(*made));
  if (!made) return host->fail(OF_OUT_OF_MEMORY, "the host has no memory for an event");
  *made = (event){&devices[id.index], 0};
  *created = (of_event)made;
  return OF_OK;
}

void destroy_event(of_device id, of_event destroyed) {
  (void)id;
  free((event*)destroyed);
}

of_status record_event(of_device id, of_event recorded, of_stream stream) {
  accelerator* device = (accelerator*)stream;
  (void)id;
  pthread_mutex_lock(&lock);
  *(event*)recorded = (event){device, device->submitted};
  pthread_mutex_unlock(&lock);
  return OF_OK;
}

static void run_wait(task* now) {
  const event* awaited = now->owned;
  pthread_mutex_lock(&lock);
  while (awaited->device->finished < awaited->point) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

/* The point as it is now: the event may be recorded anew, or destroyed, before its turn comes. */
of_status wait_event(of_device id, of_event awaited, of_stream stream) {
  event* point = malloc(sizeof(*point));
  (void)id;
  if (!point) return host->fail(OF_OUT_OF_MEMORY, "the host has no memory to wait for an event");
  *point = *(event*)awaited;
  return submit(stream, (task){.run = run_wait, .owned = point});
}
