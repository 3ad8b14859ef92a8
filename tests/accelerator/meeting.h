/* What the test accelerator has in place of a network: processes that meet in shared memory, and exchange bytes. */
#ifndef ACCELERATOR_MEETING_H_
#define ACCELERATOR_MEETING_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MAX_RANKS = 16 };

typedef struct meeting meeting;

/* Joins the processes that give the same name, one that shm_open() accepts. Does not wait for the others. Returns NULL
 * if there is no memory. */
meeting* join_meeting(const char* name, uint32_t rank, uint32_t size);
bool is_complete(const meeting* joined);
/* Sends sent[r] bytes at inputs[r] to each rank r, and receives received[r] bytes at outputs[r] from it; all processes
 * call it. Returns false as soon as `stop` is set. */
bool exchange_bytes(meeting* joined, const void* const* inputs, const uint64_t* sent, void* const* outputs,
                    const uint64_t* received, const _Atomic bool* stop);
void leave_meeting(meeting* joined);

#endif /* ACCELERATOR_MEETING_H_ */
