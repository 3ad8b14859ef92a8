# frozen_string_literal: true

require "bigdecimal"
require "timeout"
require_relative "helper"

# Tests OneFlow.tensor, OneFlow.from_binary, and the conversions back to Ruby data.
class ConstructionTest < OneFlowTest
  def test_inferred_dtypes
    assert_equal :int64, tensor([1, 2]).dtype
    assert_equal :float32, tensor([1, 2.5]).dtype
    assert_equal :bool, tensor([true, false]).dtype
    assert_equal :int64, tensor([true, 2]).dtype
    assert_equal :float32, tensor([]).dtype
    assert_equal :float32, tensor([Rational(1, 2), BigDecimal("0.25")]).dtype
    double = tensor(0.1, dtype: :float64)
    assert_equal [:float64, [0.1, 2.0]], [tensor([double, 2]).dtype, tensor([double, 2]).to_a]
    assert_equal :int64, tensor([tensor(1, dtype: :int8), 2]).dtype
    unsigned = [tensor(1, dtype: :uint16), tensor(2, dtype: :uint32)]
    assert_error(OneFlow::DTypeError, "tensor: data has elements without a common dtype") { tensor(unsigned) }
    assert_equal [1, 2], tensor(unsigned, dtype: :int8).to_a
  end

  def test_default_dtype
    OneFlow.default_dtype = :float64
    assert_equal :float64, tensor([1.0]).dtype
  ensure
    OneFlow.default_dtype = :float32
  end

  def test_shapes
    assert_equal [], tensor(3).shape
    assert_equal [0], tensor([]).shape
    assert_equal [2, 0], tensor([[], []]).shape
    assert_equal [1, 2, 3], tensor([[[1, 2, 3], [4, 5, 6]]]).shape
    assert_equal [1] * 32, tensor((1..32).inject(1) { |inner, _| [inner] }).shape
  end

  def test_round_trip_of_every_dtype
    { bool: [true, false], uint8: [0, 255], int8: [-128, 127], int16: [-32_768, 32_767], uint16: [0, 65_535],
      int32: [-(2**31), (2**31) - 1], uint32: [0, (2**32) - 1], int64: [-(2**63), (2**63) - 1],
      uint64: [0, (2**64) - 1], float16: [-0.5, 65_504.0], bfloat16: [-0.5, 128.0], float32: [0.1.round(1), 2.0**100],
      float64: [0.1, 1e300] }.each do |dtype, values|
      made = tensor(values, dtype:)
      assert_equal dtype, made.dtype
      assert_in_delta 0, values.zip(made.to_a).sum { |a, b| a == b ? 0 : (a - b).abs }, 1e-8, dtype.to_s
      assert_equal values.map(&:class), made.to_a.map(&:class)
    end
  end

  # Numbers were rounded to float32 first, which gave the neighbour below.
  def test_numbers_are_rounded_once_to_16_bits
    tie = 1 + (2.0**-11) + (2.0**-40)
    x = OneFlow.zeros(1, dtype: :float16)
    x[0] = tie
    [x, tensor([tie], dtype: :float16), OneFlow.full([1], tie, dtype: :float16)].each do |found|
      assert_equal [1 + (2.0**-10)], found.to_a
    end
    assert_equal [1 + (2.0**-7)], tensor([1 + (2.0**-8) + (2.0**-40)], dtype: :bfloat16).to_a
  end

  def test_conversions
    assert_equal [1, -1, 0], tensor([1.9, -1.9, false], dtype: :int32).to_a
    assert_equal [true, false, true], tensor([2, 0, Float::NAN], dtype: :bool).to_a
    assert_equal [1.0, 3.0], tensor([true, 3], dtype: "float64").to_a
    assert_equal [[1, 2], [3, 4]], tensor([[tensor(1), 2], [3, tensor(4)]]).to_a
  end

  def test_tensors_from_tensors
    x = tensor([1, 2])
    copy = tensor(x)
    copy.fill!(0)
    assert_equal [1, 2], x.to_a
    assert_equal :float64, tensor(x.freeze, dtype: :float64).dtype
    refute_predicate tensor(x), :frozen?
  end

  def test_numbers_that_do_not_fit_the_dtype
    { [300, :uint8] => "uint8, got 300", [[-1], :uint64] => "uint64, got -1", [2**63, nil] => "int64, got #{2**63}",
      [Float::NAN, :int64] => "int64, got NaN", [1e30, :int8] => "int8, got 1.0e+30",
      [[2**64], nil] => "64 bits, got a larger integer" }.each do |(data, dtype), text|
      assert_error(OneFlow::InvalidArgument, "tensor: data must fit into #{text}") { tensor(data, dtype:) }
    end
    assert_raises(OneFlow::InvalidArgument) { tensor([-(2**63) - 1]) }
  end

  def test_ragged_data
    assert_error(OneFlow::ShapeError, "tensor: data must have rows of equal length in dimension 1, got 2 and 1") do
      tensor([[1, 2], [3]])
    end
    [[[1], 2], [1, [2]]].each do |mixed|
      text = "tensor: data must not have both rows and numbers in dimension 1"
      assert_error(OneFlow::ShapeError, text) { tensor(mixed) }
    end
    assert_raises(OneFlow::ShapeError) { tensor([[], [1]]) }
  end

  def test_elements_of_other_types
    assert_error(OneFlow::TypeMismatch, "tensor: data must be Numeric, bool or Array of them, got String") do
      tensor([1, "2"])
    end
    assert_raises(OneFlow::TypeMismatch) { tensor(nil) }
    assert_raises(OneFlow::TypeMismatch) { tensor({ a: 1 }) }
    assert_raises(OneFlow::ShapeError) { tensor([tensor([1])]) }
  end

  def test_recursive_and_huge_data
    loop = []
    loop << loop
    assert_error(OneFlow::ShapeError, "tensor: data must nest at most 32 deep") { tensor(loop) }
    wide = (1..30).inject([0] * 100) { |inner, _| [inner] * 100 }
    assert_error(OneFlow::ShapeError, "tensor: data is too large") { tensor(wide) }
    slow = (1..8).inject([0] * 100) { |inner, _| [inner] * 100 }
    assert_raises(Timeout::Error) { Timeout.timeout(0.05) { tensor(slow) } }
  end

  # A number whose conversion to Float changes the Array that is being read.
  class Saboteur < Numeric
    def initialize(rows)
      super()
      @rows = rows
    end

    def real? = true

    def to_f
      @rows.each(&:clear)
      1.0
    end
  end

  def test_data_that_changes_while_it_is_read
    rows = [[0, 1.0], [2.0, 3.0]]
    rows[0][0] = Saboteur.new(rows)
    assert_raises(OneFlow::ShapeError) { tensor(rows) }
  end

  def test_unknown_keywords
    assert_raises(ArgumentError) { tensor([1], dtyp: :int8) }
    assert_error(OneFlow::InvalidArgument, "tensor: dtype must be the name of a dtype, got 'float33'") do
      tensor([1], dtype: :float33)
    end
    assert_error(OneFlow::TypeMismatch, "tensor: dtype must be dtype, got Integer") { tensor([1], dtype: 3) }
    assert_raises(OneFlow::DeviceError) { tensor([1], device: "toaster") }
    assert_equal "cpu:0", tensor([1], device: :cpu).device
  end

  def test_binary
    made = OneFlow.from_binary([1.5, 2.5, 3.5, 4.5].pack("e*"), dtype: :float32, shape: [2, 2])
    assert_equal [[1.5, 2.5], [3.5, 4.5]], made.to_a
    assert_equal [1.5, 3.5, 2.5, 4.5].pack("e*"), made.transpose(0, 1).to_binary
    assert_equal Encoding::BINARY, made.to_binary.encoding
    assert_equal [1, 2], OneFlow.from_binary([1, 2].pack("s<*"), dtype: :int16).to_a
    assert_equal [0, 3], OneFlow.from_binary("", dtype: :int8, shape: [0, 3]).shape
    truths = OneFlow.from_binary([2, 0, 255].pack("C*"), dtype: :bool)
    assert_equal [[true, false, true], [5, 7]], [truths.to_a, tensor([5, 6, 7])[truths].to_a]
  end

  def test_bad_binary
    from = OneFlow.method(:from_binary)
    assert_error(OneFlow::ShapeError, "from_binary: data must have 16 bytes for this shape of float32, got 4") do
      from.call("abcd", dtype: :float32, shape: [2, 2])
    end
    assert_raises(OneFlow::ShapeError) { from.call("abc", dtype: :int16) }
    assert_raises(OneFlow::ShapeError) { from.call("", dtype: :int16, shape: [-1]) }
    assert_raises(OneFlow::ShapeError) { from.call("", dtype: :int16, shape: [2**62, 2**62]) }
    assert_raises(OneFlow::InvalidArgument) { from.call("", dtype: :int16, shape: [2**64]) }
    assert_raises(OneFlow::ShapeError) { from.call("a", dtype: :int8, shape: [1] * 33) }
    assert_error(OneFlow::TypeMismatch, "from_binary: missing argument dtype") { from.call("") }
    assert_error(OneFlow::TypeMismatch, "from_binary: shape[0] must be Integer, got Float") do
      from.call("", dtype: :int8, shape: [1.0])
    end
    assert_error(OneFlow::TypeMismatch, "from_binary: data must be String, got Array") { from.call([], dtype: :int8) }
  end

  def test_single_numbers
    assert_equal 3, tensor(3).item
    assert_equal 3, tensor([[3]]).item
    assert_equal true, tensor(true).item
    assert_equal 3, tensor(3.9).to_i
    assert_equal [1, 0.0], [tensor(true).to_i, tensor(false).to_f]
    assert_in_delta 3.0, tensor(3).to_f
    assert_equal 3, tensor(3).to_a
    assert_raises(OneFlow::Error) { tensor([1, 2]).item }
  end
end
