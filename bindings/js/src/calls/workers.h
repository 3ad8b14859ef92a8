// The threads that asynchronous work runs on. They are not those of libuv, which files, DNS and compression share: a
// long product must not hold up a server's reads.
#pragma once

#include <node_api.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "collector.h"

namespace oneflow::node {

// Work that runs on one of the threads, and then ends on the JavaScript thread.
class Job {
 public:
  virtual ~Job() = default;
  // Runs on a worker thread. Must not throw or use Node-API.
  virtual void execute() noexcept = 0;
  // Runs on the JavaScript thread. Takes ownership of the job.
  virtual void complete(napi_env env) = 0;
};

// The threads of one environment, which start with the first jobs. The process lives on while there are jobs.
class Workers {
 public:
  Workers(napi_env env, Collector& collector) : env_(env), collector_(collector) { entrance_->workers = this; }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() { close(); }

  // Queues a job, of which it takes ownership if it returns true. Returns false if a thread cannot be started. Called
  // on the JavaScript thread.
  bool add(Job* job);
  // Expects a job that another thread will pass to the function which it returns, with a Job*; that takes ownership.
  // Returns a null function if a thread cannot be started. Called on the JavaScript thread.
  std::function<void(Job*)> expect();
  // Waits for the jobs that are running, and deletes the others. Called when the environment ends.
  void close();

 private:
  // Where other threads pass jobs, also after the environment has ended.
  struct Entrance {
    std::mutex mutex;
    Workers* workers;  // NULL: it has ended
  };

  static void on_done(napi_env env, napi_value, void* context, void* job);
  bool start();
  void queue(Job* job);
  void run();

  const napi_env env_;
  Collector& collector_;
  napi_threadsafe_function done_ = nullptr;
  std::vector<std::thread> threads_;
  size_t pending_ = 0;  // jobs that are not complete; used on the JavaScript thread only
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<Job*> queue_;
  size_t idle_ = 0;
  bool stops_ = false;
  const std::shared_ptr<Entrance> entrance_ = std::make_shared<Entrance>();
};

}  // namespace oneflow::node
