// The transports that there are, and what the library does for them.
#ifndef COMMNET_CORE_TRANSPORTS_H_
#define COMMNET_CORE_TRANSPORTS_H_

#include <commnet/transport.h>

#include <string>
#include <string_view>
#include <vector>

namespace commnet {

// Returns the transports of a list of names, or all for an empty list, best first. Throws Error for unknown names.
std::vector<const cn_transport_table*> chosen_transports(const std::string& names);
// Returns whether a transport understands a URL.
bool understands(const cn_transport_table& table, std::string_view url);
// Splits a text at its commas.
std::vector<std::string> split_list(std::string_view text);
const cn_transport_host& transport_host();

// The transports of this library, of which COMMNET_TRANSPORTS lists those that were built.
extern const cn_transport_table kShared, kSockets, kUcx, kWithinProcess;

}  // namespace commnet

#endif  // COMMNET_CORE_TRANSPORTS_H_
