// Tries out texts and tokens that come from outside: URLs, options, addresses, files of a job, its environment, tokens.
#include <commnet/commnet.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/endpoint.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/transports.h"
#include "transports/sockets/url.h"

namespace {

using namespace commnet;

// Errors are an answer, too; anything else is a fault.
template <class Call>
void try_out(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    if (error.status() == CN_OK || error.text().empty()) std::abort();
  }
}

void parse_url(const std::string& text) {
  for (const char* const scheme : {"", "tcp://", "unix:"})
    try_out([&] {
      const sockets::Address address = sockets::parse(scheme + text);
      if (address.size > sizeof address.storage) std::abort();
      if (address.file().size() >= sizeof address.storage) std::abort();
    });
}

void read_options(const uint8_t* bytes, size_t size, const std::string& text) {
  cn_endpoint_options options{};
  std::memcpy(&options, bytes, std::min(size, sizeof options));
  // Its pointers are the business of the program.
  options.name = text.c_str();
  options.secret = text.data();
  options.secret_size = text.size();
  options.transports = options.listen = text.c_str();
  try_out([&] { settings_of(&options); });
  options.struct_size = sizeof options;
  try_out([&] {
    const Settings settings = settings_of(&options);
    if (settings.name != text.c_str() || settings.streams == 0 || settings.streams > 16) std::abort();
  });
  try_out([&] { chosen_transports(text); });
}

void look_for(const uint8_t* bytes, size_t size) {
  static char data[100];
  static MemoryTable& table = *new MemoryTable;
  static const cn_token right = token_of(*table.add(data, sizeof data, CN_READ), CN_READ);
  // A right token in which the input changes some bytes.
  cn_token token = right;
  uint64_t offset = 0, length = 0;
  for (size_t i = 0; i + 1 < size; i += 2) token.bytes[bytes[i] % sizeof token.bytes] ^= bytes[i + 1];
  std::memcpy(&offset, bytes, std::min(size, sizeof offset));
  if (size > sizeof offset) std::memcpy(&length, bytes + sizeof offset, std::min(size - sizeof offset, sizeof length));
  cn_token_size(&token);
  for (const uint32_t rights : {CN_READ, CN_WRITE})
    try_out([&] {
      const auto found = table.find(token, rights, offset, length);
      if (rights != CN_READ || offset > sizeof data || length > sizeof data - offset) std::abort();
    });
}

cn_endpoint* visitor() {
  static cn_endpoint* const endpoint = [] {
    cn_endpoint_options options{};
    options.struct_size = sizeof options;
    options.name = "a";
    options.transports = "memory";
    options.flags = CN_MANUAL_PROGRESS;
    cn_endpoint* created = nullptr;
    if (cn_endpoint_create(&options, &created) != CN_OK) std::abort();
    return created;
  }();
  return endpoint;
}

void connect(const std::string& text) {
  cn_operation* operation = nullptr;
  if (cn_connect(visitor(), text.c_str(), nullptr, &operation) != CN_OK) return;
  cn_progress(visitor(), 0);
  cn_cancel(operation);
  cn_operation_release(operation);
}

// The file of another rank of a job has the text.
void meet(const std::string& text) {
  static std::string& folder = *new std::string;
  if (folder.empty()) {
    char name[] = "/tmp/commnet-fuzz-XXXXXX";
    if (!mkdtemp(name)) std::abort();
    folder = name;
    std::atexit([] { std::filesystem::remove_all(folder); });
  }
  static const std::string meeting = "file:" + folder;
  std::ofstream(folder + "/1", std::ios::binary) << text;
  const cn_job_options options{sizeof options, 0, 2, meeting.c_str(), 1};
  cn_peer* peers[2] = {};
  if (cn_join(visitor(), &options, peers, 2) == CN_OK) std::abort();
}

void read_environment(const std::string& text) {
  setenv("COMMNET_RANK", text.c_str(), 1);
  setenv("COMMNET_SIZE", text.c_str(), 1);
  uint32_t rank = 0, size = 0;
  if (cn_job_of_environment(&rank, &size) == CN_OK && rank != size) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  // A meeting takes much longer than the others.
  if (bytes[0] == 0) return meet(text), 0;
  switch (bytes[0] % 7) {
    case 1:
      read_environment(text);
      break;
    case 2:
    case 3:
      read_options(bytes + 1, size - 1, text);
      break;
    case 4:
      look_for(bytes + 1, size - 1);
      break;
    case 5:
      connect(text);
      break;
    default:
      parse_url(text);
  }
  return 0;
}
