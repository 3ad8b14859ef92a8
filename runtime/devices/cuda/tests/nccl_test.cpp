// Tests how the hooks of the communicator call NCCL: over a library in its place, which notes the calls.
#include "nccl.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "communicator.h"
#include "device.h"

extern "C" {
extern std::string stand_in_calls;
extern oneflow::cuda::nccl::Result stand_in_state, stand_in_result;
}

namespace oneflow::cuda {

// There is no GPU to select.
OnDevice::OnDevice(of_device) : status_(OF_OK) {}
of_status identify(of_device, uint64_t*) { return OF_OK; }

namespace {

const of_communicator_hooks& hooks = kCommunicator;
std::string error_text;

template <class T = void>
T* at(size_t address) {
  return reinterpret_cast<T*>(address);
}

class Nccl : public testing::Test {
 protected:
  Nccl() {
    static of_host_table host{};
    host.fail = [](of_status status, const char* text) {
      error_text = text;
      return status;
    };
    grid::set_host(&host);
    error_text.clear();
    stand_in_state = stand_in_result = nccl::kSuccess;
    stand_in_calls.clear();
    stream_.queue = at<CUstream_st>(7);
  }

  // Opens a communicator as rank 1 of three.
  of_device_communicator open() {
    of_device_communicator opened = nullptr;
    const of_device_communicator_id id{{'y'}};
    EXPECT_EQ(hooks.open({2, 0}, &id, 1, 3, &opened), OF_OK);
    return opened;
  }
  of_device_stream stream() { return reinterpret_cast<of_device_stream>(&stream_); }
  static std::string calls() { return std::exchange(stand_in_calls, ""); }

