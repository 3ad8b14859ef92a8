/* commnet: messages between processes, and reads and writes of each other's memory, none of which waits.
 *
 * Concepts:
 *   endpoint   what a process takes part with: it has a name, a shared secret, and transports
 *   peer       another endpoint that this one is connected to
 *   memory     a range of memory that peers may read, or read and write, with its token
 *   message    bytes for a numbered handler of a peer, ordered within a channel
 *   operation  a send, a read, a write or a connection that is under way
 *   queue      operations that complete in the order in which they began
 *
 * Rules for all functions:
 *   - Functions that can fail return a status. cn_error() then has a text; calls that succeed leave it alone.
 *   - Strings that go in are copied. Strings and handles that come out belong to the object they come from, unless a
 *     function is said to return an object that the caller must release.
 *   - Every function may be called from any thread, and from callbacks.
 *   - Callbacks run one at a time for each endpoint, on its progress thread, or with CN_MANUAL_PROGRESS on a thread
 *     that is in cn_progress(), cn_wait() or cn_next_event(). No lock is held meanwhile. A callback that takes long
 *     delays all others of its endpoint. A C++ exception that leaves a callback disconnects the peer that it is about,
 *     with its text.
 *   - After fork(), the child must not use the endpoints of its parent: their functions return CN_CLOSED there.
 */
#ifndef COMMNET_COMMNET_H_
#define COMMNET_COMMNET_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(COMMNET_BUILDING)
#define CN_API __attribute__((visibility("default")))
#else
#define CN_API
#endif

/* How a call or an operation ended. */
typedef enum cn_status {
  CN_OK = 0,
  CN_INVALID_ARGUMENT = 1, /* an argument is outside its range, or a handle is NULL */
  CN_DENIED = 2,           /* wrong secret, an unknown token, or one without the right */
  CN_OUT_OF_RANGE = 3,     /* a read or a write outside the registered memory */
  CN_UNREACHABLE = 4,      /* nobody answers at an address */
  CN_PEER_LOST = 5,        /* the peer has closed, died, or been silent for longer than `peer_timeout_ms` */
  CN_TIMED_OUT = 6,        /* the operation took longer than its timeout */
  CN_CANCELLED = 7,        /* cn_cancel(), or the endpoint was closed */
  CN_FULL = 8,             /* the peer receives too slowly: `send_limit` bytes wait already */
  CN_NO_HANDLER = 9,       /* the peer has no handler of that number */
  CN_OUT_OF_MEMORY = 10,
  CN_CLOSED = 11,        /* the object was closed before */
  CN_UNSUPPORTED = 12,   /* no transport that both sides have, or a library that is not installed */
  CN_SYSTEM_ERROR = 13,  /* the operating system refused a call */
  CN_INTERNAL_ERROR = 14 /* a fault of this library */
} cn_status;

/* Returns the text of the last error on this thread; "" without one. It is valid until the next error. */
CN_API const char* cn_error(void);
/* Returns the name of a status, such as "PEER_LOST". */
CN_API const char* cn_status_name(cn_status status);
/* Returns the version, "0.1.0". */
CN_API const char* cn_version(void);

typedef struct cn_endpoint cn_endpoint;
typedef struct cn_peer cn_peer;
typedef struct cn_memory cn_memory;
typedef struct cn_queue cn_queue;
typedef struct cn_operation cn_operation;
typedef struct cn_message cn_message;

/* ------------------------------------------------------------------------------------------------ endpoints */

enum {
  CN_MANUAL_PROGRESS = 1 /* no progress thread: work is done in cn_progress(), cn_wait() and cn_next_event() */
};

