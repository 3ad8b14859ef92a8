// A transport over pairs of sockets, between endpoints of one process. docs/add-a-transport.md explains it.
#ifndef COMMNET_EXAMPLES_TRANSPORT_PAIRS_H_
#define COMMNET_EXAMPLES_TRANSPORT_PAIRS_H_

#include <commnet/transport.h>

// The table of the transport "pairs", for cn_register_transport().
const cn_transport_table* pairs_transport();

#endif  // COMMNET_EXAMPLES_TRANSPORT_PAIRS_H_
