#include "core/lookup.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <string_view>
#include <thread>

#include "core/status.h"

namespace commnet {

namespace {

constexpr int kMostThreads = 32;

std::atomic<int> threads{0};
// The child of a fork has none of them.
[[maybe_unused]] const int has_fork_handler = pthread_atfork(nullptr, nullptr, [] { threads = 0; });

struct Parts {
  std::string scheme, host, port;
};

// Returns empty parts for what is not a URL of a host.
Parts parts_of(std::string_view url) {
  constexpr std::string_view kSeparator = "://";
  const size_t begin = url.find(kSeparator), colon = url.rfind(':');
  if (begin == std::string_view::npos || colon < begin + kSeparator.size() || colon + 1 == url.size()) return {};
  std::string_view host = url.substr(begin + kSeparator.size(), colon - begin - kSeparator.size());
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return {std::string(url.substr(0, begin)), std::string(host), std::string(url.substr(colon + 1))};
}

using Found = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// Returns 0 or the number of an error of getaddrinfo().
int find(const std::string& host, int flags, Found& found) {
  addrinfo hints{}, *first = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  const int code = getaddrinfo(host.c_str(), nullptr, &hints, &first);
  found = Found(first, freeaddrinfo);
  return code;
}

}  // namespace

bool Lookup::is_needed(const std::string& url) {
  const Parts parts = parts_of(url);
  Found found(nullptr, freeaddrinfo);
  return !parts.host.empty() && find(parts.host, AI_NUMERICHOST, found) != 0;
}

std::shared_ptr<Lookup> Lookup::begin(const std::string& url, std::function<void()> done) {
  if (++threads > kMostThreads) {
    --threads;
    return nullptr;
  }
  const auto lookup = std::make_shared<Lookup>();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    // Nothing ends a call of the resolver: the thread is left to itself.
    std::thread([lookup, url, done = std::move(done)] {
      lookup->run(url);
      --threads;
      done();
    }).detach();
  } catch (const std::exception& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    --threads;
    fail(CN_SYSTEM_ERROR, "cannot look up the host of '%s': %s", url.c_str(), error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return lookup;
}

void Lookup::run(const std::string& url) {
  std::vector<std::string> urls;
  std::string failure;
  try {
    const Parts parts = parts_of(url);
    Found found(nullptr, freeaddrinfo);
    if (const int code = find(parts.host, 0, found)) {
      failure = "'" + url + "': the host '" + parts.host + "' is not known: " + gai_strerror(code);
    }
    for (const addrinfo* each = found.get(); each; each = each->ai_next) {
      char host[NI_MAXHOST];
      if (getnameinfo(each->ai_addr, each->ai_addrlen, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) continue;
      const bool is_long = each->ai_family == AF_INET6;
      std::string number = parts.scheme + (is_long ? "://[" : "://") + host + (is_long ? "]:" : ":") + parts.port;
      if (std::ranges::find(urls, number) == urls.end()) urls.push_back(std::move(number));
    }
  } catch (...) {
    set_error_of_exception();
  }
  const std::lock_guard lock(mutex_);
  urls_ = std::move(urls);
  failure_ = std::move(failure);
  is_done_ = true;
  changed_.notify_all();
}

bool Lookup::is_done() const {
  const std::lock_guard lock(mutex_);
  return is_done_;
}

bool Lookup::wait_until(std::chrono::steady_clock::time_point time) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, time, [&] { return is_done_; });
}

const std::vector<std::string>& Lookup::urls() const {
  const std::lock_guard lock(mutex_);
  if (urls_.empty()) fail(CN_UNREACHABLE, "%s", failure_.empty() ? "a host has no address" : failure_.c_str());
  return urls_;
}

}  // namespace commnet
