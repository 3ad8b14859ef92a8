# frozen_string_literal: true

require_relative "helper"

# Tests indexing: tensor[...] and tensor[...] = value.
class IndexingTest < OneFlowTest
  def setup
    @x = OneFlow.arange(24).reshape(2, 3, 4)
    @v = OneFlow.arange(6)
  end

  def test_integers
    assert_equal 23, @x[1, 2, 3].item
    assert_equal 23, @x[-1, -1, -1].item
    assert_equal [4, 5, 6, 7], @x[0, 1].to_a
    assert_raises(OneFlow::IndexOutOfRange) { @x[2] }
    assert_raises(IndexError) { @x[0, 0, 0, 0] }
    assert_raises(OneFlow::IndexOutOfRange) { @x[2**70] }
  end

  def test_ranges
    assert_equal [1, 2, 3], @v[1..3].to_a
    assert_equal [1, 2], @v[1...3].to_a
    assert_equal [4, 5], @v[4..].to_a
    assert_equal [0, 1], @v[..1].to_a
    assert_equal [0, 1, 2, 3, 4, 5], @v[(0..-1)].to_a
    assert_equal [3, 4], @v[-3..-2].to_a
    assert_equal [3, 4], @v[-3...-1].to_a
    assert_equal [], @v[5..2].to_a
    assert_equal [5], @v[5..100].to_a
  end

  def test_steps
    assert_equal [0, 2, 4], @v[(0..) % 2].to_a
    assert_equal [1, 3], @v[(1..4) % 2].to_a
    assert_equal [5, 3, 1], @v[5.step(0, -2)].to_a
    assert_equal [5, 4, 3, 2, 1, 0], @v[5.step(0, -1)].to_a
    assert_equal [3, 2, 1], @v[3.step(1, -1)].to_a
    assert_raises(OneFlow::TypeMismatch) { @v[(0.0..1.0)] }
    assert_raises(OneFlow::TypeMismatch) { @v["a".."b"] }
  end

  def test_ranges_agree_with_arrays
    plain = (0..5).to_a
    (-6..6).to_a.product((-6..6).to_a) do |first, last|
      [first..last, first...last].each do |range|
        expected = plain[range]
        assert_equal expected || [], @v[range].to_a, range.to_s if expected || first.between?(-6, 6)
      end
    end
  end

  def test_symbols_and_nil
    assert_equal [2, 4], @x[:all, 0].shape
    assert_equal [[3, 7, 11], [15, 19, 23]], @x[:rest, 3].to_a
    assert_equal [2, 1, 3, 1, 4], @x[:all, nil, :rest, nil, :all].shape
    assert_error(OneFlow::TypeMismatch, "index: parts must be Integer, Range, Array, Tensor, nil, true, false, :all " \
                                        "or :rest, got :some") { @x[:some] }
    assert_raises(OneFlow::Error) { @x[:rest, :rest] }
  end

  def test_integer_arrays
    assert_equal [5, 0, 0], @v[[5, 0, -6]].to_a
    assert_equal [[1, 2], [3, 4]], @v[tensor([[1, 2], [3, 4]])].to_a
    assert_equal [[0, 1, 2, 3], [20, 21, 22, 23]], @x[[0, 1], [0, 2]].to_a
    assert_equal [[4, 16], [5, 17]], @x[:all, 1][:all, 0..1].transpose(0, 1).to_a
    assert_raises(OneFlow::IndexOutOfRange) { @v[[6]] }
    assert_equal [[0], [0, 3, 4], [1, 0]], [@v[[]].shape, @x[[]].shape, @v[[[]]].shape]
    assert_error(OneFlow::DTypeError, "index: indices must be integer or bool tensors, got float32") { @v[[1.0]] }
    assert_error(OneFlow::TypeMismatch, "index: part must be Numeric, bool or Array of them, got nil") { @v[[nil]] }
  end

  def test_masks
    assert_equal [4, 5], @v[@v > 3].to_a
    assert_equal [1, 3], @v[[false, true, false, true, false, false]].to_a
    assert_equal [1, 6], @v[true].shape
    assert_equal [0, 6], @v[false].shape
    assert_raises(OneFlow::Error) { @v[[true, false]] }
  end

  def test_views_share_memory
    part = @x[0, 1..2]
    assert_predicate part, :view?
    assert part.shares_memory?(@x)
    part.fill!(0)
    assert_equal [0] * 8, @x[0, 1..].flatten.to_a
    refute @v[[0, 1]].shares_memory?(@v)
  end

  def test_assignment
    @v[0] = 10
    @v[1..2] = tensor([20, 30])
    @v[[3, 4]] = [40, 50]
    @v[@v.eq(5)] = 60
    assert_equal [10, 20, 30, 40, 50, 60], @v.to_a
    @x[:rest, 0] = -1
    assert_equal [-1] * 6, @x[:rest, 0].flatten.to_a
    assert_equal 7, (@v[0] = 7)
    @x[[1, 0], 2] = OneFlow.zeros(1, 1, 2, 4)
    assert_equal [0] * 8, @x[:all, 2].flatten.to_a
  end

  def test_assigned_arrays_take_the_dtype
    double = OneFlow.zeros(2, dtype: :float64)
    double[0..] = [0.1, 2]
    assert_equal [0.1, 2.0], double.to_a
    unsigned = OneFlow.zeros(2, dtype: :uint64)
    unsigned[[0, 1]] = [(2**64) - 1, 3]
    assert_equal [(2**64) - 1, 3], unsigned.to_a
    assert_error(OneFlow::InvalidArgument, "index: value must fit into uint64, got -1") { unsigned[0..] = [-1, 0] }
  end

  def test_integers_that_only_uint64_holds
    top = (2**64) - 1
    x = OneFlow.zeros(4, dtype: :uint64)
    x[0] = top
    x[1..2] = 2**63
    x[[3]] = top - 1
    assert_equal [top, 2**63, 2**63, top - 1], x.to_a
    assert_equal [top, top, top, top - 1], x.masked_fill(x.eq(OneFlow.full([1], 2**63, dtype: :uint64)), top).to_a
    assert_equal [top] * 4, x.fill!(top).to_a
    assert_error(OneFlow::InvalidArgument, "add: other must fit into 64 bits, got a larger integer") { x + (2**63) }
    assert_error(OneFlow::IndexOutOfRange, "index: #{2**63} is out of range") { x[2**63] }
  end

  def test_bad_assignment
    assert_raises(OneFlow::ShapeError) { @v[0..1] = [1, 2, 3] }
    assert_error(OneFlow::TypeMismatch, "index: value must be Tensor, Numeric or Array, got String") { @v[0] = "a" }
    assert_error(OneFlow::InvalidArgument, "index: value must fit into 64 bits, got a larger integer") { @v[0] = 2**80 }
    assert_raises(FrozenError) { @v.freeze[0] = 1 }
    assert_raises(OneFlow::Error) { @v[*([nil] * 65)] }
    [Object.new, BasicObject.new, Struct.new(:begin, :end, :exclude_end?).new, [0].each].each do |other|
      assert_raises(OneFlow::TypeMismatch) { @v[other] }
    end
    assert_raises(OneFlow::TypeMismatch) { @v[a: 1] }
  end
end