/* Zero in a field means its default. */
typedef struct cn_endpoint_options {
  uint32_t struct_size;     /* sizeof(cn_endpoint_options) */
  const char* name;         /* unique in a job, at most 255 bytes; default: host name, process and a number */
  const void* secret;       /* what all endpoints of a job know, and nobody else; default: none, which only connects
                               endpoints without one */
  size_t secret_size;       /* in bytes */
  const char* transports;   /* names, best first: "shared,sockets"; default: all that are available */
  const char* listen;       /* where peers can connect: "tcp://0.0.0.0:7000", "unix:/run/job/a", both with a comma, or
                               "none"; default: a free port of 127.0.0.1, and a Unix socket without a file. Processes of
                               the user on this machine can connect through shared memory, unless it is "none" */
  uint32_t flags;           /* CN_MANUAL_PROGRESS */
  uint32_t busy_poll_us;    /* for how long progress looks for work before it sleeps. Lowers the latency and takes a
                               processor; default: some microseconds, while that spares sleeps */
  uint32_t peer_timeout_ms; /* after which a silent peer is lost; default: 10,000 */
  uint32_t streams;         /* connections per peer over TCP, for large reads and writes; default: 2, at most 16 */
  uint64_t receive_window;  /* bytes of messages from each peer that this endpoint keeps before it has handled them;
                               default: 8 MiB. A larger message is received alone */
  uint64_t send_limit;      /* bytes of messages to each peer that wait for its window; default: 64 MiB. Beyond it,
                               cn_send() returns CN_FULL */
  uint64_t message_limit;   /* the most bytes of a message that is received; default: 1 GiB. Peers cannot send larger
                               ones */
  uint32_t linger_ms;       /* how long cn_endpoint_close() waits until messages are on their way; default: 1,000 */
} cn_endpoint_options;

/* Creates an endpoint. `options` may be NULL. */
CN_API cn_status cn_endpoint_create(const cn_endpoint_options* options, cn_endpoint** result);
/* Closes an endpoint: messages that wait for a window or a slow network have `linger_ms` to leave; then peers see it
 * leave, its operations end with CN_CANCELLED, their callbacks run, and its memory is no longer reachable when the
 * function returns. Returns CN_TIMED_OUT, with a text that says how many, if messages were not sent. The endpoint is
 * closed in any case, unless the function was called from a callback, which it must not (CN_INVALID_ARGUMENT). Its
 * handles become invalid, but for operations, messages and memories, which are still to be released. Functions that get
 * the handle of the endpoint soon after that return CN_CLOSED; if several threads close it, each waits for the end.
 * NULL: does nothing. */
CN_API cn_status cn_endpoint_close(cn_endpoint* endpoint);
/* Returns the name. */
CN_API const char* cn_endpoint_name(const cn_endpoint* endpoint);
/* Returns the address that peers connect to: "name@unix:...,tcp://127.0.0.1:40123". */
CN_API const char* cn_endpoint_address(const cn_endpoint* endpoint);

/* ------------------------------------------------------------------------------------------------ operations */

/* Gets the end of an operation; `error` is NULL if it succeeded. */
typedef void (*cn_done)(void* user, cn_status status, const char* error);

enum {
  CN_EVENT = 1, /* the end becomes an event, see cn_next_event() */
  CN_COPY = 2   /* cn_send() copies the bytes, which the caller may change at once */
};

/* How an operation is done; NULL and zeros mean the defaults. */
typedef struct cn_call {
  uint32_t struct_size; /* sizeof(cn_call) */
  uint32_t flags;       /* CN_EVENT, CN_COPY */
  cn_done done;         /* called once at the end; NULL: not */
  void* user;           /* for `done` and for events */
  cn_queue* queue;      /* NULL: the operation completes by itself */
  uint32_t timeout_ms;  /* 0: none but that of the peer */
} cn_call;

/* Functions that begin an operation return its status if it cannot begin, and then `done` is not called. Where they
 * have an argument `operation`, it may be NULL; else the caller must release what it gets. */

/* Returns whether an operation has ended, and sets *status, which may be NULL. */
CN_API bool cn_test(const cn_operation* operation, cn_status* status);
/* Waits for the end of an operation for at most `timeout_ms` (negative: without a limit), and returns its status, or
 * CN_TIMED_OUT while it goes on. cn_error() has its text. Its `done` has returned then. Must not be called from a
 * callback. */
CN_API cn_status cn_wait(cn_operation* operation, int64_t timeout_ms);
/* Ends an operation with CN_CANCELLED unless it has ended. Memory that a read or a write uses may be accessed until
 * `done` is called. */
CN_API void cn_cancel(cn_operation* operation);
/* Releases the handle; the operation goes on. NULL: does nothing. */
CN_API void cn_operation_release(cn_operation* operation);

/* Creates a queue, which the caller must release. Operations of a queue complete in the order in which they began, also
 * if they belong to different peers; other queues do not wait for them. */
CN_API cn_status cn_queue_create(cn_endpoint* endpoint, cn_queue** result);
/* Begins an operation that completes once all operations that are in the queue now have. */
CN_API cn_status cn_queue_mark(cn_queue* queue, const cn_call* call, cn_operation** operation);
/* Releases a queue; its operations go on. NULL: does nothing. */
CN_API void cn_queue_release(cn_queue* queue);

