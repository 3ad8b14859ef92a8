// Tests many memories that come and go.
#include <random>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

TEST(Regions, TokensNameTheirMemoryWhateverElseIsReleased) {
  const EndpointHandle a = make_endpoint("a", "memory"), b = make_endpoint("b", "memory");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  ASSERT_NE(to_b, nullptr);
  struct Region {
    std::unique_ptr<uint32_t> data;
    cn_memory* memory;
    cn_token token;
  };
  std::vector<Region> there, gone;
  std::mt19937 random(3);
  for (uint32_t i = 0; i < 2000; ++i) {
    if (there.empty() || random() % 5 < 3) {
      Region region{std::make_unique<uint32_t>(i), nullptr, {}};
      ASSERT_EQ(cn_memory_register(b.get(), region.data.get(), 4, CN_READ, &region.memory), CN_OK);
      ASSERT_EQ(cn_memory_token(region.memory, CN_READ, &region.token), CN_OK);
      there.push_back(std::move(region));
    } else {
      std::swap(there[random() % there.size()], there.back());
      cn_memory_release(there.back().memory);
      gone.push_back(std::move(there.back()));
      there.pop_back();
    }
  }
  const auto read = [&](const Region& region, uint32_t& value) {
    return complete([&](cn_operation** op) { return cn_read(to_b, &region.token, 0, &value, 4, nullptr, op); });
  };
  uint32_t value = 0;
  for (const Region& region : there) {
    EXPECT_EQ(read(region, value), CN_OK) << cn_error();
    EXPECT_EQ(value, *region.data);
  }
  for (const Region& region : gone) EXPECT_EQ(read(region, value), CN_DENIED);
  for (const Region& region : there) cn_memory_release(region.memory);
}

}  // namespace
}  // namespace commnet::tests
