# frozen_string_literal: true

require "json"
require "yaml"
require_relative "helper"

# Tests complex tensors: conversion from and to Ruby's Complex, and operators.
class ComplexTest < OneFlowTest
  DTYPES = %i[complex64 complex128].freeze
  NUMBERS = [[1 + 2i, 3.0], [-0.5i, true]].freeze
  ELEMENTS = [[Complex(1.0, 2.0), Complex(3.0, 0.0)], [Complex(0.0, -0.5), Complex(1.0, 0.0)]].freeze

  # Asserts that the elements are equal and that all their real and imaginary parts are Floats.
  def assert_elements(expected, actual)
    assert_equal expected, actual
    assert_equal [Float], Array(actual).flatten.flat_map(&:rect).map(&:class).uniq
  end

  # ---------------------------------------------------------------------------------------------------- conversion

  def test_data
    x = tensor(NUMBERS)
    assert_equal :complex64, x.dtype
    assert_elements ELEMENTS, x.to_a
    assert_elements Complex(0.0, 2.0), tensor(2i).to_a
    assert_elements [Complex(0.5, 1.5)], tensor([Complex(1/2r, 3/2r)]).to_a
    assert_elements [[1i], [2]], tensor([[tensor(1i)], [tensor(2)]]).to_a
    assert_equal [2, 0], tensor([[], []], dtype: :complex64).shape
  end

  def test_inferred_dtypes
    assert_equal :complex64, tensor([1, 1i]).dtype
    assert_equal :complex64, tensor([1i, 2.5, true]).dtype
    assert_equal :complex128, tensor([1i, tensor(1i, dtype: :complex128)]).dtype
    assert_equal :complex128, tensor([1i, tensor(1.0, dtype: :float64)]).dtype
    { float64: :complex128, float16: :complex64 }.each do |default, expected|
      OneFlow.default_dtype = default
      assert_equal expected, tensor([1, 1i]).dtype
    end
  ensure
    OneFlow.default_dtype = :float32
  end

  def test_explicit_dtypes
    DTYPES.each do |dtype|
      x = tensor([0.1, 2, true, 1i], dtype:)
      assert_equal dtype, x.dtype
      assert_in_delta 0.1, x[0].item.real, 1e-7
      assert_elements [2, 1, 1i], x[1..].to_a
    end
    assert_elements [0.1], tensor([0.1], dtype: :complex128).to_a
  end

  def test_extreme_values
    values = [Complex(Float::INFINITY, -0.0), Complex(-0.0, -Float::INFINITY), Complex(1e300, -1e-300)]
    assert_equal values.map(&:rect).to_s, tensor(values, dtype: :complex128).to_a.map(&:rect).to_s
    assert_predicate tensor(Complex(0, Float::NAN)).item.imaginary, :nan?
  end

  def test_binary
    { complex64: "e*", complex128: "E*" }.each do |dtype, format|
      data = [1.0, 2.0, 3.0, -4.0].pack(format)
      x = OneFlow.from_binary(data, dtype:)
      assert_elements [1 + 2i, 3 - 4i], x.to_a
      assert_equal data, x.to_binary
      assert_equal [3.0, -4.0, 1.0, 2.0].pack(format), x.flip(0).to_binary
    end
    text = "from_binary: data must have 8 bytes for this shape of complex64, got 12"
    assert_error(OneFlow::ShapeError, text) { OneFlow.from_binary("abcdabcdabcd", dtype: :complex64) }
  end

  def test_copies
    [tensor(NUMBERS), tensor(NUMBERS).transpose(0, 1), tensor(1i), OneFlow.zeros(0, 2, dtype: :complex128)].each do |x|
      copies = [x.dup, Marshal.load(Marshal.dump(x)), YAML.unsafe_load(YAML.dump(x)), tensor(x)]
      copies.each { |copy| assert_equal [x, x.dtype, x.hash], [copy, copy.dtype, copy.hash] }
      assert copies.all?(x)
    end
    assert_equal :complex128, tensor(tensor([1i]), dtype: :complex128).dtype
    assert_elements [2], tensor(tensor([2]), dtype: :complex64).to_a
    assert_equal '["1.0+2.0i"]', JSON.generate(tensor([1 + 2i]))
  end

  def test_single_numbers
    assert_elements Complex(1.0, 2.0), tensor([[1 + 2i]]).item
    assert_elements Complex(1.0, 2.0), tensor(1 + 2i).to_c
    assert_equal [3, 2.5, 1].map(&:to_c), [tensor(3), tensor(2.5), tensor(true)].map(&:to_c)
    %i[to_f to_i].each do |conversion|
      text = "item: input must be a real tensor, got complex64; it has two parts"
      assert_error(OneFlow::DTypeError, text) { tensor(1i).public_send(conversion) }
    end
    text = "item: input must have exactly one element, got shape [2]"
    assert_error(OneFlow::InvalidArgument, text) { tensor([1i, 2]).item }
  end

  def test_iteration
    x = tensor([1i, 2, 3 - 1i])
    assert_elements [1i, 2, 3 - 1i], x.each.to_a
    assert_includes x, 2
    assert_equal([1, 4, 10], x.map(&:abs2))
    assert_elements ELEMENTS, tensor(NUMBERS).map(&:to_a)
  end

  def test_printing
    assert_equal "tensor([1.0000+2.0000j, 0.0000-0.5000j], dtype: :complex64)", tensor([1 + 2i, -0.5i]).inspect
    assert_equal "tensor(1.-1.j, dtype: :complex128)", tensor(1 - 1i, dtype: :complex128).to_s
  end

  def test_indexing
    x = OneFlow.zeros(2, 2, dtype: :complex64)
    x[0, 1] = 1 + 2i
    x[1] = [3i, 4.5]
    x[0, 0] = 7
    assert_elements [[7, 1 + 2i], [3i, 4.5]], x.to_a
    x[0.., 0] = tensor(1i)
    assert_elements [[1i, 1 + 2i], [1i, 4.5]], x.to_a
  end

  # -------------------------------------------------------------------------------------------------------- errors

  def test_complex_data_for_a_real_dtype
    %i[bool int64 bfloat16 float32].each do |dtype|
      text = "tensor: data must be real numbers for #{dtype}, got (1+2i)"
      assert_error(OneFlow::DTypeError, text) { tensor([[1, 2], [3, 1 + 2i]], dtype:) }
    end
    text = "tensor: data must be real numbers for float64, got (0.0+1.0i)"
    assert_error(OneFlow::DTypeError, text) { tensor([2.5, tensor(1i)], dtype: :float64) }
    text = "index: value must be real numbers for float32, got (1+2i)"
    [1 + 2i, [1 + 2i]].each do |value|
      assert_error(OneFlow::DTypeError, text) { OneFlow.zeros(2)[0..] = value }
    end
    text = "cast: a complex tensor does not become int64; take its real or imaginary part"
    assert_error(OneFlow::DTypeError, text) { tensor(tensor([1i]), dtype: :int64) }
  end

  def test_complex_operands
    x = tensor([1i])
    assert_elements [1i, 1i], OneFlow.full([2], 1i).to_a
    [x * 2i, 2i * x, x * tensor(2i)].each { |product| assert_elements [-2], product.to_a }
    assert_elements [2i], (2 * x).to_a
    assert_error(OneFlow::DTypeError, "erf: input must be a real tensor, got complex64") { x.erf }
  end

  # The conversion of a real part to Float changes the Array that is being read.
  def test_parts_whose_conversion_changes_the_data
    rows = [[0, 1.0], [2.0, 3.0]]
    part = Class.new(Numeric) do
      define_method(:real?) { true }
      define_method(:to_f) { rows.each(&:clear) && 1.0 }
    end
    rows[0][0] = Complex.rect(part.new, 1)
    assert_raises(OneFlow::ShapeError) { tensor(rows) }
    broken = Class.new(part) { define_method(:to_f) { raise "no" } }
    assert_equal "no", assert_raises(RuntimeError) { tensor([Complex.rect(1, broken.new)]) }.message
  end

  # ----------------------------------------------------------------------------------------------------- operators

  def test_contractions
    x = tensor([[1 + 2i, 1i], [2, -1i]])
    y = tensor([[1i, 1], [1 - 1i, 0]], dtype: :complex128)
    product = [[-1 + 2i, 1 + 2i], [-1 + 1i, 2]] # (1 + 2i)i + i(1 - i) = -1 + 2i, and so on
    expression = OneFlow.einsum_expression("ij,jk->ik", x, y)
    [OneFlow.einsum("ij,jk->ik", x, y), x.matmul(y), expression[x, y],
     OneFlow.einsum(x, [0, 1], y, [1, 2])].each do |found|
      assert_equal :complex128, found.dtype
      assert_elements product, found.to_a
    end
    assert_elements Complex(1.0, 1.0), OneFlow.einsum("ii", x).item
    target = OneFlow.zeros(2, 2, dtype: :complex128)
    assert_elements product, OneFlow.einsum("ij,jk->ik", x, y, out: target).to_a
    assert_elements [1 + 3i, 2 - 1i], OneFlow.einsum("ij,j->i", x, tensor([1, 1])).to_a
  end

  def test_parts
    x = tensor([[1 + 2i, 1i], [2, -1i]])
    assert_equal [[1.0, 0.0], [2.0, 0.0]], x.real.to_a
    x.imag.fill!(3)
    assert_elements [[1 + 3i, 3i], [2 + 3i, 3i]], x.to_a
    assert_elements [[1 - 3i, -3i], [2 - 3i, -3i]], x.conj.to_a
    assert_equal x, OneFlow.complex(x.real, x.imag)
    assert_equal x, x.view_as_real.view_as_complex
    assert_elements 3 + 12i, x.sum.item
    assert_predicate x.freeze.real, :frozen?
  end

  # -------------------------------------------------------------------------------------------------------- memory

  def test_gc_stress
    GC.stress = true
    x = tensor([[Complex(1/2r, 2), 3.0], [-0.5i, tensor(1i)]])
    found = [x.to_a, x[0, 0].item, x[0, 0].to_c, Marshal.load(Marshal.dump(x)).to_a, OneFlow.einsum("ij->j", x).to_a]
    error = assert_raises(OneFlow::DTypeError) { tensor([1.5, tensor(1i)], dtype: :float32) }
  ensure
    GC.stress = false
    elements = [[0.5 + 2i, 3], [-0.5i, 1i]]
    assert_equal [elements, 0.5 + 2i, 0.5 + 2i, elements, [0.5 + 1.5i, 3 + 1i]], found
    assert_equal "tensor: data must be real numbers for float32, got (0.0+1.0i)", error.message
  end
end
