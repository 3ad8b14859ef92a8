/* The table of functions that a transport provides. A transport moves frames between two endpoints; handshake, tokens,
 * windows and timeouts are the business of the library above it.
 *
 * Rules:
 *   - All functions of one endpoint, in both directions, are called under its lock: a transport needs no locks of its
 *     own, and must not wait. Threads of its own must not call the host, except for wake().
 *   - A frame is a header of CN_FRAME_HEADER bytes, whose last eight are the size of the payload, and the payload. The
 *     frames of a connection arrive complete, once, and in the order in which they were sent; or the connection breaks.
 *   - The host's functions are called from progress() only, but for fail(), wake(), sent() and writable(): the library
 *     does not expect that a connection ends while it sends.
 *   - What comes from the other side is not to be believed: a transport checks all lengths that it reads itself.
 */
#ifndef COMMNET_TRANSPORT_H_
#define COMMNET_TRANSPORT_H_

#include <commnet/commnet.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CN_TRANSPORT_VERSION = 3, CN_FRAME_HEADER = 48, CN_LARGEST_KEY = 256 };

/* The endpoint as a transport sees it, a transport opened for it, and one connection as each side sees it. */
typedef struct cn_host_endpoint cn_host_endpoint;
typedef struct cn_host_connection cn_host_connection;
typedef struct cn_transport cn_transport;
typedef struct cn_connection cn_connection;
/* Memory of the other side of a connection. */
typedef struct cn_remote cn_remote;

/* Memory of this process that others may access. */
typedef struct cn_region {
  uint64_t id;     /* not 0; no other region of the endpoint has it, also later */
  uint32_t rights; /* what the other side may do with it: CN_READ, CN_WRITE or both */
  void* data;
  uint64_t size;
  int file; /* -1, or the file of a memory of cn_memory_alloc(), which it holds from its beginning on */
} cn_region;

/* What the other side of a connection needs to access a region; the library sends it there. */
typedef struct cn_grant {
  uint64_t number;
  uint32_t size; /* of the key */
  uint8_t key[CN_LARGEST_KEY];
} cn_grant;

/* What the library does for transports. */
typedef struct cn_transport_host {
  uint32_t struct_size;
  /* Records the text of an error for the calling thread, and returns `status`. */
  cn_status (*fail)(cn_status status, const char* text);
  /* Says that a connection of connect() stands: frames can be sent. */
  void (*connected)(cn_host_connection* connection);
  /* Announces a connection that the other side has begun. Returns NULL if it is not wanted; the transport then drops
   * it. */
  cn_host_connection* (*accepted)(cn_host_endpoint* endpoint, cn_transport* transport, cn_connection* connection);
  /* Gives the header of a frame that arrives. Sets *payload to where its `size` bytes go, or to NULL if they are to be
   * dropped. Returns false if the frame is not acceptable: the transport then closes the connection, and calls
   * broken().
   */
  bool (*begin_frame)(cn_host_connection* connection, const void* header, uint64_t size, void** payload);
  /* Says that the payload of the frame of the last begin_frame() is complete. Returns false like begin_frame(). */
  bool (*end_frame)(cn_host_connection* connection);
  /* Says that the payload of a frame has been sent and is no longer used. Not called for frames without a cookie. */
  void (*sent)(cn_host_connection* connection, uint64_t cookie);
  /* Says that more frames can be sent. Called after send() has returned that no more can. */
  void (*writable)(cn_host_connection* connection);
  /* Says that a connection has ended, for which no function is called any more, but disconnect(). */
  void (*broken)(cn_host_connection* connection, cn_status status, const char* text);
  /* Makes the endpoint call progress() soon. May be called from any thread, without the lock. */
  void (*wake)(cn_host_endpoint* endpoint);
  /* Says that bytes have arrived of a frame that is not complete: over a slow network, a frame may take longer than
   * the time after which a silent peer is lost. */
  void (*heard)(cn_host_connection* connection);
  /* Says how a get() or a put() has ended that goes on after it has returned. */
  void (*moved)(cn_host_connection* connection, uint64_t cookie, cn_status status, const char* text);
} cn_transport_host;

/* What a transport gets when it is opened. */
typedef struct cn_transport_settings {
  uint32_t struct_size;
  const char* endpoint_name;
  const char* listen; /* URLs, separated by commas, of which it takes those with its schemes; "": its default; "none" */
  bool is_named;      /* whether the options name the transport; else it is one of all */
} cn_transport_settings;