/* ------------------------------------------------------------------------------------------------ peers */

/* Connects to an endpoint by its address. Names of hosts are looked up meanwhile, and all their addresses are tried;
 * each of it takes at most `peer_timeout_ms`. The peer that the operation yields is cn_operation_peer(). Two endpoints
 * have one connection, whoever connects first; later calls get the same peer. */
CN_API cn_status cn_connect(cn_endpoint* endpoint, const char* address, const cn_call* call, cn_operation** operation);
/* Returns the peer of a connection that has succeeded; else NULL. */
CN_API cn_peer* cn_operation_peer(const cn_operation* operation);
/* Returns the connected peer of a name; NULL if there is none. A peer is valid until its endpoint is closed; functions
 * that get it soon after that return CN_CLOSED. */
CN_API cn_peer* cn_find_peer(cn_endpoint* endpoint, const char* name);
/* Returns the name of a peer. */
CN_API const char* cn_peer_name(const cn_peer* peer);
/* Returns the name of the transport that connects a peer. */
CN_API const char* cn_peer_transport(const cn_peer* peer);
/* Returns whether a peer is connected. */
CN_API bool cn_peer_is_connected(const cn_peer* peer);
/* Disconnects a peer: its operations end with CN_CANCELLED, there with CN_PEER_LOST. It may be connected again. */
CN_API cn_status cn_disconnect(cn_peer* peer);

/* ------------------------------------------------------------------------------------------------ messages */

/* Sends `size` bytes to a handler of a peer. Messages of one channel arrive in their order. The operation ends when the
 * bytes may be changed: once they are on their way, not when they have arrived. */
CN_API cn_status cn_send(cn_peer* peer, uint32_t handler, uint32_t channel, const void* data, size_t size,
                         const cn_call* call, cn_operation** operation);

/* Gets a message, which is valid until the handler returns, unless it is kept. */
typedef void (*cn_handler)(void* user, cn_message* message);
/* Sets the handler of a number; NULL removes it. When the function returns, the handler that was set before is not
 * running and is not called again, unless it is the one that calls the function. Messages without a handler wait for
 * one, within the window. Once their peer has left, those of all peers that have left wait within one window; beyond
 * it, they are freed, and the event CN_EVENT_LEFT says how many. */
CN_API cn_status cn_set_handler(cn_endpoint* endpoint, uint32_t number, cn_handler handler, void* user);
/* Makes messages for a number events, see cn_next_event(). */
CN_API cn_status cn_set_event_handler(cn_endpoint* endpoint, uint32_t number, void* user);

CN_API const void* cn_message_data(const cn_message* message);
CN_API size_t cn_message_size(const cn_message* message);
CN_API cn_peer* cn_message_peer(const cn_message* message);
CN_API uint32_t cn_message_handler(const cn_message* message);
CN_API uint32_t cn_message_channel(const cn_message* message);
/* Keeps a message after its handler has returned. It must be released, and counts for the window until then. */
CN_API void cn_message_keep(cn_message* message);
/* Releases a message that was kept, or that came with an event. NULL: does nothing. */
CN_API void cn_message_release(cn_message* message);

/* ------------------------------------------------------------------------------------------------ memory */

enum { CN_TOKEN_SIZE = 64 };
/* What names a memory, and allows to read or to write it. Tokens are bytes that may be sent; they cannot be guessed. */
typedef struct cn_token {
  uint8_t bytes[CN_TOKEN_SIZE];
} cn_token;

enum { CN_READ = 1, CN_WRITE = 2 }; /* what peers may do with a memory */

/* Registers `size` bytes at `data`, which must live until the memory is released. */
CN_API cn_status cn_memory_register(cn_endpoint* endpoint, void* data, size_t size, uint32_t rights,
                                    cn_memory** result);
/* Allocates `size` bytes, which are zero, and registers them. Sets *data to where they are. Peers of the same host and
 * user read and write them without a system call. cn_memory_release() frees them. */
CN_API cn_status cn_memory_alloc(cn_endpoint* endpoint, size_t size, uint32_t rights, void** data, cn_memory** result);
/* Sets *token to one that allows `rights`, a part of those of the memory. */
CN_API cn_status cn_memory_token(const cn_memory* memory, uint32_t rights, cn_token* token);
/* Ends the registration: all its tokens become invalid, and no peer accesses the memory any more when the function
 * returns. Memory of cn_memory_alloc() is freed. NULL: does nothing. */
