#include "parallel/processes/work.h"

#include <utility>

namespace oneflow::processes {

namespace {
thread_local Starting* starting = nullptr;
thread_local Finishing* finishing = nullptr;
}  // namespace

Starting::Starting() : outer_(std::exchange(starting, this)) {}
Starting::~Starting() { starting = outer_; }
Starting* Starting::current() { return starting; }

Finishing::Finishing(Ref<Work> work) : work_(std::move(work)), outer_(std::exchange(finishing, this)) {}
Finishing::~Finishing() { finishing = outer_; }
Ref<Work> Finishing::take() { return finishing ? std::exchange(finishing->work_, {}) : Ref<Work>(); }

}  // namespace oneflow::processes
