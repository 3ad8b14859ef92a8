#include "network/process.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <random>

#include "support.h"

namespace commnet::tests {

namespace {

void echo(void*, cn_message* message) {
  cn_call call{};
  call.struct_size = sizeof call;
  call.flags = CN_COPY;
  cn_send(cn_message_peer(message), Process::kEcho, cn_message_channel(message), cn_message_data(message),
          cn_message_size(message), &call, nullptr);
}

bool write_all(int to, const void* data, size_t size) { return write(to, data, size) == static_cast<ssize_t>(size); }

[[noreturn]] void serve(const char* listen, const std::string& name, uint32_t peer_timeout_ms, int news) {
  cn_endpoint* const endpoint = make_endpoint(name, "sockets", [&](auto& options) {
                                  options.listen = listen;
                                  options.peer_timeout_ms = peer_timeout_ms;
                                }).release();
  std::vector<uint8_t> bytes = Process::content();
  cn_memory* memory = nullptr;
  cn_token token{};
  cn_memory_register(endpoint, bytes.data(), bytes.size(), CN_READ | CN_WRITE, &memory);
  cn_memory_token(memory, CN_READ | CN_WRITE, &token);
  cn_set_handler(endpoint, Process::kEcho, echo, nullptr);
  cn_watch_peers(endpoint, true);
  char address[256] = {};
  std::strncpy(address, cn_endpoint_address(endpoint), sizeof address - 1);
  if (!write_all(news, address, sizeof address) || !write_all(news, &token, sizeof token)) _exit(1);
  for (;;) {
    cn_event event{};
    event.struct_size = sizeof event;
    if (cn_next_event(endpoint, &event, -1) != CN_OK) _exit(1);
    const char kind = static_cast<char>(event.kind);
    if (!write_all(news, &kind, 1)) _exit(1);
  }
}

bool read_all(int from, void* data, size_t size) {
  for (auto* to = static_cast<char*>(data); size > 0;) {
    const ssize_t count = read(from, to, size);
    if (count <= 0) return false;
    to += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

Process::Process(const Link& link, Side side, const std::string& name, uint32_t peer_timeout_ms) {
  int ends[2];
  if (pipe(ends) != 0) return;
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    link.enter(side);
    serve(side == Side::kLeft ? "tcp://10.77.0.1:0" : "tcp://10.77.0.2:0", name, peer_timeout_ms, ends[1]);
  }
  close(ends[1]);
  news_ = ends[0];
  char address[256] = {};
  EXPECT_TRUE(read_all(news_, address, sizeof address) && read_all(news_, &token_, sizeof token_));
  address_ = address;
}

std::vector<uint8_t> Process::content() {
  std::mt19937_64 random(11);
  std::vector<uint8_t> bytes(kMemory);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

bool Process::has_seen(cn_event_kind what) const {
  pollfd news{news_, POLLIN, 0};
  while (poll(&news, 1, static_cast<int>(kPatience)) == 1) {
    char kind = 0;
    if (read(news_, &kind, 1) != 1) return false;
    if (kind == static_cast<char>(what)) return true;
  }
  return false;
}

void Process::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  close(news_);
  process_ = -1;
}

void Process::stop() const { ::kill(process_, SIGSTOP); }
void Process::go_on() const { ::kill(process_, SIGCONT); }

}  // namespace commnet::tests
