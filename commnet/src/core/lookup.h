// The names of hosts in URLs, which are looked up on threads of their own: a resolver may take long.
#ifndef COMMNET_CORE_LOOKUP_H_
#define COMMNET_CORE_LOOKUP_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace commnet {

class Lookup {
 public:
  // Begins to look up the host of a URL, and calls done() on another thread at the end. Returns NULL if too many are
  // under way. Throws Error.
  static std::shared_ptr<Lookup> begin(const std::string& url, std::function<void()> done);
  // Returns whether a URL, "scheme://host:port", has a name for a host, and not a number.
  static bool is_needed(const std::string& url);

  bool is_done() const;
  // Waits for the end, and returns whether it has come.
  bool wait_until(std::chrono::steady_clock::time_point time) const;
  // Returns the URL with each number that the host has. Throws Error if there is none. Only once it is done.
  const std::vector<std::string>& urls() const;

 private:
  void run(const std::string& url);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool is_done_ = false;
  std::vector<std::string> urls_;
  std::string failure_;
};

}  // namespace commnet

#endif  // COMMNET_CORE_LOOKUP_H_
