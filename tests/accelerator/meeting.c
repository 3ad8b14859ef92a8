#include "meeting.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOT = 32 << 10, NAP = 20 /* microseconds */ };

/* What one rank has for another one: empty while `count` is 0. */
typedef struct slot {
  _Atomic uint32_t count;
  char bytes[SLOT];
} slot;

typedef struct shared {
  _Atomic uint32_t joined;
  slot slots[]; /* of each sender, for each receiver */
} shared;

struct meeting {
  uint32_t rank, size;
  uint64_t bytes;
  shared* memory;
};

meeting* join_meeting(const char* name, uint32_t rank, uint32_t size) {
  meeting* joined = malloc(sizeof(meeting));
  if (!joined) return NULL;
  *joined = (meeting){rank, size, sizeof(shared) + sizeof(slot) * size * size, NULL};
  const int file = shm_open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  void* mapped = MAP_FAILED;
  if (file >= 0 && ftruncate(file, (off_t)joined->bytes) == 0)
    mapped = mmap(NULL, joined->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (mapped == MAP_FAILED) {
    free(joined);
    return NULL;
  }
  joined->memory = mapped;
  if (++joined->memory->joined == size) shm_unlink(name);
  return joined;
}

bool is_complete(const meeting* joined) { return joined->memory->joined == joined->size; }

bool exchange_bytes(meeting* joined, const void* const* inputs, const uint64_t* sent, void* const* outputs,
                    const uint64_t* received, const _Atomic bool* stop) {
  uint64_t put[MAX_RANKS] = {0}, got[MAX_RANKS] = {0};
  const uint32_t own = joined->rank, size = joined->size;
  if (sent[own] > 0) memcpy(outputs[own], inputs[own], sent[own]);
  put[own] = got[own] = sent[own];
  while (true) {
    bool is_done = true, did = false;
    for (uint32_t r = 0; r < size; ++r) {
      slot *out = &joined->memory->slots[own * size + r], *in = &joined->memory->slots[r * size + own];
      if (put[r] < sent[r] && out->count == 0) {
        const uint64_t left = sent[r] - put[r], part = left < SLOT ? left : SLOT;
        memcpy(out->bytes, (const char*)inputs[r] + put[r], part);
        put[r] += part;
        out->count = (uint32_t)part;
        did = true;
      }
      if (got[r] < received[r] && in->count > 0) {
        memcpy((char*)outputs[r] + got[r], in->bytes, in->count);
        got[r] += in->count;
        in->count = 0;
        did = true;
      }
      is_done = is_done && put[r] == sent[r] && got[r] == received[r];
    }
    if (is_done) return true;
    if (*stop) return false;
    if (!did) usleep(NAP);
  }
}

void leave_meeting(meeting* joined) {
  munmap(joined->memory, joined->bytes);
  free(joined);
}
