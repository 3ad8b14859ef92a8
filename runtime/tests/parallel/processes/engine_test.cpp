// Several engines in one process, each of which is a rank: sanitizers see all sides of a collective.
#include "parallel/processes/engine.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <numeric>
#include <thread>

#include "base/interrupt.h"
#include "device/device.h"
#include "parallel/local/ranks.h"
#include "parallel/processes/algorithms.h"
#include "parallel/processes/communicators.h"

namespace oneflow::processes {
namespace {

using collective::MergeOperators;

constexpr auto kTimeout = std::chrono::seconds(60);
constexpr uint64_t kLane = 1;

TensorRef filled(int64_t count, float value) {
  TensorRef tensor = Tensor::allocate(Shape{count}, OF_FLOAT32, kHost);
  std::fill_n(static_cast<float*>(tensor->mutable_data()), count, value);
  return tensor;
}

bool holds(const TensorRef& tensor, float value) {
  const auto* const elements = static_cast<const float*>(tensor->data());
  return std::all_of(elements, elements + tensor->count(), [=](float each) { return each == value; });
}

Task sum(Operation& operation, TensorRef input, TensorRef output) {
  const MergeOperators operators{"sum", &*OperatorName("add"), nullptr};
  co_await merge_of_all(operation, input, output, operators);
}

// The ranks of a job.
class Ranks {
 public:
  explicit Ranks(uint32_t size, Clock::duration timeout = kTimeout) : engines_(size) {
    const std::string meeting = "file:" + folder_.string();
    const of_communicator_table& table = find_communicator(COMMUNICATOR);
    for_each([&](uint32_t rank) {
      of_communicator_options options{};
      options.rank = rank;
      options.size = size;
      options.meeting = meeting.c_str();
      options.secret = "secret";
      options.listen = "";
      options.timeout_ms = 60'000;
      engines_[rank] = std::make_unique<Engine>(table, options, timeout);
    });
    std::vector<uint32_t> ranks(size);
    std::iota(ranks.begin(), ranks.end(), 0);
    world_ = &Group::of(ranks);
  }
  ~Ranks() {
    engines_.clear();
    std::filesystem::remove_all(folder_);
  }

  // Calls run(rank) for each rank, on a thread of its own. Returns the text of each failure.
  template <class Run>
  std::vector<std::string> for_each(Run&& run) {
    std::vector<std::string> failures(engines_.size());
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < engines_.size(); ++rank)
      threads.emplace_back([&, rank] {
        try {
          run(rank);
        } catch (const Error& error) {
          failures[rank] = error.text();
        }
      });
    for (std::thread& each : threads) each.join();
    return failures;
  }

  Engine& engine(uint32_t rank) { return *engines_[rank]; }
  void leave(uint32_t rank) { engines_[rank]->close(); }

  Ref<Operation> operation(uint32_t rank, Operation::Body body, const char* name = "sum", uint64_t lane = kLane) {
    return Ref<Operation>::adopt(new Operation(engine(rank), *world_, lane, Described(name), std::move(body)));
  }
  // Computes a sum over all ranks.
  void check_sum(uint32_t rank, int64_t count, uint64_t lane = kLane) {
    const TensorRef input = filled(count, static_cast<float>(rank + 1)), output = filled(count, 0);
    const auto added = operation(
        rank, [=](Operation& own) { return sum(own, input, output); }, "sum", lane);
    engine(rank).submit(added);
    engine(rank).wait(*added);
    const auto size = static_cast<float>(engines_.size());
    EXPECT_TRUE(holds(output, size * (size + 1) / 2));
  }

 private:
  static std::filesystem::path new_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "oneflow-engine-XXXXXX").string();
    return mkdtemp(name.data());
  }

  const std::filesystem::path folder_ = new_folder();
  std::vector<std::unique_ptr<Engine>> engines_;
  const Group* world_ = nullptr;
};

TEST(Engine, RunsOperationsInTheirOrder) {
  Ranks ranks(3);
  const auto failures = ranks.for_each([&](uint32_t rank) {
    for (const int64_t count : {1, 0, 100, 5'000, 300'000}) ranks.check_sum(rank, count);
  });
  EXPECT_EQ(failures, std::vector<std::string>(3));
}

