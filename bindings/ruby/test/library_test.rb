# frozen_string_literal: true

require_relative "helper"

# Tests settings, devices, dtypes, memory statistics and random state.
class LibraryTest < OneFlowTest
  def test_versions
    assert_equal OneFlow::VERSION, OneFlow::LIBRARY_VERSION
  end

  def test_random_state
    OneFlow.manual_seed(7)
    state = OneFlow.random_state
    first = OneFlow.rand(4)
    assert_equal 7, OneFlow.initial_seed
    OneFlow.random_state = state
    assert_equal first, OneFlow.rand(4)
    OneFlow.manual_seed(-1)
    OneFlow.manual_seed((2**64) - 1)
    assert_raises(OneFlow::InvalidArgument) { OneFlow.manual_seed(2**64) }
    assert_raises(OneFlow::TypeMismatch) { OneFlow.manual_seed(1.5) }
    assert_raises(OneFlow::TypeMismatch) { OneFlow.random_state = 3 }
    assert_error(OneFlow::TypeMismatch, "random_state=: offset must be Integer, got nil") do
      OneFlow.random_state = [1, nil]
    end
    assert_error(OneFlow::TypeMismatch, "random_state=: state must be Array of seed and offset, got [1]") do
      OneFlow.random_state = [1]
    end
  end

  def test_dtypes
    assert_equal :float32, OneFlow.promote_types(:int8, :float32)
    assert_raises(OneFlow::InvalidArgument) { OneFlow.promote_types(:int8, :decimal) }
    assert_error(OneFlow::DTypeError, "promote_types: uint16 and int8 have no common dtype") do
      OneFlow.promote_types(:uint16, :int8)
    end
    assert_raises(OneFlow::Error) { OneFlow.default_dtype = :int8 }
    assert_equal :float32, OneFlow.default_dtype
  end

  def test_devices
    assert_equal "cpu:0", OneFlow.devices[0]
    assert_equal "cpu:0", OneFlow.default_device
    OneFlow.default_device = "cpu"
    assert_kind_of String, OneFlow.device("cpu").hardware
    assert_nil OneFlow.synchronize
    assert_nil OneFlow.synchronize("cpu:0")
    assert_raises(OneFlow::DeviceError) { OneFlow.default_device = "toaster" }
    assert_raises(OneFlow::TypeMismatch) { OneFlow.synchronize(3) }
    assert_raises(OneFlow::DeviceError) { OneFlow.load_device("/nowhere/plugin.so") }
    assert_error(OneFlow::InvalidArgument, "load_device: path must be the name of a file, got ''") do
      OneFlow.load_device("")
    end
    assert_error(OneFlow::TypeMismatch, "load_device: path must be String or Pathname, got Integer") do
      OneFlow.load_device(3)
    end
  end

  def test_options
    threads = OneFlow.get_option(:num_threads)
    OneFlow.set_option(:num_threads, 1)
    assert_equal 1, OneFlow.get_option("num_threads")
    OneFlow.set_option(:deterministic, true)
    assert_equal 1, OneFlow.get_option(:deterministic)
    assert_raises(OneFlow::InvalidArgument) { OneFlow.set_option(:speed, 11) }
    assert_raises(OneFlow::TypeMismatch) { OneFlow.set_option(:num_threads, "2") }
    assert_raises(OneFlow::InvalidArgument) { OneFlow.set_option(:num_threads, 2**64) }
  ensure
    OneFlow.set_option(:num_threads, threads)
    OneFlow.set_option(:deterministic, 0)
  end

  def test_num_threads
    threads = OneFlow.num_threads
    OneFlow.num_threads = 3
    assert_equal [3, 3], [OneFlow.num_threads, OneFlow.get_option(:num_threads)]
    assert_error(OneFlow::InvalidArgument, "num_threads=: num_threads must be between 1 and 1024, got 0") do
      OneFlow.num_threads = 0
    end
    assert_error(OneFlow::InvalidArgument, "num_threads=: threads must fit into 64 bits, got a larger integer") do
      OneFlow.num_threads = 2**64
    end
    text = "num_threads=: threads must be Integer, got Float"
    assert_error(OneFlow::TypeMismatch, text) { OneFlow.num_threads = 2.0 }
    assert_equal 3, OneFlow.num_threads
  ensure
    OneFlow.num_threads = threads
  end

  # The variable is read when the library is first used.
  def test_num_threads_of_the_environment
    assert_equal ["7"], run_alone("puts OneFlow.num_threads", { "ONEFLOW_NUM_THREADS" => "7" })
  end

  def test_memory
    statistics = OneFlow.memory_stats("cpu")
    assert_equal %i[in_use peak_in_use cached limit tensors], statistics.keys
    OneFlow.zeros(1 << 16)
    assert_operator OneFlow.memory_stats[:peak_in_use], :>, 1 << 16
    assert_nil OneFlow.reset_peak_memory_stats
    assert_nil OneFlow.empty_cache
    assert_nil OneFlow.reset_fallbacks
    assert_equal({}, OneFlow.fallbacks)
  end
end
