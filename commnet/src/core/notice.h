// What an endpoint is to tell its program, by a callback or an event.
#ifndef COMMNET_CORE_NOTICE_H_
#define COMMNET_CORE_NOTICE_H_

#include <commnet/commnet.h>

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace commnet {

class Peer;
struct Operation;

struct Handler {
  cn_handler function = nullptr;
  void* user = nullptr;
  bool as_event = false;
};

struct Notice {
  std::shared_ptr<Operation> operation;  // that has ended; or
  cn_message* message = nullptr;         // that has arrived
  Handler handler;                       // that gets it
  // Of an event.
  cn_event_kind kind{};
  void* user = nullptr;
  cn_status status = CN_OK;
  std::string text;
  Peer* peer = nullptr;
};

// Notices are made when something begins, and are moved between lists later: that an operation ends needs no memory.
using Notices = std::list<Notice>;

// Notices that are used again. Guarded by the endpoint's lock.
class SpareNotices {
 public:
  // Returns a list with one empty notice.
  Notices take() {
    Notices taken;
    if (notices_.empty()) notices_.emplace_back();
    taken.splice(taken.begin(), notices_, notices_.begin());
    return taken;
  }
  // Takes empty notices back.
  void put(Notices& notices) noexcept {
    for (Notice& each : notices) each = {};
    if (notices_.size() < kMost)
      notices_.splice(notices_.end(), notices);
    else
      notices.clear();
  }

 private:
  static constexpr size_t kMost = 4096;
  Notices notices_;
};

// Sets a text, or a short one that needs no memory if there is none.
inline void keep_text(std::string& to, std::string_view text) noexcept {
  try {
    to.assign(text);
  } catch (...) {
    to = "no memory left";
  }
}

}  // namespace commnet

#endif  // COMMNET_CORE_NOTICE_H_
