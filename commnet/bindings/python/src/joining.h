// A call of cn_join(), which waits, on a thread of its own, so that signals can interrupt who waits for it.
#ifndef COMMNET_PYTHON_JOINING_H_
#define COMMNET_PYTHON_JOINING_H_

#include <commnet/commnet.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace commnet_python {

// Its functions are called without the GIL.
class Joining {
 public:
  // Begins. The endpoint must stay open until has_begun() returns; closing it then ends the call.
  Joining(cn_endpoint* endpoint, const cn_job_options& options, std::string meeting);
  Joining(const Joining&) = delete;
  // Waits for the end.
  ~Joining();

  void has_begun();
  // Waits for at most so long, and returns whether the call has ended.
  bool wait(std::chrono::milliseconds time);

  // Valid after the end.
  cn_status status() const { return status_; }
  const std::string& text() const { return text_; }
  const std::vector<cn_peer*>& peers() const { return peers_; }

 private:
  void run(cn_endpoint* endpoint, cn_job_options options);

  const std::string meeting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool begins_ = false, has_ended_ = false;
  cn_status status_ = CN_OK;
  std::string text_;
  std::vector<cn_peer*> peers_;
  std::thread thread_;
};

}  // namespace commnet_python

#endif  // COMMNET_PYTHON_JOINING_H_
