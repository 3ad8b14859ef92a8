// Peers that a job has made known: the first operation connects them. Operations wait in the queues in which they would
// wait for a connected peer, so that they have their order, their limit, and their timeouts.
#include "core/endpoint.h"
#include "core/peer.h"
#include "core/status.h"

namespace commnet {

void Peer::introduce(const std::string& address) {
  address_ = address;
  connects_on_use_ = !is_connected_;
}

void Peer::require_usable() const {
  if (!is_usable()) fail(CN_PEER_LOST, "the peer '%s' is not connected", name().c_str());
}

void Peer::connect() noexcept {
  if (connecting_) return;
  try {
    const auto connection =
        std::make_shared<Operation>(endpoint_.shared_from_this(), Operation::Kind::kConnect, nullptr);
    connection->peer = this;
    connecting_ = connection;
    endpoint_.begin_connecting(address_, connection);
  } catch (...) {
    const cn_status status = set_error_of_exception();
    if (const OperationPointer failed = connecting_)
      endpoint_.finish(failed, status, cn_error());
    else
      end_operations(status, cn_error());
  }
}

void Peer::connection_ended(const OperationPointer& connection) noexcept {
  if (connecting_ != connection) return;
  connecting_ = nullptr;
  if (is_connected_) return;
  std::string why;
  try {
    why = "the peer '" + name() + "' is not connected: " + connection->text;
  } catch (...) {
    keep_text(why, connection->text);
  }
  end_operations(connection->status, why);
}

void Peer::end_connecting(cn_status status, const std::string& text) noexcept {
  if (const OperationPointer connection = connecting_) endpoint_.end_early(connection, status, text.c_str());
}

}  // namespace commnet
