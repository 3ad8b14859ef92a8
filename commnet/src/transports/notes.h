// A list of the connections of a transport that are to be looked at later. To add one needs no memory.
#ifndef COMMNET_TRANSPORTS_NOTES_H_
#define COMMNET_TRANSPORTS_NOTES_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace commnet {

template <class Connection>
class Notes {
 public:
  // `is_noted` is the member of a connection that says whether it is in this list.
  explicit Notes(bool Connection::*is_noted) : is_noted_(is_noted) {}

  // Makes room for all connections of the transport.
  void make_room(size_t connections) {
    noted_.reserve(connections);
    taken_.reserve(connections);
  }
  void add(Connection& connection) noexcept {
    if (connection.*is_noted_) return;
    connection.*is_noted_ = true;
    noted_.push_back(&connection);
  }
  void erase(Connection& connection) noexcept {
    connection.*is_noted_ = false;
    std::erase(noted_, &connection);
    std::ranges::replace(taken_, &connection, nullptr);
  }
  bool empty() const { return noted_.empty(); }
  // Empties the list, and calls `look` for each connection that was in it. What is added meanwhile stays for the next
  // time, also if `look` leads here again.
  template <class Look>
  void take(Look&& look) {
    if (!taken_.empty()) return;
    taken_.swap(noted_);
    for (size_t i = 0; i < taken_.size(); ++i) {
      if (Connection* const connection = taken_[i]) {
        connection->*is_noted_ = false;
        look(*connection);
      }
    }
    taken_.clear();
  }

 private:
  bool Connection::*is_noted_;
  std::vector<Connection*> noted_, taken_;
};

}  // namespace commnet

#endif  // COMMNET_TRANSPORTS_NOTES_H_
