#include "parallel/processes/job.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "base/fork_safe.h"
#include "base/interrupt.h"
#include "device/options.h"
#include "parallel/processes/algorithms.h"
#include "parallel/processes/communicators.h"

namespace oneflow::processes {

namespace {

ForkSafe<std::mutex> mutex(LockLevel::kJobs);

// Guarded by `mutex`. Never destroyed: in a forked child, the threads of the engine do not exist.
struct State {
  std::shared_ptr<Job> job;
  uint64_t process = 0;  // which has joined it
  Ongoing joining;
  bool was_left = false;
  bool is_alone = true;  // whether the last job that was joined has one rank
};
State& state() {
  static auto* const found = new State;
  return *found;
}

void leave_at_exit() { Job::leave(); }

const Group& group_of_all(uint32_t size) {
  std::vector<uint32_t> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return Group::of(std::move(ranks));
}

of_communicator_options options_of(const Membership& membership, Clock::duration timeout) {
  of_communicator_options options{};
  options.rank = membership.rank;
  options.size = membership.size;
  options.meeting = membership.meeting.c_str();
  options.secret = membership.secret.c_str();
  options.listen = membership.listen.c_str();
  options.timeout_ms = static_cast<uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count());
  return options;
}

// Gives each process of a host its share of the processors, unless the launcher or the program has chosen a number of
// threads: as many threads as processors in each of them would wait for each other.
void share_processors(const Membership& membership) {
  const int64_t threads = get_option("num_threads");
  const bool is_chosen = !variable("ONEFLOW_NUM_THREADS").empty() || threads != std::thread::hardware_concurrency();
  if (membership.local_size > 1 && !is_chosen)
    set_option("num_threads", std::max<int64_t>(1, threads / membership.local_size));
}

// Forgets what the parent of a forked process has done alone. Throws CommunicationError if it was a rank of several.
void check_process(State& found) {
  if (found.process == current_process()) return;
  if (found.is_alone) {
    found.job.reset();
    found.was_left = false;
  }
  if (found.job)
    fail(OF_COMMUNICATION_ERROR,
         "this process was forked from rank %u of a job, and takes no part in it: fork before the job is joined, or "
         "start a new process",
         found.job->rank());
}

using Lock = std::unique_lock<ForkSafe<std::mutex>>;

// Waits while another thread joins a job.
void wait_for_joining(Lock& lock) {
  constexpr auto kNap = std::chrono::milliseconds(1);
  while (state().joining.is_set()) {
    lock.unlock();
    throw_if_interrupted();
    std::this_thread::sleep_for(kNap);
    lock.lock();
  }
}

// Joins a job. The lock is released meanwhile, because it may take long, and communicators may fork.
void set_job(Lock& lock, const Membership& membership, Clock::duration timeout) {
  State& found = state();
  found.joining.set();
  lock.unlock();
  std::shared_ptr<Job> job;
  std::exception_ptr failure;
  try {
    job = std::make_shared<Job>(membership, timeout);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  found.joining.clear();
  if (failure) std::rethrow_exception(failure);
  found.job = std::move(job);
  found.process = current_process();
  found.was_left = false;
  found.is_alone = membership.size == 1;
  static const bool registered = std::atexit(leave_at_exit) == 0;
  (void)registered;
}

}  // namespace

Job::Job(const Membership& membership, Clock::duration timeout)
    : membership_(membership), world_(group_of_all(membership.size)) {
  if (membership.size == 1) return;
  share_processors(membership);
  engine_ =
      std::make_unique<Engine>(find_communicator(membership.communicator), options_of(membership_, timeout), timeout);
  if (membership.folder.empty()) return;
  barrier(world_);  // all have met
  if (membership.rank == 0) {
    std::error_code ignored;
    std::filesystem::remove_all(membership.folder, ignored);
  }
}

std::shared_ptr<Job> Job::current() {
  Lock lock(mutex);
  wait_for_joining(lock);
  State& found = state();
  check_process(found);
  if (!found.job) {
    if (found.was_left) fail(OF_COMMUNICATION_ERROR, "the job was left: init() joins it again");
    set_job(lock, membership_of_environment().value_or(Membership()), kDefaultTimeout);
  }
  return found.job;
}

void Job::join(const Membership& membership, Clock::duration timeout) {
  Lock lock(mutex);
  wait_for_joining(lock);
  check_process(state());
  if (state().job) fail(OF_INVALID_ARGUMENT, "the job was joined before: finalize() leaves it");
  set_job(lock, membership, timeout);
}

void Job::leave() {
  std::shared_ptr<Job> job;
  {
    const std::lock_guard lock(mutex);
    State& found = state();
    if (!found.job || found.process != current_process()) return;
    job = std::move(found.job);
    found.was_left = true;
  }
  if (job->engine_) job->engine_->close();
}

bool Job::is_joined() {
  const std::lock_guard lock(mutex);
  return state().job && state().process == current_process();
}

const Group& Job::group(std::string_view text) const {
  if (text.empty()) return world_;
  const Group& group = Group::parse(text);
  for (const uint32_t rank : group.ranks())
    if (rank >= membership_.size)
      fail(OF_INVALID_ARGUMENT, "group %s has rank %u, the job has ranks 0 to %u", group.text().c_str(), rank,
           membership_.size - 1);
  return group;
}

uint32_t Job::position_in(const Group& group) const {
  const auto position = group.position_of(rank());
  if (!position)
    fail(OF_INVALID_ARGUMENT, "rank %u is not in group %s: only its members take part", rank(), group.text().c_str());
  return *position;
}

namespace {

Task wait_for_all(Operation& operation) {
  int64_t nothing = 0;
  co_await agree(operation, nothing);
}

}  // namespace

void Job::barrier(const Group& group) {
  position_in(group);
  if (group.size() == 1) return;
  const auto operation =
      Ref<Operation>::adopt(new Operation(engine(), group, group.id(), Described("barrier"), wait_for_all));
  engine().submit(operation);
  engine().wait(*operation);
}

}  // namespace oneflow::processes
