// The table of the transport over UCX.
#include "core/transports.h"
#include "transports/table.h"
#include "transports/ucx/transport.h"

namespace commnet {
constinit const cn_transport_table kUcx = table_of<ucx::Transport, ucx::Connection>(
    {.name = "ucx", .schemes = "ucx", .keeps_payloads = true, .has_hosts = true});
}  // namespace commnet
