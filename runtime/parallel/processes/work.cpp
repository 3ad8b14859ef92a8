#include "parallel/processes/work.h"

#include <utility>

namespace oneflow::processes {

namespace {
thread_local Starting* starting = nullptr;
thread_local Finishing* finishing = nullptr;
}  // namespace

void Work::on_done(std::function<void()> function) {
  if (!operation || !job->engine().set_on_done(*operation, function)) function();
}

InterruptedCall& InterruptedCall::of_this_thread() {
  thread_local InterruptedCall call;
  return call;
}

Ref<Work> InterruptedCall::take(const Call& call) {
  const InterruptedCall before = std::exchange(*this, {});
  return before.schema == &call.schema() && before.input.get() == &call.tensor(0) ? before.work : Ref<Work>();
}

Starting::Starting() : outer_(std::exchange(starting, this)) {}
Starting::~Starting() { starting = outer_; }
Starting* Starting::current() { return starting; }

Finishing::Finishing(Ref<Work> work) : work_(std::move(work)), outer_(std::exchange(finishing, this)) {}
Finishing::~Finishing() { finishing = outer_; }
Ref<Work> Finishing::take() { return finishing ? std::exchange(finishing->work_, {}) : Ref<Work>(); }

}  // namespace oneflow::processes
