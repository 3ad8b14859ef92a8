// Commnet::Peer: another endpoint, and the operations with it.
#pragma once

#include <commnet/commnet.h>
#include <ruby.h>

namespace commnet::ruby {

// Creates the object of a peer, which peer_object() keeps.
VALUE new_peer(VALUE endpoint, cn_peer* handle);

// Defines the class.
void define_peer(VALUE module);

}  // namespace commnet::ruby