typedef struct cn_transport_table {
  uint32_t struct_size; /* sizeof(cn_transport_table) */
  uint32_t version;     /* CN_TRANSPORT_VERSION */
  const char* name;     /* lower-case letters, digits and _ */
  const char* schemes;  /* of the URLs that it understands: "tcp,unix" */
  bool keeps_payloads;  /* whether detach() may have to wait until payloads under way have arrived */
  bool has_hosts;       /* whether they are "scheme://host:port": the library then looks up the names of hosts, and
                           the transport sees numbers */
  bool is_flush_cheap;  /* whether flush() costs little: frames of calls that follow each other need not wait for it */
  bool has_streams;     /* whether several connections of two endpoints carry more than one (options: streams) */

  /* Opens the transport for an endpoint. CN_UNSUPPORTED says that this machine lacks something it needs. */
  cn_status (*open)(const cn_transport_host* host, cn_host_endpoint* endpoint, const cn_transport_settings* settings,
                    cn_transport** transport);
  /* Closes it. All its connections are disconnected already. */
  void (*close)(cn_transport* transport);
  /* Returns the URLs at which others can connect, separated by commas; "" if there are none. */
  const char* (*address)(cn_transport* transport);
  /* Returns a descriptor that is readable while progress() has something to do; -1: wake() says so. */
  int (*descriptor)(cn_transport* transport);
  /* Does what can be done without waiting. Returns whether it has done anything. */
  bool (*progress)(cn_transport* transport);

  /* Begins a connection. Its end is reported by connected() or broken(), after the function has returned. */
  cn_status (*connect)(cn_transport* transport, const char* url, cn_host_connection* host_connection,
                       cn_connection** connection);
  /* Ends a connection at once: what was not sent is lost, and no payload is used any more. Frees it. */
  void (*disconnect)(cn_connection* connection);
  /* Takes a frame. A payload without a cookie (0) is copied; one with a cookie is used until sent() is called. Returns
   * whether more frames can be sent now; if not, the frame is taken nevertheless, and writable() follows. */
  bool (*send)(cn_connection* connection, const void* header, const void* payload, uint64_t size, uint64_t cookie);
  /* Begins to send what was taken. Called after a series of frames. */
  void (*flush)(cn_connection* connection);
  /* Stops the use of a range of memory: payloads in it that are to be sent are copied, and what arrives for it is
   * dropped. sent() and end_frame() follow as they would. NULL and UINT64_MAX stand for all memory. */
  void (*detach)(cn_connection* connection, const void* begin, uint64_t size);

  /* Returns whether frames were taken that have not been sent. */
  bool (*has_unsent)(cn_connection* connection);

  /* (optional, all or none) For connections whose sides access each other's memory without asking; default: all data
   * travels in frames. reaches_memory() says whether this is so for a connection.
   *
   * expose() allows the other side to access a region, and sets *grant. CN_UNSUPPORTED: not this region, whose data
   * travels in frames. revoke() ends what was allowed on a connection for a region (0: for all), and waits until the
   * other side does not access it any more; it returns false if that takes too long, and the library then closes the
   * connection. It may end more than that: the other side is told anew what it asks for.
   * forget() says that a region is no longer registered; nobody is allowed to access it then. */
  bool (*reaches_memory)(cn_connection* connection);
  cn_status (*expose)(cn_connection* connection, const cn_region* region, cn_grant* grant);
  bool (*revoke)(cn_connection* connection, uint64_t region);
  void (*forget)(cn_transport* transport, uint64_t region);
  /* open_remote() prepares to access a region of the other side, of `size` bytes. What it sets is freed by
   * close_remote(), which comes before disconnect(); copies that go on end as they would.
   *
   * get() copies bytes from the region at an offset, put() copies bytes to it. They set *size to how many bytes they
   * have copied, which may be fewer than were wanted, but not 0; a transport that copies by itself copies no more than
   * some hundred kilobytes at a time. Or they set *size to how many bytes will be copied, and *goes_on; moved()
   * follows. Until then, they use the memory of this side as send() uses a payload with a cookie. CN_CANCELLED says
   * that the grant was revoked, CN_UNSUPPORTED that the region can no longer be reached, and data has to travel in
   * frames, CN_PEER_LOST that the connection has broken. */
  cn_status (*open_remote)(cn_connection* connection, const cn_grant* grant, uint64_t size, cn_remote** remote);
  void (*close_remote)(cn_connection* connection, cn_remote* remote);
  cn_status (*get)(cn_connection* connection, cn_remote* remote, uint64_t offset, void* to, uint64_t* size,
                   uint64_t cookie, bool* goes_on);
  cn_status (*put)(cn_connection* connection, cn_remote* remote, uint64_t offset, const void* from, uint64_t* size,
                   uint64_t cookie, bool* goes_on);
  /* (optional) Stops to receive frames of a connection, or goes on. Bytes stay with the system, so that the other side
   * has to wait. Called while the other side asks for things but does not read the answers. Default: the connection is
   * closed. */
  void (*pause)(cn_connection* connection, bool pauses);
  /* (optional) Prepares for the endpoint's sleep: the descriptor becomes readable once there is something to do, until
   * the next progress(). Returns false if there is something already. Default: the descriptor always tells. */
  bool (*rest)(cn_transport* transport);
} cn_transport_table;

/* Makes a transport available to endpoints that are created later. The table must live as long as the process. */
CN_API cn_status cn_register_transport(const cn_transport_table* table);

#ifdef __cplusplus
}
#endif

#endif /* COMMNET_TRANSPORT_H_ */