TEST(Engine, RunsManyThatHaveBegun) {
  Ranks ranks(2);
  constexpr int kCount = 500;
  const auto failures = ranks.for_each([&](uint32_t rank) {
    std::vector<Ref<Operation>> begun;
    std::vector<TensorRef> outputs;
    std::atomic<int> done = 0;
    for (int i = 0; i < kCount; ++i) {
      const TensorRef input = filled(10, static_cast<float>(i)), output = outputs.emplace_back(filled(10, 0));
      begun.push_back(ranks.operation(rank, [=](Operation& own) { return sum(own, input, output); }));
      ranks.engine(rank).start(begun.back());
      if (!ranks.engine(rank).set_on_done(*begun.back(), [&] { ++done; })) ++done;
    }
    for (int i = 0; i < kCount; ++i) {
      ranks.engine(rank).wait(*begun[static_cast<size_t>(i)]);
      EXPECT_TRUE(holds(outputs[static_cast<size_t>(i)], static_cast<float>(2 * i)));
    }
    while (done < kCount) std::this_thread::yield();
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST(Engine, ServesSeveralThreads) {
  Ranks ranks(2);
  const auto failures = ranks.for_each([&](uint32_t rank) {
    std::vector<std::thread> threads;
    for (uint64_t lane = 1; lane <= 4; ++lane)
      threads.emplace_back([&, lane] {
        for (int i = 0; i < 50; ++i) ranks.check_sum(rank, 1'000 * static_cast<int64_t>(lane), lane);
      });
    for (std::thread& each : threads) each.join();
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST(Engine, TellsRanksThatCallSomethingElse) {
  Ranks ranks(3);
  const auto failures = ranks.for_each([&](uint32_t rank) {
    const TensorRef input = filled(3, 1), output = filled(3, 0);
    const auto own = ranks.operation(
        rank, [=](Operation& operation) { return sum(operation, input, output); }, rank == 1 ? "product" : "sum");
    ranks.engine(rank).submit(own);
    ranks.engine(rank).wait(*own);
  });
  for (const std::string& each : failures) {
    EXPECT_NE(each.find("sum()"), std::string::npos) << each;
    EXPECT_NE(each.find("product()"), std::string::npos) << each;
  }
  EXPECT_EQ(ranks.for_each([&](uint32_t rank) { ranks.check_sum(rank, 10); }), std::vector<std::string>(3));
}

TEST(Engine, TellsWhoHasLeft) {
  Ranks ranks(3);
  ranks.for_each([&](uint32_t rank) { ranks.check_sum(rank, 1); });
  ranks.leave(1);
  const auto failures = ranks.for_each([&](uint32_t rank) {
    if (rank != 1) ranks.check_sum(rank, 100'000);
  });
  EXPECT_NE(failures[0].find("rank 1"), std::string::npos) << failures[0];
  EXPECT_NE(failures[2].find("rank 1"), std::string::npos) << failures[2];
}

TEST(Engine, TellsTheOthersOfItsFailure) {
  Ranks ranks(2);
  const auto failures = ranks.for_each([&](uint32_t rank) {
    if (rank == 0) return ranks.check_sum(rank, 3);
    const auto failing = ranks.operation(rank, [](Operation&) -> Task {
      fail(OF_OUT_OF_MEMORY, "no memory is left");
      co_return;
    });
    ranks.engine(rank).submit(failing);
    ranks.engine(rank).wait(*failing);
  });
  EXPECT_EQ(failures[1], "no memory is left");
  EXPECT_NE(failures[0].find("rank 1 has failed: no memory is left"), std::string::npos) << failures[0];
}

TEST(Engine, EndsWhatOthersDoNotTakePartIn) {
  Ranks ranks(2, std::chrono::milliseconds(300));
  const auto failures = ranks.for_each([&](uint32_t rank) {
    if (rank == 0) ranks.check_sum(rank, 100'000);
  });
  EXPECT_NE(failures[0].find("rank 1 has not taken part within 0.3 seconds"), std::string::npos) << failures[0];
}

// Most of them wait for ranks that take part, and wait themselves.
TEST(Engine, NamesThoseOfManyThatDoNotTakePart) {
  Ranks ranks(11, std::chrono::seconds(1));
  const auto failures = ranks.for_each([&](uint32_t rank) {
    if (rank != 4 && rank != 7) ranks.check_sum(rank, 10);
  });
  for (const uint32_t rank : {0, 1, 2, 3, 5, 6, 8, 9, 10})
    EXPECT_NE(failures[rank].find("ranks 4 and 7 have not taken part within 1 seconds"), std::string::npos)
        << failures[rank];
}

TEST(Engine, ManyRanksPassOnWhatTheyGot) {
  Ranks ranks(11);
  const auto failures = ranks.for_each([&](uint32_t rank) {
    for (const int64_t count : {0, 1, 100, 5'000, 70'000}) ranks.check_sum(rank, count);
    const TensorRef own = filled(rank % 3, static_cast<float>(rank));
    std::vector<int64_t> counts;
    for (uint32_t each = 0; each < 11; ++each) counts.push_back(each % 3);
    TensorRef gathered;
    const auto gathers = ranks.operation(
        rank, [&](Operation& operation) { return gather_by_doubling(operation, own, counts, gathered); });
    ranks.engine(rank).submit(gathers);
    ranks.engine(rank).wait(*gathers);
    int64_t start = 0;
    for (uint32_t each = 0; each < 11; start += counts[each++])
      EXPECT_TRUE(holds(collective::flat(*gathered, {start, counts[each]}), static_cast<float>(each)));
  });
  EXPECT_EQ(failures, std::vector<std::string>(11));
}

TEST(Engine, EndsWhatGoesOnWhenItLeaves) {
  Ranks ranks(2);
  const TensorRef input = filled(3, 1), output = filled(3, 0);
  const auto begun = ranks.operation(0, [=](Operation& own) { return sum(own, input, output); });
  ranks.engine(0).start(begun);
  ranks.leave(0);
  EXPECT_THROW(ranks.engine(0).wait(*begun), Error);
  EXPECT_THROW(ranks.engine(0).submit(begun), Error);
}

// Interrupts a thread again and again, after some looks.
struct Interrupts {
  Interrupts() {
    interrupt_check = {[](void* self) { return ++static_cast<Interrupts*>(self)->looks % 3 == 0; }, this};
  }
  ~Interrupts() { interrupt_check = {}; }
  unsigned looks = 0;
};

TEST(Engine, InterruptsEndWaitsOnly) {
  Ranks ranks(3);
  const auto failures = ranks.for_each([&](uint32_t rank) {
    const Interrupts interrupts;
    for (int i = 0; i < 20; ++i) {
      const TensorRef input = filled(50'000, 1), output = filled(50'000, 0);
      const auto added = ranks.operation(rank, [=](Operation& own) { return sum(own, input, output); });
      ranks.engine(rank).submit(added);
      for (bool is_done = false; !is_done;) {
        try {
          ranks.engine(rank).wait(*added);
          is_done = true;
        } catch (const Error& error) {
          if (error.status() != OF_INTERRUPTED) throw;
        }
      }
      EXPECT_TRUE(holds(output, 3));
    }
  });
  EXPECT_EQ(failures, std::vector<std::string>(3));
}

TEST(Engine, RunsThousandsOfSeveralThreads) {
  Ranks ranks(2);
  constexpr int kThreads = 4, kCount = 1000;
  const auto failures = ranks.for_each([&](uint32_t rank) {
    std::vector<std::thread> threads;
    for (uint64_t lane = 1; lane <= kThreads; ++lane)
      threads.emplace_back([&, lane] {
        std::vector<Ref<Operation>> begun;
        std::vector<TensorRef> outputs;
        for (int i = 0; i < kCount; ++i) {
          const TensorRef input = filled(1 + i % 50, static_cast<float>(i)),
                          output = outputs.emplace_back(filled(1 + i % 50, 0));
          begun.push_back(ranks.operation(
              rank, [=](Operation& own) { return sum(own, input, output); }, "sum", lane));
          ranks.engine(rank).start(begun.back());
        }
        for (size_t i = 0; i < kCount; ++i) {
          ranks.engine(rank).wait(*begun[i]);
          EXPECT_TRUE(holds(outputs[i], static_cast<float>(2 * i)));
        }
      });
    for (std::thread& each : threads) each.join();
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

// One rank leaves while threads of all ranks are within collectives, small and large ones.
TEST(Engine, LeavesWhileThreadsCall) {
  for (int round = 0; round < 5; ++round) {
    Ranks ranks(3);
    std::atomic<int> done = 0, told = 0;
    const auto failures = ranks.for_each([&](uint32_t rank) {
      std::vector<std::thread> threads;
      for (uint64_t lane = 1; lane <= 3; ++lane)
        threads.emplace_back([&, lane] {
          try {
            for (;; ++done) ranks.check_sum(rank, lane == 1 ? 10 : 100'000, lane);
          } catch (const Error& error) {
            EXPECT_EQ(error.status(), OF_COMMUNICATION_ERROR);
            const bool is_right = error.text().find(rank == 1 ? "the job was left" : "rank ") != std::string::npos;
            EXPECT_TRUE(is_right) << error.text();
            ++told;
          }
        });
      while (done < 20 * (round + 1)) std::this_thread::yield();
      if (rank == 1) ranks.leave(rank);
      for (std::thread& each : threads) each.join();
    });
    EXPECT_EQ(failures, std::vector<std::string>(3));
    EXPECT_EQ(told, 9);
  }
}

// Nobody waits for what has begun: the thread of the engine works when the rank leaves.
TEST(Engine, LeavesWhileItsThreadWorks) {
  for (int round = 0; round < 5; ++round) {
    Ranks ranks(2);
    std::atomic<int> ended = 0;
    constexpr int kCount = 200;
    const auto failures = ranks.for_each([&](uint32_t rank) {
      std::vector<Ref<Operation>> begun;
      for (int i = 0; i < kCount; ++i) {
        const TensorRef input = filled(20'000, 1), output = filled(20'000, 0);
        begun.push_back(ranks.operation(rank, [=](Operation& own) { return sum(own, input, output); }));
        ranks.engine(rank).start(begun.back());
        if (!ranks.engine(rank).set_on_done(*begun.back(), [&] { ++ended; })) ++ended;
      }
      while (ended < 40 * round) std::this_thread::yield();
      ranks.leave(rank);
      // Done, or failed: nothing is under way.
      for (const auto& each : begun) EXPECT_EQ(each->state, Operation::State::kDone);
    });
    EXPECT_EQ(failures, std::vector<std::string>(2));
    EXPECT_EQ(ended, 2 * kCount);
  }
}

// A communicator of rank 0 of two: rank 1 sends what the test says, and leaves after some messages to it.
struct Script {
  of_communicator_options options{};
  std::deque<std::string> messages;  // of rank 1
  int taken = 0;

  void add(const Envelope& envelope, const void* data) {
    std::string& bytes = messages.emplace_back(reinterpret_cast<const char*>(&envelope), sizeof envelope);
    bytes.append(static_cast<const char*>(data), envelope.size);
  }
  bool bring() {
    if (messages.empty()) return false;
    const std::string bytes = std::move(messages.front());
    messages.pop_front();
    options.arrived(options.context, 1, bytes.data(), bytes.size());
    return true;
  }
};
Script script;

constexpr of_communicator_table kScripted = {
    .struct_size = sizeof(of_communicator_table),
    .version = OF_COMMUNICATOR_VERSION,
    .name = "scripted",
    .message_limit = 1 << 20,
    .open =
        [](const of_communicator_options* options, void** self) {
          script.options = *options;
          *self = &script;
          return OF_OK;
        },
    .close = [](void*) {},
    .is_bound_to_thread = [](void*) { return true; },
    .offer_from = [](void*, uint32_t) { return SIZE_MAX; },
    .post =
        [](void*, uint32_t, const void*, size_t) {
          return script.taken-- > 0 ? OF_OK : script.options.fail(OF_COMMUNICATION_ERROR, "it has left");
        },
    .offer = nullptr,
    .fetch = nullptr,
    .withdraw = nullptr,
    .progress = [](void*) { return script.bring(); },
    .descriptor = [](void*) { return -1; },
};

// The answer cannot be sent: its error went through the communicator, which may not throw.
TEST(Engine, CannotAnswerARankThatHasLeft) {
  script = {};
  script.taken = 2;  // the operands of both calls
  of_communicator_options options{};
  options.size = 2;
  Engine engine(kScripted, options, kTimeout);
  const Group& both = Group::of({0, 1});
  const auto call_sum = [&] {
    const TensorRef input = filled(1, 1), output = filled(1, 0);
    const auto added = Ref<Operation>::adopt(
        new Operation(engine, both, kLane, Described("sum"), [=](Operation& own) { return sum(own, input, output); }));
    engine.submit(added);
    engine.wait(*added);
    return output;
  };
  const float value = 2;
  script.add({kLane, Described("sum").hash(), 0, MessageKind::kData, 0, sizeof value}, &value);
  EXPECT_TRUE(holds(call_sum(), 3));
  const std::string text = "product()";
  script.add({kLane, Described("product").hash(), 0, MessageKind::kDispute, 0, text.size()}, text.data());
  try {
    call_sum();
    ADD_FAILURE() << "it has no error";
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("out of step"), std::string::npos) << error.text();
  }
}

}  // namespace
}  // namespace oneflow::processes
