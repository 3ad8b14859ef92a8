// What endpoints are created with.
#ifndef COMMNET_CORE_SETTINGS_H_
#define COMMNET_CORE_SETTINGS_H_

#include <commnet/commnet.h>

#include <cstdint>
#include <string>

#include "core/operation.h"
#include "core/secure.h"

namespace commnet {

struct Settings {
  std::string name, transports, listen;
  Key key{};
  bool is_manual = false;
  Clock::duration busy_poll{}, peer_timeout{}, linger{};
  uint32_t streams = 0;
  uint64_t receive_window = 0, send_limit = 0, message_limit = 0;
};

// Returns the settings that options ask for. Throws Error.
Settings settings_of(const cn_endpoint_options* options);

// Whether a program can have been compiled with a struct of this size, which may lack the last fields. Others would cut
// a pointer in two.
template <class Struct>
bool is_struct_size(uint32_t size, const Struct&) {
  return size > 0 && size <= sizeof(Struct) && size % alignof(Struct) == 0;
}

}  // namespace commnet

#endif  // COMMNET_CORE_SETTINGS_H_
