/* Settings: the faults to come, and what has happened. */
#include <stdlib.h>
#include <string.h>

#include "accelerator.h"

#define NAME(constant, name) name,
static const char* const setting_names[] = {SETTINGS(NAME)};

void count(accelerator* device, setting which, int64_t change) {
  pthread_mutex_lock(&lock);
  device->settings[which] += change;
  pthread_mutex_unlock(&lock);
}

bool take_fault(accelerator* device, setting which) {
  pthread_mutex_lock(&lock);
  const bool comes = device->settings[which] > 0;
  if (comes) --device->settings[which];
  pthread_mutex_unlock(&lock);
  return comes;
}

/* "accel_slow" or "accel_slow:1": the setting, and the first and last device that it is of. */
static bool parse_option(const char* name, setting* which, int* first, int* last) {
  const size_t length = strcspn(name, ":");
  *first = name[length] ? atoi(name + length + 1) : 0;
  *last = name[length] ? *first : DEVICES - 1;
  if (strncmp(name, "accel_", 6) != 0 || *first < 0 || *first >= DEVICES) return false;
  for (int i = 0; i < SETTING_COUNT; ++i) {
    *which = (setting)i;
    if (strlen(setting_names[i]) == length - 6 && strncmp(setting_names[i], name + 6, length - 6) == 0) return true;
  }
  return false;
}

of_status set_option(const char* name, int64_t value) {
  setting which;
  int first, last;
  if (!parse_option(name, &which, &first, &last)) return OF_UNSUPPORTED;
  if (value < 0 || (which == CAPACITY && (uint64_t)value > MOST_MEMORY))
    return host->fail(OF_INVALID_ARGUMENT, "the value is out of range");
  pthread_mutex_lock(&lock);
  for (int i = first; i <= last; ++i) devices[i].settings[which] = value;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return OF_OK;
}

/* The sum over the devices that the name means. */
of_status get_option(const char* name, int64_t* value) {
  setting which;
  int first, last;
  if (!parse_option(name, &which, &first, &last)) return OF_UNSUPPORTED;
  *value = 0;
  pthread_mutex_lock(&lock);
  for (int i = first; i <= last; ++i) *value += devices[i].settings[which];
  pthread_mutex_unlock(&lock);
  return OF_OK;
}
