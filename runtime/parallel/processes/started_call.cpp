#include "parallel/processes/started_call.h"

#include "dispatch/dispatch.h"

namespace oneflow::processes {

Ref<StartedCall> StartedCall::start(const Operator& op, std::span<const of_value> arguments) {
  const Schema& schema = op.schema();
  return with_name(schema, [&] {
    if (!schema.between_processes) fail(OF_UNSUPPORTED, "only collectives between processes can be started");
    auto started = Ref<StartedCall>::adopt(new StartedCall(op));
    for (of_value value : arguments) {
      if (value.kind == OF_VALUE_TENSOR && value.as.tensor)
        started->tensors_.push_back(TensorRef::share(to_tensor(value.as.tensor)));
      if (value.kind == OF_VALUE_STRING && value.count >= 0 && value.as.string) {
        const auto count = static_cast<size_t>(value.count);
        value.as.string = started->texts_.emplace_back(std::make_unique<std::string>(value.as.string, count))->data();
      }
      started->arguments_.push_back(value);
    }
    Starting starting;
    of_value result{};
    Call call(op, schema.function_name, {&result, 1}, false, nullptr);
    check_call(call, started->arguments_);
    schema.run(call);
    started->work_ = std::move(starting.work);
    return started;
  });
}

TensorRef StartedCall::finish() {
  const std::lock_guard lock(mutex_);
  if (!result_) {
    const Finishing finishing(work_);
    of_value result{};
    call(op_, arguments_, {&result, 1});
    result_ = TensorRef::adopt(to_tensor(result.as.tensor));
  }
  return result_;
}

}  // namespace oneflow::processes
