#include "joining.h"

#include <algorithm>
#include <stdexcept>

namespace commnet::node {

namespace {

// More are refused by cn_join().
constexpr uint32_t kMostPeers = 1 << 20;

void close(uv_async_t* handle) {
  uv_close(reinterpret_cast<uv_handle_t*>(handle),
           [](uv_handle_t* closed) { delete reinterpret_cast<uv_async_t*>(closed); });
}

}  // namespace

Joining::Joining(uv_loop_t* loop, cn_endpoint* endpoint, cn_job_options options, std::string meeting, Done done)
    : meeting_(std::move(meeting)), done_(std::move(done)), wake_(new uv_async_t) {
  wake_->data = this;
  const auto on_wake = [](uv_async_t* handle) {
    const auto* const self = static_cast<Joining*>(handle->data);
    if (!self) return;
    // The function destroys this object.
    const Done done = self->done_;
    const Result result = self->result_;
    done(result);
  };
  if (const int error = uv_async_init(loop, wake_, on_wake); error != 0) {
    delete wake_;
    throw std::runtime_error(uv_strerror(error));
  }
  uv_unref(reinterpret_cast<uv_handle_t*>(wake_));
  if (!meeting_.empty()) options.meeting = meeting_.c_str();
  try {
    thread_ = std::thread([this, endpoint, options] { run(endpoint, options); });
  } catch (...) {
    close(wake_);
    throw;
  }
}

void Joining::run(cn_endpoint* endpoint, cn_job_options options) {
  uint32_t rank = 0, size = options.size;
  if (size == 0) result_.status = cn_job_of_environment(&rank, &size);
  if (result_.status == CN_OK) result_.peers.resize(std::min(size, kMostPeers));
  begins_ = true;
  begins_.notify_all();
  if (result_.status == CN_OK)
    result_.status = cn_join(endpoint, &options, result_.peers.data(), static_cast<uint32_t>(result_.peers.size()));
  if (result_.status != CN_OK) result_.text = cn_error();
  uv_async_send(wake_);
}

Joining::~Joining() {
  thread_.join();
  wake_->data = nullptr;
  close(wake_);
}

}  // namespace commnet::node
