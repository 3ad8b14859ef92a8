# frozen_string_literal: true

require_relative "helper"

# Tests errors of asynchronous work: they name the operator whose work failed, and follow the data to other devices.
# `make test-ruby` adds the test accelerator to ONEFLOW_DEVICE_PATH.
class DeferredErrorsTest < OneFlowTest
  TEXT = "the kernel was told to find bad data"
  DEVICES = ["accel:0", "accel:1"].freeze

  def teardown
    OneFlow.set_option(:accel_fail_kernels, 0)
    DEVICES.each do |device|
      OneFlow.synchronize(device)
    rescue OneFlow::Error
      nil # an error that the test left pending
    end
  end

  # Returns a tensor on the first device whose kernel reports bad data.
  def bad
    x = OneFlow.ones(4, device: "accel:0")
    OneFlow.set_option("accel_fail_kernels:0", 1)
    -x
  end

  def test_the_destination_of_a_copy_reports_the_error_once
    moves = [
      ->(x) { x.to("accel:1") },
      ->(x) { OneFlow.ones(4, device: "accel:1").copy!(x) },
      ->(x) { OneFlow::Comm::Local.broadcast(x, DEVICES)[1] }
    ]
    moves.each do |move|
      moved = move.call(bad) * 2
      assert_error(OneFlow::InvalidArgument, "neg: #{TEXT}") { moved.to_a }
      DEVICES.reverse_each { |device| OneFlow.synchronize(device) }
    end
  end

  def test_a_copy_to_another_device_type_raises_the_error
    assert_error(OneFlow::InvalidArgument, "neg: #{TEXT}") { bad.to("cpu") }
  end

  def test_indexing_raises_the_deferred_error
    x = OneFlow.ones(4, device: "accel:0")
    bad
    assert_error(OneFlow::InvalidArgument, "neg: #{TEXT}") { x[[0, 2]] }
    bad
    assert_error(OneFlow::InvalidArgument, "neg: #{TEXT}") { x[[0, 2]] = 5 }
  end

  def test_the_error_of_a_collective_names_the_collective
    calls = {
      "Comm::Local.all_reduce" => ->(tensors) { OneFlow::Comm::Local.all_reduce(tensors, op: "prod") },
      "Comm::Local.gather" => ->(tensors) { [OneFlow::Comm::Local.gather(tensors, dim: 1)] }
    }
    calls.each do |name, call|
      tensors = DEVICES.map { |device| OneFlow.ones([4, 4], device:) }
      OneFlow.set_option("accel_fail_kernels:0", 1)
      result, = call.call(tensors)
      assert_error(OneFlow::InvalidArgument, "#{name}: #{TEXT}") { result.to_a }
    end
  end
end
