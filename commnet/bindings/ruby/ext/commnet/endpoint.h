// Commnet::Endpoint: what keeps the objects of one endpoint, and hands out its events.
#pragma once

#include <commnet/commnet.h>
#include <ruby.h>

namespace commnet::ruby {

struct Operation;
struct Memory;

// All fields are guarded by Ruby's lock.
struct Endpoint {
  cn_endpoint* handle;
  unsigned fork;  // fork_count() at its creation
  bool is_open;
  int events, wake;       // a duplicate of the descriptor of events, and an eventfd that ends waits for it
  VALUE peers;            // a Hash from addresses of cn_peer to Peers
  VALUE joinings;         // an Array of the calls of cn_join() that go on
  Operation* operations;  // those that go on, whose objects and bytes it keeps
  Memory* memories;       // those that are registered, likewise
};

// Defines the class.
void define_endpoint(VALUE module);

Endpoint& endpoint_of(VALUE value);
// Returns the endpoint if it can be used. Raises Closed.
Endpoint& open_endpoint_of(VALUE value);
// Returns whether the endpoint is open, and of this process.
bool is_usable(const Endpoint& endpoint);

// Returns the object of a peer, the same each time.
VALUE peer_object(VALUE endpoint, cn_peer* peer);

}  // namespace commnet::ruby
