# frozen_string_literal: true

# Does what this rank calls, and writes what it gets. See driver.py.

require "digest"
require "json"
require "oneflow"

COMM = OneFlow::Comm
DEVICE = ENV.fetch("TEST_DEVICE", "cpu")
RANK = COMM.rank

def input(data, shape, dtype)
  x = if data.is_a?(Integer) # many elements, which follow from a number
        (OneFlow.arange(shape.reduce(1, :*)) * data % 4099).to(dtype) / 7
      else
        OneFlow.tensor(data, dtype: dtype)
      end
  x.reshape(shape).to(DEVICE)
end

def run(call)
  return if call.nil?

  x = input(*call.values_at("data", "shape", "dtype"))
  x.requires_grad = call["gradient"]
  options = call["options"].transform_keys(&:to_sym)
  options[:group] = COMM::Group.new(options[:group]) if options[:group].is_a?(Array)
  name = call["is_async"] ? "#{call["call"]}_async" : call["call"]
  result = COMM.public_send(name, x, *call["positional"], **options)
  result = result.wait if call["is_async"]
  if call["gradient"]
    weights = OneFlow.arange(result.numel, dtype: call["dtype"]).reshape(result.shape) + RANK
    (result * weights.to(DEVICE)).sum.backward
    result = x.grad
  end
  raise "the result is on #{result.device}" if result.device != x.device

  result = result.to("cpu")
  return [result.shape, Digest::SHA256.hexdigest(result.to_binary)] if result.numel > 1000

  [result.shape, result.to(:float64).reshape([-1]).to_a]
end

folder = ARGV[0]
calls = JSON.parse(File.read("#{folder}/#{RANK}.calls.json"))
written = { communicator: COMM.communicator, results: calls.map { |each| run(each) } }
written[:device_collectives] = OneFlow.get_option("accel_collectives") if DEVICE.start_with?("accel")
File.write("#{folder}/#{RANK}.results.json", JSON.generate(written, allow_nan: true)) # products of many are infinite
COMM.finalize
