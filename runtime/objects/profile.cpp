#include "objects/profile.h"

#include "base/error.h"
#include "objects/results.h"

namespace oneflow::objects {
namespace {

Profile& profile_of(void* self) { return *static_cast<Profile*>(self); }

// Returns the profile of a block. Throws InvalidArgument if the block has not begun.
of_profile begun(void* self) {
  if (!profile_of(self).handle) throw Error(OF_INVALID_ARGUMENT, "profile: it has not begun");
  return profile_of(self).handle.get();
}

// Converts nanoseconds to seconds; unknown times to nothing.
of_data seconds(int64_t nanoseconds, const Results& results) {
  return nanoseconds < 0 ? results.none() : results.real(1e-9 * static_cast<double>(nanoseconds));
}

of_data shapes(std::span<const of_profile_tensor> tensors, Results& results) {
  std::vector<of_data> found;
  for (const of_profile_tensor& tensor : tensors) {
    std::vector<of_data> sizes;
    for (int32_t i = 0; i < tensor.shape.rank; ++i) sizes.push_back(results.integer(tensor.shape.sizes[i]));
    found.push_back(results.list(sizes));
  }
  return results.list(found);
}

of_data dtypes(std::span<const of_profile_tensor> tensors, Results& results) {
  std::vector<of_data> found;
  for (const of_profile_tensor& tensor : tensors) found.push_back(results.dtype(tensor.dtype));
  return results.list(found);
}

of_status give_text(void* self, of_status (*format)(of_profile, char**), Results& results) {
  char* text = nullptr;
  check(format(begun(self), &text));
  const Owned<char*, of_free> owned(text);
  results.give(results.text(text));
  return OF_OK;
}

}  // namespace

of_status profile_create(void*, const of_data*, Results& results) {
  results.give(results.object("Profile", new Profile));
  return OF_OK;
}

of_status profile_enter(void* self, const of_data*, Results&) {
  of_profile profile = nullptr;
  check(of_profile_begin(&profile));
  profile_of(self).handle.reset(profile);
  return OF_OK;
}

of_status profile_leave(void* self, const of_data*, Results&) { return of_profile_end(begun(self)); }

of_status profile_entries(void* self, const of_data*, Results& results) {
  const of_profile handle = profile_of(self).handle.get();
  std::vector<of_data> entries;
  for (size_t i = 0, count = of_profile_count(handle); i < count; ++i) {
    auto entry = sized<of_profile_entry>();
    check(of_profile_at(handle, i, &entry));
    const std::span operands(entry.operands, entry.operand_count), made(entry.results, entry.result_count);
    entries.push_back(
        results.list({results.text(entry.name), results.text(entry.caller), results.device(entry.device),
                      results.integer(entry.thread), entry.parent < 0 ? results.none() : results.integer(entry.parent),
                      seconds(entry.start, results), seconds(entry.host_time, results),
                      results.real(1e-9 * static_cast<double>(entry.self_time)), seconds(entry.device_time, results),
                      results.natural(entry.memory), results.real(entry.operations), results.natural(entry.bytes),
                      shapes(operands, results), dtypes(operands, results), shapes(made, results),
                      dtypes(made, results), results.boolean(entry.failed)}));
  }
  results.give(results.list(entries));
  return OF_OK;
}

of_status profile_table(void* self, const of_data*, Results& results) {
  return give_text(self, of_profile_table, results);
}

of_status profile_trace(void* self, const of_data*, Results& results) {
  return give_text(self, of_profile_trace, results);
}

}  // namespace oneflow::objects
