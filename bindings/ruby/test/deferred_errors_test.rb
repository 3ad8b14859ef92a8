# frozen_string_literal: true

require_relative "helper"

# Errors of work that a device does later: they name the operator that left it, and follow the data to other devices.
# `make test-ruby` puts the test accelerator into ONEFLOW_DEVICE_PATH.
class DeferredErrorsTest < OneFlowTest
  TEXT = "the kernel was told to find bad data"
  DEVICES = ["accel:0", "accel:1"].freeze

  def teardown
    OneFlow.set_option(:accel_fail_kernels, 0)
    DEVICES.each do |device|
      OneFlow.synchronize(device)
    rescue OneFlow::Error
      nil # what the test left
    end
  end

  # A tensor on the first device, with bad data.
  def bad
    x = OneFlow.ones(4, device: "accel:0")
    OneFlow.set_option("accel_fail_kernels:0", 1)
    -x
  end

  def test_the_destination_of_a_copy_hears_of_it_once
    moves = [
      ->(x) { x.to("accel:1") },
      ->(x) { OneFlow.ones(4, device: "accel:1").copy!(x) },
      ->(x) { OneFlow::Comm.broadcast(x, DEVICES)[1] }
    ]
    moves.each do |move|
      moved = move.call(bad) * 2
      assert_error(OneFlow::InvalidArgument, "neg: #{TEXT}") { moved.to_a }
      DEVICES.reverse_each { |device| OneFlow.synchronize(device) }
    end
  end

  def test_a_copy_to_another_type_gives_it
    assert_error(OneFlow::InvalidArgument, "neg: #{TEXT}") { bad.to("cpu") }
  end

  def test_an_index_does_not_take_its_place
    x = OneFlow.ones(4, device: "accel:0")
    bad
    assert_error(OneFlow::InvalidArgument, "neg: #{TEXT}") { x[[0, 2]] }
    bad
    assert_error(OneFlow::InvalidArgument, "neg: #{TEXT}") { x[[0, 2]] = 5 }
  end

  def test_a_collective_names_itself
    calls = {
      "comm.all_reduce" => ->(tensors) { OneFlow::Comm.all_reduce(tensors, op: "prod") },
      "comm.gather" => ->(tensors) { [OneFlow::Comm.gather(tensors, dim: 1)] }
    }
    calls.each do |name, call|
      tensors = DEVICES.map { |device| OneFlow.ones([4, 4], device:) }
      OneFlow.set_option("accel_fail_kernels:0", 1)
      result, = call.call(tensors)
      assert_error(OneFlow::InvalidArgument, "#{name}: #{TEXT}") { result.to_a }
    end
  end
end
