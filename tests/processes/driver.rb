# frozen_string_literal: true

# Runs the cases of a file as one rank of a job, and prints a line of JSON for each. See driver.py.

require "digest"
require "json"
require "oneflow"

DEVICE = ENV.fetch("TEST_DEVICE", "cpu")

def run(test)
  comm = OneFlow::Comm
  rank = comm.rank
  return if test["options"]["group"] && !comm::Group.new(test["ranks"]).ranks.include?(rank)

  given = test["inputs"][rank]
  data = given["data"]
  x = if data.is_a?(Integer) # many elements, which follow from a number
        (OneFlow.arange(given["shape"].reduce(1, :*)) * data % 4099).to(test["dtype"]) / 7
      else
        OneFlow.tensor(data, dtype: test["dtype"])
      end
  x = x.reshape(given["shape"]).to(DEVICE)
  x.requires_grad = test["gradient"]
  name = test["is_async"] ? "#{test["call"]}_async" : test["call"]
  result = comm.public_send(name, x, *test["positional"], **test["options"].transform_keys(&:to_sym))
  result = result.wait if test["is_async"]
  if test["gradient"]
    weights = OneFlow.arange(result.numel, dtype: test["dtype"]).reshape(result.shape) + rank
    (result * weights.to(DEVICE)).sum.backward
    result = x.grad
  end
  raise "the result is on #{result.device}" if result.device != x.device

  result = result.to("cpu")
  numbers = result.to(:float64).reshape([-1])
  [result.shape, numbers.numel > 1000 ? Digest::SHA256.hexdigest(numbers.to_binary) : numbers.to_a]
end

JSON.parse(File.read(ARGV[0])).each do |test|
  puts JSON.generate(run(test))
  $stdout.flush
end
puts OneFlow.get_option("accel_collectives") if DEVICE.start_with?("accel")
OneFlow::Comm.finalize
