// The C API: profiles.
#include <oneflow/profile.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "capi/boundary.h"
#include "profile/profile.h"

using namespace oneflow;

struct of_profile_object {
  profile::Recorder recorder;
  std::vector<profile::Entry> entries;                  // once it has ended
  std::vector<std::vector<of_profile_tensor>> tensors;  // of each entry: its operands, then its results
};

namespace {

of_profile_object& require_ended(of_profile profile, const char* function) {
  require(profile, function, "profile");
  if (profile->recorder.is_running()) fail(OF_INVALID_ARGUMENT, "profile: it must end before it is read");
  return *profile;
}

std::vector<of_profile_tensor> tensors_of(const profile::Entry& entry) {
  std::vector<of_profile_tensor> tensors;
  for (const auto* notes : {&entry.operands, &entry.results})
    for (const profile::TensorNote& note : *notes)
      tensors.push_back({note.dtype, {note.sizes.rank(), note.sizes.data()}});
  return tensors;
}

}  // namespace

of_status of_profile_begin(of_profile* profile) {
  return guard([&, function = __func__] {
    require(profile, function, "profile");
    named("profile", [&] { *profile = new of_profile_object; });
  });
}

of_status of_profile_end(of_profile profile) {
  return guard([&, function = __func__] {
    require(profile, function, "profile");
    named("profile", [&] { profile->recorder.end(); });
    const of_status status = guard([&] { profile->recorder.synchronize(); });
    const std::optional<KeptError> failure = status == OF_OK ? std::nullopt : std::optional<KeptError>(std::in_place);
    profile->entries = profile::read_entries(profile->recorder);
    for (const profile::Entry& entry : profile->entries) profile->tensors.push_back(tensors_of(entry));
    if (failure) {
      failure->restore();
      throw Error(status, last_error(), last_error_is_complete());
    }
  });
}

void of_profile_release(of_profile profile) {
  if (!profile) return;
  if (profile->recorder.is_running()) {
    std::optional<KeptError> kept;
    guard([&] { kept.emplace(); });
    if (of_profile_end(profile) != OF_OK && kept) kept->restore();
    if (profile->recorder.is_running()) return;  // within a call that it sees: it is never freed
  }
  delete profile;
}

size_t of_profile_count(of_profile profile) {
  return profile && !profile->recorder.is_running() ? profile->entries.size() : 0;
}

of_status of_profile_at(of_profile profile, size_t position, of_profile_entry* entry) {
  return guard([&, function = __func__] {
    const of_profile_object& ended = require_ended(profile, function);
    if (position >= ended.entries.size())
      fail(OF_INDEX_OUT_OF_RANGE, "%s: position must be below %zu, got %zu", function, ended.entries.size(), position);
    const profile::Entry& found = ended.entries[position];
    const of_profile_tensor* tensors = ended.tensors[position].data();
    of_profile_entry result{};
    result.thread = found.thread;
    result.op = to_handle(found.op);
    result.name = found.op->schema().name;
    result.caller = found.caller;
    result.device = found.device;
    result.parent = found.parent;
    result.start = found.start;
    result.host_time = found.host_time;
    result.self_time = found.self_time;
    result.device_time = found.device_time;
    result.memory = found.memory;
    result.operations = found.operations;
    result.bytes = found.bytes;
    result.operands = tensors;
    result.operand_count = found.operands.size();
    result.results = tensors + found.operands.size();
    result.result_count = found.results.size();
    result.failed = found.failed;
    write_struct(entry, result, function, "entry");
  });
}

of_status of_profile_table(of_profile profile, char** text) {
  return guard([&, function = __func__] {
    require(text, function, "text");
    store_text(profile::format_table(require_ended(profile, function).entries), text);
  });
}

of_status of_profile_trace(of_profile profile, char** text) {
  return guard([&, function = __func__] {
    require(text, function, "text");
    store_text(profile::format_trace(require_ended(profile, function).entries), text);
  });
}
