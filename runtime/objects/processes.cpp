// Jobs of several processes.
#include <oneflow/processes.h>

#include <vector>

#include "objects/handle.h"
#include "objects/results.h"
#include "objects/values.h"

namespace oneflow::objects {
namespace {

of_group group_of(const of_data& given) {
  return given.kind == OF_DATA_OBJECT ? static_cast<of_group>(given.as.object) : nullptr;
}

const char* text_of(const of_data& given) { return given.kind == OF_DATA_TEXT ? given.as.text : nullptr; }
// Returns an integer; -1 if none was given.
int64_t integer_of(const of_data& given, uint32_t position, const Results& results) {
  if (given.kind != OF_DATA_INT) return -1;
  if (given.as.integer < 0)
    results.fail(OF_INVALID_ARGUMENT,
                 results.parameter(position) + " must not be negative, got " + std::to_string(given.as.integer));
  return given.as.integer;
}

}  // namespace

// Group(ranks)
of_status group_create(void*, const of_data* given, Results& results) {
  std::vector<int64_t> ranks;
  for (uint32_t i = 0; i < given[0].count; ++i) ranks.push_back(given[0].as.items[i].as.integer);
  of_group group = nullptr;
  check(of_group_create(ranks.data(), ranks.size(), &group));
  results.give(results.object("Group", group));
  return OF_OK;
}

of_status group_ranks(void* self, const of_data*, Results& results) {
  auto* const group = static_cast<of_group>(self);
  int64_t size = 0;
  check(of_group_size(group, &size));
  std::vector<of_data> ranks;
  for (int64_t i = 0; i < size; ++i) {
    int64_t rank = 0;
    check(of_group_rank_at(group, i, &rank));
    ranks.push_back(results.integer(rank));
  }
  results.give(results.list(ranks));
  return OF_OK;
}

of_status group_text(void* self, const of_data*, Results& results) {
  results.give(results.text(of_group_text(static_cast<of_group>(self))));
  return OF_OK;
}

// split(color, key)
of_status group_split(void* self, const of_data* given, Results& results) {
  of_group part = nullptr;
  check(of_group_split(static_cast<of_group>(self), given[0].as.integer, given[1].as.integer, &part));
  results.give(part ? results.object("Group", part) : results.none());
  return OF_OK;
}

of_status work_is_completed(void* self, const of_data*, Results& results) {
  results.give(results.boolean(of_started_call_is_done(static_cast<of_started_call>(self))));
  return OF_OK;
}

// init(rank, world_size, meeting, secret, listen, communicator, timeout)
of_status comm_init(void*, const of_data* given, Results& results) {
  auto options = sized<of_job_options>();
  options.rank = integer_of(given[0], 0, results);
  options.world_size = integer_of(given[1], 1, results);
  options.meeting = text_of(given[2]);
  options.secret = text_of(given[3]);
  options.listen = text_of(given[4]);
  options.communicator = text_of(given[5]);
  options.timeout = given[6].as.real;
  return of_job_join(&options);
}

of_status comm_is_initialized(void*, const of_data*, Results& results) {
  results.give(results.boolean(of_job_is_joined()));
  return OF_OK;
}

// rank(group)
of_status comm_rank(void*, const of_data* given, Results& results) {
  int64_t position = 0;
  check(of_group_position(group_of(given[0]), &position));
  results.give(results.integer(position));
  return OF_OK;
}

// world_size(group)
of_status comm_world_size(void*, const of_data* given, Results& results) {
  int64_t size = 0;
  check(of_group_size(group_of(given[0]), &size));
  results.give(results.integer(size));
  return OF_OK;
}

// barrier(group)
of_status comm_barrier(void*, const of_data* given, Results&) { return of_group_barrier(group_of(given[0])); }

of_status comm_communicator(void*, const of_data*, Results& results) {
  const char* name = nullptr;
  check(of_job_communicator(&name));
  results.give(results.text(name));
  return OF_OK;
}

}  // namespace oneflow::objects
