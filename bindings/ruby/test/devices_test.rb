# frozen_string_literal: true

require_relative "helper"

# Tensors on a device whose memory Ruby cannot reach and which has no kernels: a plugin of the runtime's tests. It is
# loaded in a child, because a device stays.
class DevicesTest < OneFlowTest
  BUILD = File.expand_path(ENV.fetch("OF_BUILD", File.join(__dir__, "../../../build")))

  def in_child
    reader, writer = IO.pipe
    child = fork do
      OneFlow.load_device(File.join(BUILD, "test_plugins/far.so"))
      Marshal.dump(yield, writer)
      writer.close
      exit!(0)
    end
    writer.close
    result = Marshal.load(reader)
    Process.wait(child)
    result
  end

  def test_tensors_are_made_and_moved_there
    devices, made, moved, back = in_child do
      x = OneFlow.tensor([[1.0, 2.0], [3.0, 4.0]], device: "far:1")
      binary = OneFlow.from_binary([1, 2].pack("q*"), dtype: :int64, device: "far:0")
      moved = OneFlow.tensor(OneFlow.tensor([1, 2]), device: "far:0", dtype: :float16)
      back = x.transpose(0, 1).to_device("cpu")
      [OneFlow.devices, [x.device, x.to_a, binary.to_a, x.inspect.lines[1]], [moved.device, moved.dtype, moved.to_a],
       [back.device, back.to_a]]
    end
    assert_equal ["cpu:0", "far:0", "far:1"], devices
    assert_equal ["far:1", [[1.0, 2.0], [3.0, 4.0]], [1, 2], "        [3., 4.]], device: \"far:1\")"], made
    assert_equal ["far:0", :float16, [1.0, 2.0]], moved
    assert_equal ["cpu:0", [[1.0, 3.0], [2.0, 4.0]]], back
  end

  def test_operators_fall_back_and_are_counted
    results, fallbacks = in_child do
      x = OneFlow.tensor([[1.0, 2.0], [3.0, 4.0]], device: "far")
      x[0, 0] = 9
      [[((2 * x) + 1).to_a, x.sum(dim: 1).device, x[x > 3].to_a, x.max(0)[1].to_a], OneFlow.fallbacks]
    end
    assert_equal [[[19.0, 5.0], [7.0, 9.0]], "far:0", [9.0, 4.0], [0, 1]], results
    assert_operator fallbacks["mul"], :>=, 1
  end

  def test_copies_and_assignments_cross_devices
    result = in_child do
      there = OneFlow.tensor([1.0, 2.0], device: "far").copy!(OneFlow.tensor([3.0, 4.0]))
      there[0] = OneFlow.tensor(7)
      there.to_a
    end
    assert_equal [7.0, 4.0], result
  end

  def test_mixed_devices
    message = in_child do
      OneFlow.tensor([1.0], device: "far") + OneFlow.tensor([1.0])
    rescue OneFlow::DeviceError => e
      e.message
    end
    assert_equal "add: other must be on far:0, as input is, got a tensor on cpu:0", message
  end
end
