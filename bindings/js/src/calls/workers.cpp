#include "calls/workers.h"

#include <memory>
#include <system_error>

namespace oneflow::node {

namespace {

// As many calls run at once as in libuv's pool; each of them uses the threads of the runtime.
constexpr size_t kMostThreads = 4;

}  // namespace

bool Workers::start() {
  if (!collector_.start()) return false;
  if (done_ == nullptr) {
    napi_value name;
    if (napi_create_string_utf8(env_, "oneflow", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_threadsafe_function(env_, nullptr, nullptr, name, 0, 1, nullptr, nullptr, this, on_done, &done_) !=
            napi_ok) {
      return false;
    }
    napi_unref_threadsafe_function(env_, done_);
  }
  const std::lock_guard lock(mutex_);
  if (idle_ > queue_.size() || threads_.size() == kMostThreads) return true;
  try {
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
    return !threads_.empty();
  }
  return true;
}

bool Workers::add(Job* job) {
  const auto add = expect();
  if (add) add(job);
  return static_cast<bool>(add);
}

std::function<void(Job*)> Workers::expect() {
  if (!start()) return {};
  if (pending_++ == 0) napi_ref_threadsafe_function(env_, done_);
  return [entrance = entrance_](Job* job) {
    const std::lock_guard lock(entrance->mutex);
    if (entrance->workers)
      entrance->workers->queue(job);
    else
      delete job;
  };
}

void Workers::queue(Job* job) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(job);
  }
  added_.notify_one();
}

void Workers::run() {
  collector_.serve_worker();
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    added_.wait(lock, [this] { return stops_ || !queue_.empty(); });
    --idle_;
    if (stops_) return;
    std::unique_ptr<Job> job(queue_.front());
    queue_.pop_front();
    lock.unlock();
    job->execute();
    // If the environment is ending, nobody waits for the job any more.
    if (napi_call_threadsafe_function(done_, job.get(), napi_tsfn_nonblocking) == napi_ok) job.release();
    job.reset();
    lock.lock();
  }
}

void Workers::on_done(napi_env env, napi_value, void* context, void* data) {
  std::unique_ptr<Job> job(static_cast<Job*>(data));
  if (env == nullptr) return;  // the environment is ending
  auto* self = static_cast<Workers*>(context);
  if (--self->pending_ == 0) napi_unref_threadsafe_function(env, self->done_);
  job.release()->complete(env);
}

void Workers::close() {
  {
    const std::lock_guard lock(entrance_->mutex);
    entrance_->workers = nullptr;
  }
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  added_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (Job* job : queue_) delete job;
  queue_.clear();
}

}  // namespace oneflow::node
