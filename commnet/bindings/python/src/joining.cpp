#include "joining.h"

#include <algorithm>

namespace commnet_python {

namespace {

// More are refused by cn_join().
constexpr uint32_t kMostPeers = 1 << 20;

}  // namespace

Joining::Joining(cn_endpoint* endpoint, const cn_job_options& options, std::string meeting)
    : meeting_(std::move(meeting)), thread_([this, endpoint, options] { run(endpoint, options); }) {}

Joining::~Joining() {
  if (thread_.joinable()) thread_.join();
}

void Joining::run(cn_endpoint* endpoint, cn_job_options options) {
  options.meeting = meeting_.empty() ? nullptr : meeting_.c_str();
  uint32_t rank = 0, size = options.size;
  cn_status status = size == 0 ? cn_job_of_environment(&rank, &size) : CN_OK;
  if (status == CN_OK) peers_.resize(std::min(size, kMostPeers));
  {
    const std::lock_guard lock(mutex_);
    begins_ = true;
    changed_.notify_all();
  }
  if (status == CN_OK) status = cn_join(endpoint, &options, peers_.data(), static_cast<uint32_t>(peers_.size()));
  const std::lock_guard lock(mutex_);
  status_ = status;
  if (status != CN_OK) text_ = cn_error();
  has_ended_ = true;
  changed_.notify_all();
}

void Joining::has_begun() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return begins_; });
}

bool Joining::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return has_ended_; });
}

}  // namespace commnet_python
