#include "device/stream.h"

#include <algorithm>

#include "device/device.h"

namespace oneflow {

namespace {

std::atomic<uint64_t> last_id{0};

}  // namespace

Stream::Stream(Device& device, bool is_default)
    : device_(device),
      pool_(is_default ? nullptr : device.allocator().add_pool(*this)),
      is_default_(is_default),
      id_(is_default ? ++last_id : 0),
      has_handle_(is_default && !device.table().create_stream) {}

void Stream::make_handle() {
  if (!is_default_) fail(OF_INVALID_ARGUMENT, "the stream of %s was destroyed", device_name(device_.id()).c_str());
  const std::lock_guard lock(mutex_);
  if (has_handle_.load(std::memory_order_relaxed)) return;
  check(device_.table().create_stream(device_.id(), &handle_));
  has_handle_.store(true, std::memory_order_release);
}

void Stream::open(of_device_stream handle) {
  const std::lock_guard lock(mutex_);
  handle_ = handle;
  has_handle_.store(true, std::memory_order_release);
  id_.store(++last_id, std::memory_order_release);
}

of_device_stream Stream::close() {
  const std::lock_guard lock(mutex_);
  failure_ = nullptr;
  sources_.clear();
  has_handle_.store(false, std::memory_order_release);
  return std::exchange(handle_, nullptr);
}

void Stream::synchronize() {
  if (!device_.table().synchronize) return device_.require_usable();  // then there are no streams, and nothing waits
  wait();
  if (std::unique_ptr<const Error> failure = take_failure()) throw Error(*failure);
  // A source is removed from the list before it is synchronized: the recursion ends if streams depend on each other.
  while (Stream* source = take_source()) source->synchronize();
}

void Stream::wait() {
  const of_device_stream work = device_.lost() ? nullptr : handle();  // which may throw, so it comes first
  const std::vector<Release> releases = take_releases();              // of work that precedes the wait
  const of_status status = device_.lost() ? OF_OK : device_.table().synchronize(device_.id(), work);
  for (const Release& each : releases) each.deleter(each.context);
  device_.require_usable();
  if (status != OF_OK) fail_with_device_error(status, true);
}

void Stream::wait_and_keep_failure() noexcept {
  try {
    wait();
  } catch (const Error& error) {
    keep_failure(error);
  } catch (const std::bad_alloc&) {  // no memory for the error
  }
}

bool Stream::is_done() {
  const of_device_table& table = device_.table();
  device_.require_usable();
  if (!table.create_stream) return true;
  if (!table.query_stream)
    fail(OF_UNSUPPORTED, "%s cannot tell whether its work is done", device_name(device_.id()).c_str());
  bool is_done = false;
  check(table.query_stream(device_.id(), handle(), &is_done));
  return is_done;
}

void Stream::release_after_work(of_deleter deleter, void* context) noexcept {
  constexpr size_t kMaxWaiting = 64;
  if (!device_.table().create_stream || device_.lost()) return deleter(context);
  size_t waiting = 0;
  try {
    const std::lock_guard lock(mutex_);
    releases_.push_back({deleter, context});
    waiting = releases_.size();
  } catch (const std::bad_alloc&) {  // no memory for the list: waits now
  }
  if (waiting > 0 && waiting < kMaxWaiting) return;
  wait_and_keep_failure();
  if (waiting == 0) deleter(context);
}

void Stream::keep_failure(const Error& error) noexcept {
  try {
    auto failure = std::make_unique<const Error>(error);
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  } catch (const std::bad_alloc&) {
  }
}

std::unique_ptr<const Error> Stream::take_failure() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failure_, nullptr);
}

std::vector<Stream::Release> Stream::take_releases() {
  const std::lock_guard lock(mutex_);
  return std::exchange(releases_, {});
}

