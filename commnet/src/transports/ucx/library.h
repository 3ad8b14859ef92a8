// The functions of UCP, from a library that is loaded when the first endpoint needs it.
#ifndef COMMNET_TRANSPORTS_UCX_LIBRARY_H_
#define COMMNET_TRANSPORTS_UCX_LIBRARY_H_

#include <ucp/api/ucp.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace commnet::ucx {

#define COMMNET_UCX_FUNCTIONS(X)    \
  X(ucp_get_version)                \
  X(ucp_init_version)               \
  X(ucp_cleanup)                    \
  X(ucp_config_read)                \
  X(ucp_config_modify)              \
  X(ucp_config_release)             \
  X(ucp_context_print_info)         \
  X(ucp_mem_map)                    \
  X(ucp_mem_unmap)                  \
  X(ucp_rkey_pack)                  \
  X(ucp_rkey_buffer_release)        \
  X(ucp_worker_create)              \
  X(ucp_worker_destroy)             \
  X(ucp_worker_progress)            \
  X(ucp_worker_get_efd)             \
  X(ucp_worker_arm)                 \
  X(ucp_worker_get_address)         \
  X(ucp_worker_release_address)     \
  X(ucp_worker_set_am_recv_handler) \
  X(ucp_ep_create)                  \
  X(ucp_ep_close_nbx)               \
  X(ucp_ep_flush_nbx)               \
  X(ucp_ep_print_info)              \
  X(ucp_ep_rkey_unpack)             \
  X(ucp_rkey_destroy)               \
  X(ucp_get_nbx)                    \
  X(ucp_put_nbx)                    \
  X(ucp_am_send_nbx)                \
  X(ucp_am_recv_data_nbx)           \
  X(ucp_am_data_release)            \
  X(ucp_request_free)               \
  X(ucs_status_string)

struct Library {
#define COMMNET_UCX_MEMBER(name) decltype(&::name) name = nullptr;
  COMMNET_UCX_FUNCTIONS(COMMNET_UCX_MEMBER)
#undef COMMNET_UCX_MEMBER
};

// The version of the interface that is used. Later libraries have it, too.
constexpr unsigned kMajor = 1, kMinor = 12;

// Returns what a function of UCX prints to a file.
template <class Print>
std::string printed(Print&& print) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* const file = open_memstream(&text, &size);
  if (!file) return "";
  print(file);
  std::fclose(file);
  std::string result(text, size);
  std::free(text);
  return result;
}

// Returns the library, which stays loaded. Throws Error with CN_UNSUPPORTED if there is none, or one that is too old.
const Library& library();

}  // namespace commnet::ucx

#endif  // COMMNET_TRANSPORTS_UCX_LIBRARY_H_