CN_API void cn_memory_release(cn_memory* memory);
/* Returns the bytes of the memory that a token names. */
CN_API uint64_t cn_token_size(const cn_token* token);

/* Reads bytes [offset, offset + size) of a peer's memory into `destination`, which must live until the end. */
CN_API cn_status cn_read(cn_peer* peer, const cn_token* token, uint64_t offset, void* destination, size_t size,
                         const cn_call* call, cn_operation** operation);
/* Writes `size` bytes to [offset, offset + size) of a peer's memory. Ends when they are there. */
CN_API cn_status cn_write(cn_peer* peer, const cn_token* token, uint64_t offset, const void* source, size_t size,
                          const cn_call* call, cn_operation** operation);

/* ------------------------------------------------------------------------------------------------ event loops */

typedef enum cn_event_kind {
  CN_EVENT_DONE = 1,    /* an operation with CN_EVENT has ended */
  CN_EVENT_MESSAGE = 2, /* a message for a number with an event handler; the receiver must release it */
  CN_EVENT_JOINED = 3,  /* a peer has connected, whoever began */
  CN_EVENT_LEFT = 4     /* a peer has left or was lost */
} cn_event_kind;

typedef struct cn_event {
  uint32_t struct_size; /* sizeof(cn_event), set by the caller; fields beyond it are not written */
  cn_event_kind kind;
  void* user;          /* of the call or of the event handler */
  cn_status status;    /* of the operation; of a peer that left, why */
  const char* error;   /* its text; NULL for CN_OK. Valid until the next call of cn_next_event() on this endpoint */
  cn_message* message; /* of CN_EVENT_MESSAGE */
  cn_peer* peer;       /* of CN_EVENT_JOINED and CN_EVENT_LEFT */
} cn_event;

/* Sets whether peers that join and leave become events; by default they do not. */
CN_API cn_status cn_watch_peers(cn_endpoint* endpoint, bool watch);
/* Takes the next event, for which it waits at most `timeout_ms` (0: not at all, negative: without a limit). Returns
 * CN_TIMED_OUT if there is none. */
CN_API cn_status cn_next_event(cn_endpoint* endpoint, cn_event* event, int64_t timeout_ms);
/* Returns a file descriptor that is readable while there are events, for an event loop. It belongs to the endpoint.
 * With CN_MANUAL_PROGRESS it is readable while there is work for cn_progress(), too. */
CN_API int cn_event_descriptor(cn_endpoint* endpoint);
/* Does the work that is there, for endpoints with CN_MANUAL_PROGRESS. Waits for some for at most `timeout_ms` (0: not
 * at all). */
CN_API cn_status cn_progress(cn_endpoint* endpoint, int64_t timeout_ms);

/* ------------------------------------------------------------------------------------------------ jobs */

/* How the endpoints of a job find each other. Zero in a field means its default. */
typedef struct cn_job_options {
  uint32_t struct_size; /* sizeof(cn_job_options) */
  uint32_t rank, size;  /* this endpoint's number, and how many there are, at most 1,048,576; size 0: from the
                           environment of mpirun or Slurm, or COMMNET_RANK and COMMNET_SIZE */
  const char* meeting;  /* "file:/a/folder" that all processes share and that is empty before, or
                           "tcp://host:port", where the endpoint of rank 0 opens a rendezvous service; default:
                           COMMNET_MEETING */
  uint32_t timeout_ms;  /* default: 60,000 */
} cn_job_options;

/* Connects an endpoint with all others of its job, and waits until each is connected with each: whoever leaves after
 * that is in nobody's way. One that leaves before makes it fail with CN_PEER_LOST. Sets peers[i] to the peer of rank i,
 * for all ranks up to `size`; that of its own rank is NULL. `options` may be NULL if the environment says everything.
 * `capacity` is the length of `peers`. Returns CN_CANCELLED if the endpoint is closed meanwhile. */
CN_API cn_status cn_join(cn_endpoint* endpoint, const cn_job_options* options, cn_peer** peers, uint32_t capacity);
/* Sets *rank and *size to what the environment says. Returns CN_UNSUPPORTED if it does not. */
CN_API cn_status cn_job_of_environment(uint32_t* rank, uint32_t* size);

#ifdef __cplusplus
}
#endif

#endif /* COMMNET_COMMNET_H_ */
