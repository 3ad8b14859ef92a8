// The C API: jobs of several processes.
#include <oneflow/processes.h>

#include <cmath>

#include "capi/boundary.h"
#include "parallel/processes/job.h"
#include "parallel/processes/split.h"
#include "parallel/processes/started_call.h"

using namespace oneflow;
using processes::Group;
using processes::Job;
using processes::StartedCall;

namespace {

const Group* to_group(of_group handle) { return reinterpret_cast<const Group*>(handle); }
of_group to_handle(const Group& group) { return reinterpret_cast<of_group>(const_cast<Group*>(&group)); }
const Group& group_or_world(const Job& job, of_group handle) { return handle ? *to_group(handle) : job.world(); }

StartedCall* to_started(of_started_call handle) { return reinterpret_cast<StartedCall*>(handle); }
of_started_call to_handle(StartedCall* call) { return reinterpret_cast<of_started_call>(call); }

constexpr double kLongestTimeout = 30 * 24 * 3600;

uint32_t checked_rank(int64_t value, const char* name) {
  if (value < 0 || value > UINT32_MAX / 2)
    fail(OF_INVALID_ARGUMENT, "%s must be between 0 and %u, got %lld", name, UINT32_MAX / 2,
         static_cast<long long>(value));
  return static_cast<uint32_t>(value);
}

processes::Membership membership_of(const of_job_options& options) {
  auto membership = processes::membership_of_environment().value_or(processes::Membership());
  if (options.rank >= 0) membership.rank = checked_rank(options.rank, "rank");
  if (options.world_size >= 0) membership.size = checked_rank(options.world_size, "world_size");
  if (membership.rank >= membership.size)
    fail(OF_INVALID_ARGUMENT, "rank must be below world_size, %u, got %u", membership.size, membership.rank);
  if (options.meeting) membership.meeting = options.meeting;
  if (options.secret) membership.secret = options.secret;
  if (options.listen) membership.listen = options.listen;
  if (options.communicator) membership.communicator = options.communicator;
  return membership;
}

}  // namespace

of_status of_job_join(const of_job_options* options) {
  return guard([&, function = __func__] {
    named("comm.init", [&] {
      const of_job_options given = read_struct(options, function, "options");
      const double seconds = given.timeout == 0 ? 600 : given.timeout;
      if (!(seconds > 0) || seconds > kLongestTimeout)
        fail(OF_INVALID_ARGUMENT, "timeout must be more than 0 seconds and at most %g, got %g", kLongestTimeout,
             given.timeout);
      Job::join(membership_of(given),
                std::chrono::duration_cast<processes::Clock::duration>(std::chrono::duration<double>(seconds)));
    });
  });
}

of_status of_job_leave(void) {
  return guard([] { Job::leave(); });
}

bool of_job_is_joined(void) { return Job::is_joined(); }

of_status of_job_communicator(const char** name) {
  return guard([&, function = __func__] {
    require(name, function, "name");
    const auto job = Job::current();
    *name = job->world().size() > 1 ? job->engine().communicator() : "";
  });
}

of_status of_job_local_rank(int64_t* rank) {
  return guard([&, function = __func__] {
    require(rank, function, "rank");
    *rank = Job::current()->membership().local_rank;
  });
}

of_status of_job_local_size(int64_t* size) {
  return guard([&, function = __func__] {
    require(size, function, "size");
    *size = Job::current()->membership().local_size;
  });
}

of_status of_group_create(const int64_t* ranks, size_t count, of_group* result) {
  return guard([&, function = __func__] {
    require(result, function, "result");
    if (count > 0) require(ranks, function, "ranks");
    std::vector<uint32_t> checked;
    for (size_t i = 0; i < count; ++i) checked.push_back(checked_rank(ranks[i], "a rank"));
    *result = to_handle(Group::of(std::move(checked)));
  });
}

of_status of_group_parse(const char* text, of_group* result) {
  return guard([&, function = __func__] {
    require(text, function, "text");
    require(result, function, "result");
    *result = to_handle(Group::parse(text));
  });
}

of_status of_group_world(of_group* result) {
  return guard([&, function = __func__] {
    require(result, function, "result");
    *result = to_handle(Job::current()->world());
  });
}

of_group of_group_retain(of_group group) { return group; }
void of_group_release(of_group) {}

const char* of_group_text(of_group group) { return group ? to_group(group)->text().c_str() : ""; }

of_status of_group_size(of_group group, int64_t* size) {
  return guard([&, function = __func__] {
    require(size, function, "size");
    *size = group ? to_group(group)->size() : Job::current()->world().size();
  });
}

of_status of_group_rank_at(of_group group, int64_t position, int64_t* rank) {
  return guard([&, function = __func__] {
    require(rank, function, "rank");
    const Group& found = group ? *to_group(group) : Job::current()->world();
    if (position < 0 || position >= found.size())
      fail(OF_INDEX_OUT_OF_RANGE, "position must be between 0 and %u, got %lld", found.size() - 1,
           static_cast<long long>(position));
    *rank = found.ranks()[static_cast<size_t>(position)];
  });
}

of_status of_group_position(of_group group, int64_t* position) {
  return guard([&, function = __func__] {
    require(position, function, "position");
    const auto job = Job::current();
    const auto found = group_or_world(*job, group).position_of(job->rank());
    *position = found ? *found : -1;
  });
}

of_status of_group_barrier(of_group group) {
  return guard([&] {
    named("comm.barrier", [&] {
      const auto job = Job::current();
      job->barrier(job->group(group_or_world(*job, group).text()));
    });
  });
}

of_status of_group_split(of_group group, int64_t color, int64_t key, of_group* result) {
  return guard([&, function = __func__] {
    require(result, function, "result");
    const auto job = Job::current();
    const Group* const part = named("split", [&] { return split(group_or_world(*job, group), color, key); });
    *result = part ? to_handle(*part) : nullptr;
  });
}

of_status of_call_start(of_op op, const of_value* args, size_t arg_count, of_started_call* call) {
  return guard([&, function = __func__] {
    require(op, function, "op");
    require(call, function, "call");
    if (arg_count > 0) require(args, function, "args");
    *call = to_handle(StartedCall::start(*to_operator(op), {args, arg_count}).detach());
  });
}

of_status of_call_finish(of_started_call call, of_tensor* result) {
  return guard([&, function = __func__] {
    require(call, function, "call");
    require(result, function, "result");
    *result = to_handle(to_started(call)->finish().detach());
  });
}

bool of_started_call_is_done(of_started_call call) { return !call || to_started(call)->work().is_done(); }

of_status of_started_call_on_done(of_started_call call, void (*function)(void* context), void* context) {
  return guard([&, name = __func__] {
    require(call, name, "call");
    to_started(call)->work().on_done([=] { function(context); });
  });
}

of_started_call of_started_call_retain(of_started_call call) {
  if (call) to_started(call)->retain();
  return call;
}

void of_started_call_release(of_started_call call) {
  if (call) to_started(call)->release();
}