 private:
  Stream stream_;
};

TEST_F(Nccl, IsFoundInTheProcess) { EXPECT_STREQ(hooks.version(), "nccl 2.21"); }

TEST_F(Nccl, OpensWithoutWaiting) {
  of_device_communicator_id id{};
  EXPECT_EQ(hooks.make_id(&id), OF_OK);
  EXPECT_EQ(id.bytes[0], 'x');
  stand_in_result = stand_in_state = nccl::kInProgress;
  const of_device_communicator opened = open();
  EXPECT_EQ(calls(), "id\nopen 3 1 y\n");
  bool is_ready = true;
  EXPECT_EQ(hooks.poll(opened, &is_ready), OF_OK);
  EXPECT_FALSE(is_ready);
  stand_in_state = nccl::kSuccess;
  EXPECT_EQ(hooks.poll(opened, &is_ready), OF_OK);
  EXPECT_TRUE(is_ready);
  hooks.close(opened);
  EXPECT_EQ(calls(), "finalize\ndestroy\n");
}

TEST_F(Nccl, SaysWhyItCannotBeOpened) {
  stand_in_result = nccl::kInvalidUsage;
  of_device_communicator opened = nullptr;
  const of_device_communicator_id id{{'y'}};
  EXPECT_EQ(hooks.open({2, 0}, &id, 1, 3, &opened), OF_DEVICE_ERROR);
  EXPECT_EQ(error_text, "cuda:0: NCCL: invalid usage; each rank needs a GPU of its own");
  EXPECT_EQ(calls(), "open 3 1 y\nabort\n");
}

TEST_F(Nccl, FailsLater) {
  const of_device_communicator opened = open();
  stand_in_state = static_cast<nccl::Result>(6);
  bool is_ready = true;
  EXPECT_EQ(hooks.poll(opened, &is_ready), OF_DEVICE_ERROR);
  EXPECT_EQ(error_text, "cuda:0: NCCL: remote process exited");
  calls();
  hooks.abort(opened);
  EXPECT_EQ(calls(), "abort\n");
}

TEST_F(Nccl, AbortsWhatDoesNotEnd) {
  const of_device_communicator opened = open();
  stand_in_state = nccl::kInProgress;
  calls();
  hooks.close(opened);
  EXPECT_EQ(calls(), "finalize\nabort\n");
}

TEST_F(Nccl, Reduces) {
  const of_device_communicator opened = open();
  const std::pair<of_dtype, int> dtypes[] = {
      {OF_INT8, 0},   {OF_UINT8, 1},   {OF_INT32, 2},   {OF_UINT32, 3},  {OF_INT64, 4},
      {OF_UINT64, 5}, {OF_FLOAT16, 6}, {OF_FLOAT32, 7}, {OF_FLOAT64, 8}, {OF_BFLOAT16, 9},
  };
  const std::pair<of_reduction, int> reductions[] = {{OF_REDUCTION_SUM, 0},
                                                     {OF_REDUCTION_PRODUCT, 1},
                                                     {OF_REDUCTION_MAX, 2},
                                                     {OF_REDUCTION_MIN, 3},
                                                     {OF_REDUCTION_MEAN, 4}};
  calls();
  for (const auto& [dtype, type] : dtypes)
    for (const auto& [reduction, by] : reductions) {
      EXPECT_TRUE(hooks.can_reduce(dtype, reduction));
      EXPECT_EQ(hooks.reduce(opened, -1, at(1), at(2), 5, dtype, reduction, stream()), OF_OK);
      EXPECT_EQ(calls(), "start\nall_reduce 5 " + std::to_string(type) + " " + std::to_string(by) + " 7 \nend\n");
    }
  for (const of_dtype dtype : {OF_BOOL, OF_INT16, OF_UINT16, OF_COMPLEX64, OF_COMPLEX128})
    EXPECT_FALSE(hooks.can_reduce(dtype, OF_REDUCTION_SUM));
  EXPECT_EQ(hooks.reduce(opened, 2, at(16), nullptr, 5, OF_FLOAT32, OF_REDUCTION_SUM, stream()), OF_OK);
  EXPECT_EQ(calls(), "start\nreduce 16 5 7 0 2 \nend\n");
  stand_in_result = nccl::kInvalidUsage;
  EXPECT_EQ(hooks.reduce(opened, -1, at(1), at(2), 5, OF_FLOAT32, OF_REDUCTION_SUM, stream()), OF_DEVICE_ERROR);
  EXPECT_EQ(calls(), "start\nall_reduce 5 7 0 7 \nend\n");
  hooks.abort(opened);
}

TEST_F(Nccl, SplitsAndJoinsEvenAndUnevenParts) {
  const of_device_communicator opened = open();
  calls();
  const uint64_t even[] = {4, 4, 4}, uneven[] = {3, 0, 2};
  hooks.reduce_scatter(opened, at(16), at(64), even, OF_FLOAT64, OF_REDUCTION_MAX, stream());
  EXPECT_EQ(calls(), "start\nreduce_scatter 4 8 2 \nend\n");
  hooks.reduce_scatter(opened, at(16), at(64), uneven, OF_FLOAT64, OF_REDUCTION_MAX, stream());
  EXPECT_EQ(calls(), "start\nreduce 16 3 8 2 0 \nreduce 40 2 8 2 2 \nend\n");
  hooks.all_gather(opened, at(16), at(64), even, stream());
  EXPECT_EQ(calls(), "start\nall_gather 4 1 \nend\n");
  hooks.all_gather(opened, at(16), at(64), uneven, stream());
  EXPECT_EQ(calls(), "start\nbroadcast 64 3 1 0 \nbroadcast 67 2 1 2 \nend\n");
  hooks.broadcast(opened, 1, at(16), at(64), 9, stream());
  EXPECT_EQ(calls(), "start\nbroadcast 64 9 1 1 \nend\n");
  hooks.close(opened);
}

TEST_F(Nccl, SendsAndReceivesAsOneGroup) {
  const of_device_communicator opened = open();
  calls();
  const void* const inputs[] = {at(1), at(2), at(3)};
  void* const outputs[] = {at(11), at(12), at(13)};
  const uint64_t sent[] = {5, 6, 0}, received[] = {0, 6, 8};
  EXPECT_EQ(hooks.exchange(opened, inputs, sent, outputs, received, stream()), OF_OK);
  EXPECT_EQ(calls(), "start\nsend 1 5 0 \nsend 2 6 1 \nrecv 12 6 1 \nrecv 13 8 2 \nend\n");
  hooks.close(opened);
}

}  // namespace
}  // namespace oneflow::cuda
