# frozen_string_literal: true

require "pathname"
require_relative "helper"

# Tests devices: their properties, their names, and tensors on a device whose memory the host cannot access. The device
# `far` is a plugin of the runtime's tests, which `make test-ruby` adds to ONEFLOW_DEVICE_PATH.
class DevicesTest < OneFlowTest
  HOST = "cpu:0"

  def far = tensor([[1.0, 2.0], [3.0, 4.0]], device: "far")

  def test_the_test_plugin_is_loaded
    assert_includes OneFlow.devices.map(&:name), "far:0", "make test-ruby adds it to ONEFLOW_DEVICE_PATH"
  end

  def test_properties
    OneFlow.devices.each do |device|
      assert_equal [device, device], [OneFlow.device(device.name), OneFlow.device(device)]
      assert_equal device.name, "#{device.type}:#{device.index}"
      refute_empty device.hardware
      assert_operator device.total_memory, :>=, device.free_memory
      assert_kind_of Integer, device.compute_units
      assert(device.capabilities.all?(Symbol))
      assert_equal "", device.notes
    end
    assert_empty %i[kernels host_accessible] - OneFlow.devices[0].capabilities
    assert_equal OneFlow.devices.uniq, OneFlow.devices
  end

  def test_device_objects
    second = OneFlow.device("far:1")
    assert_equal ["Far device B", 1 << 30, 1, []],
                 [second.hardware, second.total_memory, second.compute_units, second.capabilities]
    assert_equal ['device("far:1")', "far:1", "is far:1"], [second.inspect, second.to_s, "is #{second}"]
    assert_equal second, "far:1"
    assert_equal "far:1", second
    refute_equal second, OneFlow.device("far")
    assert_predicate second, :frozen?
    assert Ractor.shareable?(second)
    assert_equal second, Marshal.load(Marshal.dump(second))
    assert_equal 1, { second => 1 }[OneFlow.device(second)]
    assert_equal(1, second.then { |device| device in { type: "far", index: } and index })
  end

  NAMES = ["", "far:", ":0", "far:7", "far:-1", "far:x", "far:0x0", "far:+1", "far: 1", "far:1 ", " far", "FAR",
           "fra", "far:0:0", "far:-0", "far:01", "far:2147483648", "far:99999999999999999999", "f\u00e4r",
           "far" * 100, "%s%n"].freeze

  # Returns calls with the name of a device, keyed by the function that the error names.
  def calls_with_device(name)
    x = OneFlow.ones(2)
    {
      "device" => -> { OneFlow.device(name) },
      "zeros" => -> { OneFlow.zeros(1, device: name) },
      "tensor" => -> { tensor([1], device: name) },
      "from_binary" => -> { OneFlow.from_binary("", dtype: :int8, device: name) },
      "to" => -> { x.to(name) },
      "to_device" => -> { x.to_device(name) },
      "default_device=" => -> { OneFlow.default_device = name },
      "synchronize" => -> { OneFlow.synchronize(name) },
      "memory_stats" => -> { OneFlow.memory_stats(name) },
      "reset_peak_memory_stats" => -> { OneFlow.reset_peak_memory_stats(name) },
      "empty_cache" => -> { OneFlow.empty_cache(name) },
      "set_memory_limit" => -> { OneFlow.set_memory_limit(1, name) }
    }
  end

  def test_unknown_device_names
    existing = OneFlow.devices.join(", ")
    NAMES.product(%i[to_s to_sym]) do |name, form|
      calls_with_device(name.public_send(form)).each do |function, call|
        error = assert_raises(OneFlow::DeviceError, &call)
        text = error.message.lines.first.chomp
        shown = name.size > 80 ? "#{name[0, 80]}…" : name
        assert_equal "#{function}: there is no device '#{shown}'; there are #{existing}", text
      end
    end
  end

  def test_invalid_device_names
    { 3 => "Integer", nil => "nil", ["far"] => "Array", Object.new => "Object" }.each do |value, word|
      assert_error(OneFlow::TypeMismatch, "device: name must be device, got #{word}") { OneFlow.device(value) }
    end
    assert_error(OneFlow::InvalidArgument, "device: name must not have a null byte") { OneFlow.device("far\0") }
    assert_raises(OneFlow::TypeMismatch) { OneFlow.zeros(1, device: 1) }
    assert_raises(TypeError) { OneFlow.device(OneFlow::Device.allocate) }
    assert_raises(FrozenError) { OneFlow.device("far").send(:initialize, "far:1") }
  end

  def test_the_error_of_an_unknown_type_gives_the_reasons_of_rejected_plugins
    program = <<~RUBY
      puts OneFlow.rejected_plugins.first
      begin
        OneFlow.zeros(1, device: "toaster")
      rescue OneFlow::DeviceError => e
        puts e.message
      end
    RUBY
    environment = { "ONEFLOW_DEVICE_PATH" => plugin("accel"), "ACCEL_FAULT" => "newer_version" }
    path, reason, first, *rest = run_alone(program, environment)
    assert_equal plugin("accel"), path
    assert_includes reason, "API version"
    assert first.start_with?("zeros: there is no device 'toaster'; there ")
    assert_includes rest, reason
  end

  def test_loading_a_plugin
    program = <<~RUBY
      file = Pathname(#{plugin("far").inspect})
      p OneFlow.devices.any? { |device| device.type == "far" }
      OneFlow.load_device(file)
      p OneFlow.ones(3, device: "far:1").sum.item
      begin
        OneFlow.load_device(file)
      rescue OneFlow::DeviceError => e
        puts e.message
      end
    RUBY
    has, sum, message = run_alone("require 'pathname'\n#{program}", { "ONEFLOW_DEVICE_PATH" => nil })
    assert_equal ["false", "3.0"], [has, sum]
    assert message.end_with?("there already is a device type 'far'")
    ["/nowhere/plugin.so", __FILE__, File.join(BUILD, "lib/liboneflow.so")].each do |file|
      assert_raises(OneFlow::DeviceError) { OneFlow.load_device(file) }
    end
    assert_error(OneFlow::InvalidArgument, "load_device: path must be the name of a file, got ''") do
      OneFlow.load_device("")
    end
    assert_error(OneFlow::InvalidArgument, "load_device: path must not have a null byte") do
      OneFlow.load_device("far.so\0")
    end
  end

  def test_conversion_of_device_and_dtype_at_once
    x = tensor([1.75, -2.5])
    %w[cpu:0 far:1 accel:0].each do |device|
      [x.to(device, :int16), x.to(device:, dtype: :int16), x.to("far").to(device, :int16)].each do |moved|
        assert_equal [device, :int16, [1, -2]], [moved.device, moved.dtype, moved.to_a]
      end
    end
  end

  def test_creation_and_copies
    x = tensor([[1.0, 2.0], [3.0, 4.0]], device: OneFlow.device("far:1"))
    assert_equal ["far:1", [[1.0, 2.0], [3.0, 4.0]]], [x.device, x.to_a]
    assert_equal "        [3., 4.]], device: \"far:1\")", x.inspect.lines[1]
    assert_equal [1, 2], OneFlow.from_binary([1, 2].pack("q*"), dtype: :int64, device: "far").to_a
    moved = tensor(tensor([1, 2]), device: "far:0", dtype: :float16)
    assert_equal ["far:0", :float16, [1.0, 2.0]], [moved.device, moved.dtype, moved.to_a]
    back = x.transpose(0, 1).to_device(HOST)
    assert_equal [HOST, [[1.0, 3.0], [2.0, 4.0]]], [back.device, back.to_a]
    assert_equal ["far:0", "far:1", "far:1"], [x.to("far").device, x.dup.device, tensor(x).device]
  end

  def test_operators_and_indices
    x = far
    x[0, 0] = 9
    assert_equal [[19.0, 5.0], [7.0, 9.0]], ((2 * x) + 1).to_a
    assert_equal ["far:0", [9.0, 4.0], [0, 1]], [x.sum(dim: 1).device, x[x > 3].to_a, x.max(0)[1].to_a]
    assert_equal [[[3.0, 4.0], [9.0, 2.0]], "far:0"], [x[[1, 0]].to_a, x[[true, false]].device]
  end

  def test_copies_and_assignments_cross_devices
    there = tensor([1.0, 2.0], device: "far").copy!(tensor([3.0, 4.0]))
    there[0] = tensor(7)
    assert_equal [7.0, 4.0], there.to_a
  end

  def test_pinned_memory
    x = tensor([1.0, 2.0])
    pinned = x.pin_memory(device: "accel")
    assert_equal [false, true, true], [x, pinned, pinned[1..]].map(&:pinned?)
    refute_predicate pinned * 2, :pinned?
    refute_predicate pinned.to("accel"), :pinned?
    refute_predicate x.pin_memory(device: "far"), :pinned? # far does not support pinned memory
  end

  def test_creation_functions_take_a_device
    given = { arange: [3], eye: [2], full: [[2], 1.0], linspace: [0, 1, 3], randint: [3, [2]], randperm: [3],
              zeros: [2], ones: [2], empty: [2], rand: [2], randn: [2],
              zeros_like: [far], ones_like: [far], full_like: [far, 1.0] }
    given.to_a.product([*OneFlow.devices.first(3), "far:1"]) do |(name, arguments), device|
      assert_equal device, OneFlow.public_send(name, *arguments, device:).device, name
    end
  end

  def test_the_default_device
    here = OneFlow.ones(3)
    OneFlow.default_device = OneFlow.device("far:1")
    made = [tensor([1, 2]), tensor(3), OneFlow.zeros(2), OneFlow.rand(2), OneFlow.from_binary("a", dtype: :int8)]
    assert_equal ["far:1"], made.map(&:device).uniq
    assert(made.none? { |x| x.inspect.include?("device") })
    assert_includes here.inspect, "device: \"cpu:0\""
    here[[0]] = 5
    here[[1, 2]] = [6, 7]
    assert_equal [[5.0, 7.0], HOST, HOST], [here[[0, 2]].to_a, here[[true, false, true]].device,
                                            OneFlow.zeros_like(here).device]
    OneFlow.set_memory_limit(1 << 40)
    assert_equal 1 << 40, OneFlow.memory_stats("far:1")[:limit]
  ensure
    OneFlow.set_memory_limit(0, "far:1")
    OneFlow.default_device = HOST
  end

  def test_random_numbers_are_the_same_on_every_device
    drawn = ["far", HOST].map do |device|
      OneFlow.manual_seed(7)
      [OneFlow.rand(5, device:).to_a, OneFlow.randn(5, device:).to_a]
    end
    assert_equal drawn[0], drawn[1]
  end

  def test_mixed_devices
    x = far
    text = "other must be on far:0, as input is, got a tensor on cpu:0"
    assert_error(OneFlow::DeviceError, "add: #{text}") { x + tensor([1.0]) }
    assert_error(OneFlow::DeviceError, "add!: #{text}") { x.add!(tensor([1.0])) }
    assert_raises(OneFlow::DeviceError) { OneFlow.cat([x, tensor([[1.0, 2.0]])]) }
    assert_raises(OneFlow::DeviceError) { OneFlow.add(x, x, out: OneFlow.ones(2, 2)) }
    assert_raises(OneFlow::DeviceError) { x + x.to("far:1") }
    assert_equal [[2.0, 3.0], [4.0, 5.0]], (x + 1).to_a
  end

  def test_fallbacks
    OneFlow.reset_fallbacks
    x = (far * 2) + 1
    OneFlow.ones(2).mul(2)
    assert_equal({ "mul" => 1, "add" => 1 }, OneFlow.fallbacks)
    OneFlow.set_option(:fallback_is_error, true)
    assert_raises(OneFlow::Unsupported) { x.exp }
    assert_equal [[3.0, 5.0], [7.0, 9.0]], x.to_a
  ensure
    OneFlow.set_option(:fallback_is_error, false)
    OneFlow.reset_fallbacks
  end

  def test_memory_of_a_device
    x = OneFlow.zeros(1 << 20, device: "far")
    in_use = OneFlow.memory_stats("far")[:in_use]
    assert_operator in_use, :>=, 4 << 20
    OneFlow.set_memory_limit(in_use + 1024, "far")
    assert_raises(OneFlow::OutOfMemory) { [x, OneFlow.zeros(1 << 20, device: "far")] }
    assert_equal 0, OneFlow.zeros(1 << 20).sum.item # each device has its own limit
  ensure
    OneFlow.set_memory_limit(0, "far")
    OneFlow.empty_cache("far")
  end
end