Stream* Stream::take_source() {
  const std::lock_guard lock(mutex_);
  while (!sources_.empty()) {
    Stream* source = sources_.back();
    sources_.pop_back();
    if (source->id() != 0) return source;
  }
  return nullptr;
}

void Stream::wait_for(Stream& other) {
  if (!device_.table().create_stream || &other == this) return;
  if (!device_.table().create_event) return other.synchronize();
  Event::mark(other).hold(*this);
}

void Stream::depend_on(Stream& other) {
  wait_for(other);
  if (device_.table().create_stream) add_source(other);
}

void Stream::depend_on(Stream& other, const Event& ready) {
  ready.hold(*this);
  add_source(other);
}

void Stream::add_source(Stream& other) {
  const std::lock_guard lock(mutex_);
  if (std::find(sources_.begin(), sources_.end(), &other) == sources_.end()) sources_.push_back(&other);
}

Event::Event(Device& device) : device_(&device), event_(device.take_event()) {}

Event::~Event() {
  if (device_) device_->return_event(event_);
}

Event Event::mark(Stream& stream) {
  Event event(stream.device());
  event.record(stream);
  return event;
}

void Event::record(Stream& stream) { check(device_->table().record_event(device_->id(), event_, stream.handle())); }

void Event::hold(Stream& stream) const {
  Device& device = stream.device();
  check(device.table().wait_event(device.id(), event_, stream.handle()));
}

bool Event::is_done() const noexcept {
  if (!device_ || device_->lost()) return true;
  bool is_done = false;
  if (device_->table().query_event(device_->id(), event_, &is_done) == OF_OK) return is_done;
  clear_device_error();
  return false;
}

void Event::synchronize() const {
  if (device_ && !device_->lost()) check(device_->table().synchronize_event(device_->id(), event_));
}

void Event::wait() const noexcept {
  try {
    synchronize();
  } catch (...) {
    clear_device_error();
  }
}

thread_local constinit ChosenStreams chosen_streams;

const ChosenStreams& ChosenStreams::current() { return chosen_streams; }
void ChosenStreams::apply() const { chosen_streams = *this; }

Stream& ChosenStreams::of(Device& device) const {
  for (int i = 0; i < count; ++i) {
    if (&choices[i].stream->device() != &device) continue;
    if (choices[i].stream->id() == choices[i].id) return *choices[i].stream;
    fail(OF_INVALID_ARGUMENT, "this thread's current stream of %s was destroyed; choose another one",
         device_name(device.id()).c_str());
  }
  return device.default_stream();
}

void ChosenStreams::choose(Stream& stream) {
  Choice* const end = choices + count;
  Choice* const known =
      std::find_if(choices, end, [&](const Choice& each) { return &each.stream->device() == &stream.device(); });
  if (stream.is_default()) {
    if (known == end) return;
    *known = choices[--count];
    choices[count] = {};
    return;
  }
  if (known == choices + OF_MAX_CHOSEN_STREAMS)
    fail(OF_UNSUPPORTED, "a thread cannot choose streams of more than %d devices", OF_MAX_CHOSEN_STREAMS);
  *known = {&stream, stream.id()};
  count += known == end;
}

void ChosenStreams::write(of_stream (&handles)[OF_MAX_CHOSEN_STREAMS]) const {
  for (int i = 0; i < OF_MAX_CHOSEN_STREAMS; ++i) handles[i] = {choices[i].id};
}

ChosenStreams ChosenStreams::read(const of_stream (&handles)[OF_MAX_CHOSEN_STREAMS]) {
  ChosenStreams chosen;
  for (int i = 0; i < OF_MAX_CHOSEN_STREAMS; ++i) {
    if (handles[i].id == 0) continue;
    Stream* stream = find_stream(handles[i].id);
    if (!stream) fail(OF_INVALID_ARGUMENT, "streams[%d] must be an open stream, got one that was destroyed", i);
    chosen.choose(*stream);
  }
  return chosen;
}

}  // namespace oneflow
