// A call of cn_join(), which waits, on a thread of its own, so that a job with more ranks than libuv has threads can
// meet within one process. The thread calls nothing of JavaScript: it wakes the loop.
#pragma once

#include <commnet/commnet.h>
#include <uv.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace commnet::node {

class Joining {
 public:
  struct Result {
    cn_status status = CN_OK;
    std::string text;
    std::vector<cn_peer*> peers;
  };
  using Done = std::function<void(const Result& result)>;

  // Begins; done() is called on the thread of the loop, unless the object is destroyed before. Throws std::exception.
  Joining(uv_loop_t* loop, cn_endpoint* endpoint, cn_job_options options, std::string meeting, Done done);
  Joining(const Joining&) = delete;
  Joining& operator=(const Joining&) = delete;
  // Waits for the thread, which ends once the endpoint is closed.
  ~Joining();
  // Waits until the endpoint may be closed.
  void await_begin() const { begins_.wait(false); }

 private:
  void run(cn_endpoint* endpoint, cn_job_options options);

  const std::string meeting_;
  const Done done_;
  Result result_;
  std::atomic<bool> begins_ = false;
  uv_async_t* wake_;  // freed by the loop
  std::thread thread_;
};

}  // namespace commnet::node
