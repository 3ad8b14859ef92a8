# frozen_string_literal: true

require_relative "helper"

# How arguments reach an operator: positions, keywords, overloads, `out:`, in place; and what is said when they do not.
class CallsTest < OneFlowTest
  def setup
    @x = tensor([[1.0, 2.0], [3.0, 4.0]])
  end

  def test_positions_and_keywords
    assert_equal [[3.0], [7.0]], OneFlow.sum(@x, 1, true).to_a
    assert_equal [[3.0], [7.0]], OneFlow.sum(input: @x, keepdim: true, dim: 1).to_a
    assert_equal [3.0, 7.0], @x.sum(dim: [1]).to_a
    assert_in_delta 10.0, @x.sum(dim: nil).item
    assert_equal :float64, @x.sum(dtype: :float64).dtype
  end

  def test_lists_may_be_spread
    assert_equal [2, 2, 1], @x.reshape(2, 2, 1).shape
    assert_equal [2, 2, 1], @x.reshape([2, 2, 1]).shape
    assert_equal [4], @x.reshape(-1).shape
    assert_equal [3, 2], OneFlow.zeros(3, 2).shape
    assert_equal [], OneFlow.zeros([]).shape
    assert_equal [[7.0, 10.0], [15.0, 22.0]], OneFlow.einsum("ij,jk->ik", @x, @x).to_a
    assert_equal [4, 2], OneFlow.cat([@x, @x]).shape
  end

  def test_overloads
    assert_in_delta 4.0, @x.max.item
    values, indices = @x.max(1)
    assert_equal [[2.0, 4.0], [1, 1]], [values.to_a, indices.to_a]
    assert_equal [[2.0, 2.0], [3.0, 4.0]], @x.max(tensor(2.0)).to_a
    assert_equal [[2.0, 4.0], [1, 1]], @x.max(dim: 1).map(&:to_a)
    # Of the two overloads, the one that knows `device`.
    assert_error(OneFlow::TypeMismatch, "to: unknown argument copy") { @x.to(device: "cpu", copy: true) }
  end

  def test_numbers_are_weak
    assert_equal :int8, (tensor([1], dtype: :int8) + 1).dtype
    assert_equal :float32, (tensor([1], dtype: :int8) + 1.5).dtype
    assert_equal :float16, (tensor([1.0], dtype: :float16) * 2).dtype
    assert_equal [2.5], OneFlow.add(tensor([2]), Rational(1, 2)).to_a
    assert_equal [3], OneFlow.add(tensor([2]), true).to_a
  end

  def test_out
    out = OneFlow.zeros(2)
    assert_same out, OneFlow.sum(@x, dim: 1, out:)
    assert_equal [3.0, 7.0], out.to_a
    assert_same out, @x.sum(0, out:)
    outs = [OneFlow.zeros(2), OneFlow.zeros(2, dtype: :int64)]
    assert_same outs, @x.max(1, out: outs)
    assert_equal [[2.0, 4.0], [1, 1]], outs.map(&:to_a)
    refute_same out, OneFlow.sum(@x, out: nil)
  end

  def test_bad_out
    assert_error(OneFlow::TypeMismatch, "sum: out must be Tensor, got Array") { @x.sum(out: []) }
    assert_error(OneFlow::TypeMismatch, "max: out must be Array of 2 Tensors, got Tensor") do
      @x.max(dim: 1, out: OneFlow.zeros(2))
    end
    assert_raises(OneFlow::ShapeError) { @x.sum(dim: 1, out: OneFlow.zeros(3)) }
    assert_raises(FrozenError) { @x.sum(out: tensor(0.0).freeze) }
    assert_error(OneFlow::TypeMismatch, "transpose: unknown argument out") { @x.transpose(0, 1, out: @x) }
  end

  def test_in_place
    assert_same @x, @x.add!(1)
    assert_equal [[2.0, 3.0], [4.0, 5.0]], @x.to_a
    assert_same @x, @x.mul!(@x)
    assert_raises(FrozenError) { @x.freeze.add!(1) }
    assert_raises(OneFlow::ShapeError) { tensor([1.0]).add!(tensor([1.0, 2.0])) }
    assert_raises(OneFlow::Error) { tensor([1]).add!(0.5) }
    assert_error(OneFlow::TypeMismatch, "add: unknown argument out") { tensor([1]).add!(1, out: tensor([1])) }
  end

  def test_texts
    cases = {
      "sum: keepdim must be bool, got String" => -> { @x.sum(keepdim: "yes") },
      "sum: dim must be Array of Integers, got Float" => -> { @x.sum(dim: 1.0) },
      "sum: dim[1] must be Integer, got nil" => -> { @x.sum(dim: [0, nil]) },
      "sum: missing argument input" => -> { OneFlow.sum },
      "sum: input must be Tensor, got Array" => -> { OneFlow.sum([1.0]) },
      "sum: unknown argument dims; did you mean dim?" => -> { @x.sum(dims: 1) },
      "sum: unknown argument axis" => -> { @x.sum(axis: 1) },
      "sum: takes at most 3 positional arguments, got 4" => -> { OneFlow.sum(@x, 1, true, 2) },
      "sum: takes at most 2 positional arguments, got 3" => -> { @x.sum(1, true, 2) },
      "sum: argument dim given twice" => -> { @x.sum(1, dim: 1) },
      "sum: argument input given twice" => -> { @x.sum(input: @x) },
      "max: dim must be Integer, got String" => -> { @x.max("a") },
      "max: unknown argument dims; did you mean dim?" => -> { @x.max(dims: 1) },
      "max: takes at most 3 positional arguments, got 4" => -> { OneFlow.max(@x, 1, true, 2) },
      "max: unknown argument keepdims; did you mean keepdim?" => -> { @x.max(1, keepdims: true) },
      "add: other must be Tensor or Numeric, got nil" => -> { @x.add(nil) },
      "add: other must be Tensor or Numeric, got Complex" => -> { @x.add(Complex(1, 2)) },
      "cat: tensors[1] must be Tensor, got Integer" => -> { OneFlow.cat([@x, 3]) },
      "gelu: approximate must be String, got Integer" => -> { @x.gelu(approximate: 1) },
      "zeros: dtype must be dtype, got Integer" => -> { OneFlow.zeros(2, dtype: 1) },
      "zeros: size[1] must be Integer, got String" => -> { OneFlow.zeros(2, "3") }
    }
    cases.each { |text, call| assert_error(OneFlow::TypeMismatch, text, &call) }
  end

  def test_values_that_no_argument_holds
    assert_error(OneFlow::InvalidArgument, "full: fill_value must fit into 64 bits, got a larger integer") do
      OneFlow.full([1], 2**63)
    end
    assert_error(OneFlow::InvalidArgument, "zeros: size must fit into 64 bits, got a larger integer") do
      OneFlow.zeros([-(2**63) - 1])
    end
    assert_equal [-(2**63)], OneFlow.full([1], -(2**63)).to_a
    assert_error(OneFlow::InvalidArgument, "zeros: dtype must be the name of a dtype, got 'int65'") do
      OneFlow.zeros(1, dtype: :int65)
    end
    assert_raises(OneFlow::DeviceError) { OneFlow.zeros(1, device: "nowhere:3") }
    { dtype: "int8\0", device: :"cpu\x00" }.each do |argument, name|
      assert_error(OneFlow::InvalidArgument, "zeros: #{argument} must not have a null byte") do
        OneFlow.zeros(1, argument => name)
      end
    end
  end

  def test_strange_keywords
    assert_raises(OneFlow::TypeMismatch) { @x.sum(**{ "dim" => 1 }) }
    assert_error(OneFlow::TypeMismatch, "sum: unknown argument #{"d" * 300}") { @x.sum("d" * 300 => 1) }
    assert_raises(OneFlow::TypeMismatch) { @x.sum({ dim: 1 }) }
    assert_error(OneFlow::TypeMismatch, 'sum: unknown argument "dim\x00"') { @x.sum("dim\x00": 1) }
  end

  def test_error_classes
    parents = { InvalidArgument: ArgumentError, TypeMismatch: TypeError, ShapeError: ArgumentError,
                DTypeError: TypeError, IndexOutOfRange: IndexError, DeviceError: RuntimeError,
                OutOfMemory: StandardError, Unsupported: StandardError, CommunicationError: IOError,
                InternalError: RuntimeError }
    parents.each do |name, parent|
      assert_equal parent, OneFlow.const_get(name).superclass
      assert_includes OneFlow.const_get(name).ancestors, OneFlow::Error
    end
  end

  def test_uninitialised_tensors
    empty = OneFlow::Tensor.allocate
    text = "this tensor was allocated but never given a value"
    [-> { empty.shape }, -> { empty + 1 }, -> { OneFlow.cat([empty]) }, -> { empty.to_a }, -> { empty[0] },
     -> { empty == empty.itself }, -> { empty.dup }, -> { @x.add(empty) }, -> { tensor([empty]) }].each do |call|
      assert_error(OneFlow::InvalidArgument, text, &call)
    end
    assert_raises(NoMethodError) { OneFlow::Tensor.new }
    assert_raises(TypeError) { OneFlow::Tensor.instance_method(:shape).bind_call("text") }
  end
end
