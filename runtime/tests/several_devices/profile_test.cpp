// Tests the times of devices in profiles.
#include <oneflow/profile.h>

#include "tests/several_devices/devices.h"

namespace oneflow {
namespace {

// A profile that runs until end().
class Profile {
 public:
  Profile() { EXPECT_EQ(of_profile_begin(&handle_), OF_OK) << of_last_error(); }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  ~Profile() { of_profile_release(handle_); }

  of_status end() { return of_profile_end(handle_); }
  of_profile_entry entry(size_t position) const {
    of_profile_entry entry{};
    entry.struct_size = sizeof(entry);
    EXPECT_EQ(of_profile_at(handle_, position, &entry), OF_OK) << of_last_error();
    return entry;
  }
  size_t count() const { return of_profile_count(handle_); }
  std::string text(of_status (*format)(of_profile, char**)) const {
    char* text = nullptr;
    EXPECT_EQ(format(handle_, &text), OF_OK) << of_last_error();
    const std::string copy = text ? text : "";
    of_free(text);
    return copy;
  }

 private:
  of_profile handle_ = nullptr;
};

TEST_F(AcceleratorTest, ProfilesHaveTheTimesOfTheDevice) {
  const TensorRef x = make_tensor({2}, {1, 2}, OF_FLOAT32, accel());
  Profile profile;
  set_accel("slow", 2000, 0);
  neg(x);
  mul(x, x);
  ASSERT_EQ(profile.end(), OF_OK) << of_last_error();
  set_accel("slow", 0, 0);
  ASSERT_EQ(profile.count(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(profile.entry(i).device.type, accel().type);
    EXPECT_GE(profile.entry(i).device_time, 2'000'000) << "each task takes 2 ms";
  }
  const std::string table = profile.text(of_profile_table), trace = profile.text(of_profile_trace);
  EXPECT_NE(table.find("device"), std::string::npos) << table;
  EXPECT_NE(trace.find(R"("args":{"name":"accel:0"})"), std::string::npos) << trace;
}

TEST_F(AcceleratorTest, ProfilesReportTheErrorsOfTheWork) {
  const TensorRef x = make_tensor({2}, {1, 2}, OF_FLOAT32, accel());
  Profile profile;
  set_accel("fail_kernels", 1, 0);
  neg(x);
  EXPECT_EQ(profile.end(), OF_INVALID_ARGUMENT);
  EXPECT_STREQ(of_last_error(), "neg: the kernel was told to find bad data");
  EXPECT_EQ(profile.count(), 1u);
}

// The call on the host within the fallback is part of the call on the device.
TEST(ProfileTest, ProfilesHaveOneEntryForAFallback) {
  const TensorRef x = make_tensor({2}, {1, 2}, OF_FLOAT32, far());
  Profile profile;
  neg(x);
  ASSERT_EQ(profile.end(), OF_OK) << of_last_error();
  ASSERT_EQ(profile.count(), 1u);
  EXPECT_EQ(profile.entry(0).device.type, far().type);
  EXPECT_EQ(profile.entry(0).device_time, -1) << "the device has no streams";
}

}  // namespace
}  // namespace oneflow
