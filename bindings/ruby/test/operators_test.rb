# frozen_string_literal: true

require_relative "helper"

# Tests Ruby's operators, with tensors and with numbers on either side, equality and hashes.
class OperatorsTest < OneFlowTest
  def setup
    @a = tensor([7, -7])
    @b = tensor([2, 3])
  end

  def test_arithmetic
    assert_equal [9, -4], (@a + @b).to_a
    assert_equal [5, -10], (@a - @b).to_a
    assert_equal [14, -21], (@a * @b).to_a
    assert_equal [3.5, -3.5], (@a / 2).to_a
    assert_equal [1, 1], (@a % 2).to_a
    assert_equal [49, 49], (@a**2).to_a
    assert_equal [-7, 7], (-@a).to_a
    assert_same @a, +@a
  end

  def test_bits
    assert_equal [2, 1], (@a & @b).to_a
    assert_equal [7, -5], (@a | @b).to_a
    assert_equal [5, -6], (@a ^ @b).to_a
    assert_equal [-8, 6], (~@a).to_a
    assert_equal [14, -14], (@a << 1).to_a
    assert_equal [3, -4], (@a >> 1).to_a
    assert_equal [false, true], (~tensor([true, false])).to_a
  end

  def test_comparisons
    assert_equal [false, true], (@a < @b).to_a
    assert_equal [true, false], (@a >= 7).to_a
    assert_equal [true, false], (@a > @b).to_a
    assert_equal [false, true], (@a <= -7).to_a
    assert_equal [true, false], @a.eq(7).to_a
    assert_equal [false, true], @a.ne(7).to_a
  end

  def test_numbers_on_the_left
    assert_equal [9, -5], (2 + @a).to_a
    assert_equal [-5, 9], (2 - @a).to_a
    assert_equal [1.0, 0.5], (2 / tensor([2.0, 4.0])).to_a
    assert_equal [4, 8], (2**@b).to_a
    assert_equal [3.5, 4.5], (1.5 + @b).to_a
    assert_equal [2.5, 3.5], (Rational(1, 2) + @b).to_a
    assert_equal [false, true], (2 < @b).to_a
    assert_equal [2, 2], (6 & @b).to_a
    assert_equal [1, 1], (7 % @b).to_a
    assert_equal :int8, (2 + tensor([1], dtype: :int8)).dtype
    assert_equal :float16, (0.5 * tensor([1.0], dtype: :float16)).dtype
  end

  def test_invalid_operands
    assert_error(OneFlow::TypeMismatch, "add: other must be Tensor or real Numeric, got nil") { @a + nil }
    assert_raises(TypeError) { "2" + @a }
    assert_nil 1i <=> @a
    assert_error(OneFlow::TypeMismatch, "coerce: other must be Numeric, got String") { @a.coerce("2") }
    assert_raises(NameError) { OneFlow::WeakNumber }
  end

  def test_compound_assignment_creates_a_new_tensor
    before = @a
    @a += 1
    refute_same before, @a
    assert_equal [7, -7], before.to_a
  end

  def test_equality_compares_values
    assert_equal tensor([1.0, 2.0]), tensor([1.0, 2.0])
    refute_equal tensor([1.0]), tensor([1.0], dtype: :float64)
    refute_equal tensor([1.0]), tensor([[1.0]])
    refute_equal tensor([1.0]), 1.0
    refute_equal 1.0, tensor(1.0)
    refute_equal tensor([1.0]), nil
    refute_equal tensor([Float::NAN]), tensor([Float::NAN])
    assert_operator tensor([1]), :!=, tensor([2])
    assert_includes [tensor([1]), tensor([2])], tensor([2])
  end

  def test_hashing
    assert tensor([1, 2]).eql?(tensor([1, 2]))
    refute tensor([1, 2]).eql?(tensor([1, 2], dtype: :int32))
    refute tensor([1, 2]).eql?([1, 2])
    refute tensor([1, 2]).eql?(BasicObject.new)
    assert tensor(Float::NAN).eql?(tensor(Float::NAN))
    refute tensor(0.0).eql?(tensor(-0.0))
    assert_equal :found, { tensor([1, 2]) => :found }[tensor([1, 2])]
    assert_equal 2, [tensor(1), tensor(2), tensor(1)].uniq.size
  end
end
