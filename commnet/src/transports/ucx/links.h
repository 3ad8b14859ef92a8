// The endpoints of UCP by which a worker reaches others.
#ifndef COMMNET_TRANSPORTS_UCX_LINKS_H_
#define COMMNET_TRANSPORTS_UCX_LINKS_H_

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "transports/ucx/access.h"
#include "transports/ucx/library.h"

namespace commnet::ucx {

struct Connection;
struct Link;
class Links;

constexpr uint32_t kNoLink = UINT32_MAX;

// Another worker. It is kept when its links are gone, as their numbers are not used twice.
struct Other {
  uint32_t next = 0;  // the number of the next link
  Link* last = nullptr;
};

// An endpoint of UCP. The connections between the same two workers share one: UCX joins the n-th endpoint that a worker
// makes for another one with the n-th that this one makes for it, and when one is closed, the other one fails. Both
// sides therefore agree on the number of the link of a connection, and close it with its last connection.
struct Link {
  Links& owner;
  Other& other;
  const uint32_t number;
  ucp_ep_h endpoint = nullptr;
  int reaches_memory = -1;  // whether the devices access memory by themselves, once it is known
  bool is_connecting = true, is_connected = false;
  bool has_failed = false;
  bool is_closing = false;
  std::vector<Connection*> users{};

  bool is_usable() const { return endpoint && !has_failed; }
};

class Links {
 public:
  // `told` is called for those that use a link which is connected, or, with the reason, for those whose link fails or
  // is closed. It must not call this object.
  using Told = void (*)(Connection& user, const char* failure);
  Links(const Library& ucp, ucp_worker_h worker, Told told) : ucp_(ucp), worker_(worker), told_(told) {}

  // Returns the number of the last link to the worker with an address, if it can be used; else kNoLink.
  uint32_t usable(const std::string& address) const;
  // Returns the number of the next link to it that is made.
  uint32_t next(const std::string& address) const;
  // Has a connection use a link, which is made if its number is not yet taken. Throws Error if it is closed.
  Link& use(const std::string& address, uint32_t number, Connection& user);
  // Returns whether memory of the other side is accessed over a link by gets and puts.
  bool reaches_memory(Link& link, AccessRule rule) const;
  // Ends the use of a link by a connection. The last one closes it.
  void leave(Link& link, Connection& user) noexcept;
  // Closes a link at once.
  void close(Link& link) noexcept;
  // Frees those that are closed. Returns whether all are.
  bool clean() noexcept;

 private:
  Link& make(const std::string& address, Other& other);
  void connect(Link& link);
  void tell(const Link& link, const char* failure) const;

  const Library& ucp_;
  const ucp_worker_h worker_;
  const Told told_;
  std::map<std::string, Other> others_;  // by the addresses of their workers
  std::list<Link> links_;
  size_t closed_ = 0;  // of them
};

}  // namespace commnet::ucx

#endif  // COMMNET_TRANSPORTS_UCX_LINKS_H_
