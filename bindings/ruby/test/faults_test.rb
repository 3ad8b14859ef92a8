# frozen_string_literal: true

require "fileutils"
require "json"
require "tmpdir"
require_relative "helper"

# Tests failing devices with the test accelerator (tests/accelerator), whose faults are enabled by options. Every fault
# must raise a OneFlow::Error that describes it, must not leak memory, and must not affect other work.
class FaultsTest < OneFlowTest
  KNOWN = JSON.parse(File.read(File.expand_path("../../../tests/faults.json", __dir__)))
  TEXTS = KNOWN["texts"]
  MIB = 1 << 20

  # Disables all faults and checks that the device works.
  def teardown
    KNOWN["options"].each { |name| fault(name, 0) }
    fault("capacity", 256 * MIB)
    assert_equal [2.0, 2.0, 2.0], (ones(3) * 2).to_a
  end

  def fault(name, value = 1) = OneFlow.set_option("accel_#{name}", value)

  def ones(*sizes, device: "accel") = OneFlow.ones(*sizes, device:)

  def accelerator = { "ONEFLOW_DEVICE_PATH" => plugin("accel") }

  KNOWN["rejected"].each do |name, reason|
    define_method("test_a_plugin_that_is_rejected_#{name}") do
      program = <<~RUBY
        begin
          OneFlow.zeros(2, device: "accel")
        rescue OneFlow::DeviceError => e
          text = e.message
        end
        puts [text, OneFlow.rejected_plugins, OneFlow.ones(3).sum.item, OneFlow.devices.map(&:type)].to_json
      RUBY
      lines = run_alone("require 'json'\n#{program}", { **accelerator, "ACCEL_FAULT" => name })
      text, reasons, sum, types = JSON.parse(lines.join("\n"))
      assert text.start_with?("zeros: there is no device 'accel'; there "), text
      [text, reasons[plugin("accel")]].product([plugin("accel"), reason]) { |whole, part| assert_includes whole, part }
      assert_equal 3.0, sum
      refute_includes types, "accel"
    end
  end

  # All operations that wait for a device.
  WAITS = {
    item: ->(x) { x[0].item }, to_a: :to_a.to_proc, inspect: :inspect.to_proc, to_s: :to_s.to_proc,
    to_binary: :to_binary.to_proc, hash: :hash.to_proc, each: ->(x) { x.each(&:itself) }, first: ->(x) { x.first },
    to_f: ->(x) { x[0].to_f }, equal: ->(x) { x == x.dup }, eql: ->(x) { x.eql?(x) }, to: ->(x) { x.to("cpu") },
    marshal: ->(x) { Marshal.dump(x) }, synchronize: ->(_) { OneFlow.synchronize("accel") },
    mask: ->(x) { x[x.gt(0)] }, set_by_mask: ->(x) { x[x.gt(0)] = 1 }, nonzero: :nonzero.to_proc,
    fallback: ->(x) { x + 1 }, in_place_fallback: ->(x) { x.add!(1) }, copy: ->(x) { OneFlow.ones(4).copy!(x) }
  }.freeze

  WAITS.each do |name, wait|
    # The error is raised when an operation waits for the device. It names the operator that failed, and is raised once.
    define_method("test_a_kernel_that_fails_in_a_chain_#{name}") do
      x = ones(4)
      fault("fail_kernels:0")
      y = -x * 2 * x
      assert_error(OneFlow::InvalidArgument, TEXTS["fail_kernels"]) { wait.call(y) }
      assert_equal [3.0] * 4, (x * 3).to_a
    end
  end

  def test_a_copy_that_fails
    x = ones(4)
    calls = {
      "tensor" => [-> { tensor([1.0], device: "accel") },
                   -> { OneFlow.from_binary("abcd", dtype: :float32, device: "accel") }],
      "to_device" => [-> { tensor(x, device: "cpu") }],
      "to" => [-> { OneFlow.ones(2).to("accel") }, -> { x.to("cpu") }, -> { x.to("accel:1") }],
      "clone" => [-> { OneFlow.clone(x) }], "add" => [-> { x + 1 }], "item" => [-> { x[0].item }],
      "format" => [-> { x.inspect }], "read" => [-> { x.to_a }, -> { x.to_binary }, -> { x.each(&:itself) }],
      "equal" => [-> { x == -x }]
    }
    calls.to_a.product(%w[fail_copies fail_silently]) do |(name, list), kind|
      list.each do |call|
        fault(kind)
        assert_error(OneFlow::DeviceError, "#{name}: #{TEXTS[kind]}", &call)
        fault(kind, 0)
      end
    end
    assert_equal [1.0] * 4, x.to_a
  end

  def test_an_allocation_that_fails
    x = ones(4)
    fault("fail_allocations:0", 1) # the runtime repeats the allocation, which then succeeds
    assert_equal "accel:0", ones(MIB).device
    %w[fail_allocations:0 empty_allocations:0].each do |kind|
      OneFlow.empty_cache("accel")
      fault(kind, 100)
      assert_raises(OneFlow::OutOfMemory) { ones(2 * MIB) }
      assert_raises(OneFlow::OutOfMemory) { OneFlow.ones(2 * MIB).to("accel") }
      assert_equal "accel:1", ones(MIB, device: "accel:1").device
      assert_equal [2.0] * 4, (x * 2).to_a
      fault(kind, 0)
    end
    assert_equal "accel:0", ones(2 * MIB).device
    fault("fail_host_allocations:0", 100)
    error = assert_raises(OneFlow::OutOfMemory) { OneFlow.ones(MIB).pin_memory(device: "accel") }
    assert_match(/\Apin_memory: page-locked memory of accel:0 has no memory/, error.message)
    OneFlow.empty_cache("accel")
    assert_equal MIB, OneFlow.ones(MIB).to("accel").to("far").to("cpu").sum.item # copies do not require it
  end

  # Limits the memory of the device to what is in use plus `mib` MiB.
  def leave_room(mib)
    GC.start
    OneFlow.empty_cache("accel")
    fault("capacity:0", OneFlow.get_option("accel_used_memory:0") + (mib * MIB))
  end

  # Live tensors exhaust the memory, and the gaps between them are too small for a large tensor, which fits once they
  # are freed. The tensors are allocated and dropped in other threads: the garbage collector treats stale values on a
  # stack as references, and a finished thread has no stack.
  def test_memory_that_is_exhausted
    leave_room(16)
    held = []
    make = ->(mib) { OneFlow.empty(mib * MIB / 4, device: "accel") }
    Thread.new { assert_raises(OneFlow::OutOfMemory) { loop { held << make.call(1) } } }.join
    assert_operator held.size, :>=, 12
    Thread.new { held.select!.with_index { |_, i| i.even? } }.join # every other MiB is free
    assert_raises(OneFlow::OutOfMemory) { make.call(4) }
    assert_equal MIB / 4, make.call(1).size
    assert_equal MIB.to_f, OneFlow.ones(MIB).sum.item
    held.clear
    assert_equal MIB, make.call(4).size
  end

  # Returns values of KNOWN["statistics"] on the device, repeated so that each result has an allocation of its own.
  def in_many_channels(name)
    values = OneFlow.tensor(KNOWN["statistics"][name], dtype: :float32, device: "accel")
    values.repeat(values.ndim == 3 ? [1, 8192, 1] : [8192])
  end

  # Runs a batch norm of which this allocation fails, and all after it. Returns whether it has run out of memory.
  def batch_norm_failing_at(allocation, input, statistics)
    OneFlow.empty_cache("accel")
    fault("fail_from:0", allocation)
    OneFlow.batch_norm(input, *statistics, training: true, momentum: 0.5)
    false
  rescue OneFlow::OutOfMemory
    true
  ensure
    fault("fail_from:0", 0)
  end

  # The statistics moved although the result had no memory, and the first one although the second one had none.
  def test_a_batch_norm_that_runs_out_of_memory_writes_nothing
    input = in_many_channels("input")
    before = %w[mean variance].map { |name| in_many_channels(name) }
    written = before.map { |each| each.neg.neg }
    failures = (1..).find do |allocation|
      clones = written.map(&:clone) # they share the memory of the statistics, until it is written
      has_failed = batch_norm_failing_at(allocation, input, written)
      assert_equal before, clones, "allocation #{allocation}"
      assert_equal before, written, "allocation #{allocation}" if has_failed
      !has_failed
    end
    assert_operator failures, :>, 5
    refute_equal before[0], written[0]
    refute_equal before[1], written[1]
  end

  # Operations that allocate 4 MiB on the device; their argument is a tensor of 4 MiB.
  MAKERS = {
    creation: ->(_) { OneFlow.empty(MIB, device: "accel") },
    from_binary: ->(_) { OneFlow.from_binary("\0" * 4 * MIB, dtype: :float32, device: "accel") },
    to: ->(_) { OneFlow.ones(MIB).to("accel") }, operator: :-@.to_proc, fallback: ->(x) { x + 1 },
    index: ->(x) { x.reshape(4, MIB / 4)[[0, 1, 2, 3]] }
  }.freeze

  MAKERS.each do |name, make|
    define_method("test_garbage_that_holds_memory_is_collected_first_#{name}") do
      x = ones(MIB)
      leave_room(40)
      GC.disable # only the runtime's requests start the garbage collector
      30.times { make.call(x) }
      held = []
      assert_raises(OneFlow::OutOfMemory) { loop { held << make.call(x) } }
      refute_empty held
    ensure
      GC.enable
    end
  end

  # Every operation on a lost device raises DeviceError. Other devices keep working, and the properties of tensors on
  # the lost device remain available.
  def test_a_device_that_is_lost
    answers = run_alone(<<~RUBY, accelerator)
      x = OneFlow.ones(4, device: "accel")
      other = OneFlow.ones(4, device: "accel:1")
      OneFlow.synchronize("accel")
      OneFlow.set_option("accel_lose:0", 1)
      y = x * 2
      calls = {
        first: -> { y.to_a }, item: -> { x[0].item }, to_a: -> { x.to_a }, to_binary: -> { x.to_binary },
        inspect: -> { y.inspect }, operator: -> { x * 2 }, fallback: -> { x + 1 }, equal: -> { x == y },
        make: -> { OneFlow.ones(2, device: "accel") }, to: -> { x.to("cpu") }, bring: -> { other.to("accel:0") },
        synchronize: -> { OneFlow.synchronize("accel") }, index: -> { x[x.gt(0)] }, set: -> { x[0] = 1 },
        copy: -> { other.copy!(x) }, write: -> { x.add!(1) }, name: -> { OneFlow.device("accel").hardware },
        tensor: -> { OneFlow.tensor([1.0], device: "accel:0") }, default: -> { OneFlow.default_device = "accel:0" },
        binary: -> { OneFlow.from_binary("abcd", dtype: :float32, device: "accel") },
        reduce: -> { OneFlow::Comm::Local.all_reduce([x, other]) }, marshal: -> { Marshal.dump(x) }
      }
      calls.to_a.product([1, 2]) do |(name, call), _|
        call.call
        puts "\#{name} worked"
      rescue OneFlow::DeviceError => e
        puts "DeviceError \#{name} \#{e.message}"
      end
      facts = [x.shape, x.device, y.dtype] == [[4], "accel:0", :float32] && OneFlow.devices.include?("accel:0")
      others = [(other * 2).to("cpu").to_a, OneFlow.ones(3).sum.item] == [[2.0] * 4, 3.0]
      OneFlow.synchronize("accel:1")
      x = y = calls = nil
      GC.start
      puts facts && others
    RUBY
    assert_equal "true", answers.pop
    assert answers.shift.start_with?("DeviceError first ")
    assert_equal 43, answers.size
    answers.each do |answer|
      assert answer.start_with?("DeviceError "), answer
      assert_includes answer, TEXTS["lose"]
    end
  end

  def test_properties_of_a_device_that_does_not_respond
    device = OneFlow.device("accel")
    %i[hardware total_memory free_memory compute_units capabilities notes].each do |fact|
      fault("fail_info:0")
      assert_error(OneFlow::DeviceError, TEXTS["fail_info"]) { device.public_send(fact) }
    end
    fault("endless_name:0")
    assert_equal ["x" * 127, "Test accelerator 0"], [device.hardware, device.hardware]
  end

  def test_a_plugin_that_is_deleted_after_it_was_loaded
    Dir.mktmpdir do |folder|
      file = File.join(folder, "accel.so")
      FileUtils.cp(plugin("accel"), file)
      lines = run_alone(<<~RUBY, { "ONEFLOW_DEVICE_PATH" => file })
        x = OneFlow.ones(4, device: "accel")
        before = OneFlow.devices
        File.delete(ENV.delete("ONEFLOW_DEVICE_PATH"))
        p ((x * 2) + 1).to_a, (-x.to("accel:1")).to_a, OneFlow.device("accel:1").hardware, OneFlow.devices == before
        begin
          OneFlow.zeros(1, device: "toaster")
        rescue OneFlow::DeviceError => e
          puts e.message
        end
      RUBY
      expected = ["[3.0, 3.0, 3.0, 3.0]", "[-1.0, -1.0, -1.0, -1.0]", '"Test accelerator 1"', "true"]
      assert_equal expected, lines.first(4)
      assert_includes lines.last, "ONEFLOW_DEVICE_PATH (set to #{file})"
    end
  end

  def test_mixed_devices_in_one_call
    x = ones(4)
    all = [x, ones(4, device: "accel:1"), OneFlow.ones(4)]
    all.drop(1).each do |y|
      text = "must be on accel:0, as input is, got a tensor on #{y.device}"
      assert_error(OneFlow::DeviceError, "mul: other #{text}") { x * y }
      assert_error(OneFlow::DeviceError, "mul!: other #{text}") { x.mul!(y) }
      text = "add: other must be on #{y.device}, as input is, got a tensor on accel:0"
      assert_error(OneFlow::DeviceError, text) { y + x }
      [
        -> { OneFlow.cat([x, y]) }, -> { OneFlow.mul(x, x, out: y) }, -> { OneFlow.where(x.gt(0), x, y) },
        -> { x.dot(y) }
      ].each { |call| assert_raises(OneFlow::DeviceError, &call) }
    end
    assert_equal [[1.0] * 4] * 3, all.map(&:to_a)
  end

  # Rounds of work, failures and garbage succeed in a tenth of the memory that they take in total.
  def test_failures_do_not_leak
    with_room(16 << 20, "accel:0", "accel:1") do
      GC.stress = true
      3.times { round_of_work }
      GC.stress = false
      60.times { round_of_work }
    end
  ensure
    GC.stress = false
  end

  private

  # Makes 13 tensors of 256 KiB.
  def round_of_work
    x = ones(1 << 16)
    3.times { [x * 2, -x, x + 1, x[(0..) % 2], x.to("accel:1")].then { |cycle| cycle << cycle } }
    fault("fail_copies:0")
    assert_raises(OneFlow::DeviceError) { x.to_a }
    fault("fail_kernels:0")
    y = -x
    assert_raises(OneFlow::InvalidArgument) { y.to_a }
  end
end
