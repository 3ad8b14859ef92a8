# frozen_string_literal: true

require_relative "helper"

# Tests how arguments are bound to operators: positional and keyword arguments, overloads, `out:`, the in-place form,
# and the error texts of invalid calls.
class CallsTest < OneFlowTest
  def setup
    @x = tensor([[1.0, 2.0], [3.0, 4.0]])
  end

  def test_positional_and_keyword_arguments
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
    # The error is that of the overload that has the argument `device`.
    assert_error(OneFlow::TypeMismatch, "to: unknown argument where") { @x.to(device: "cpu", where: true) }
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
    assert_error(OneFlow::TypeMismatch, "add!: unknown argument out") { tensor([1]).add!(1, out: tensor([1])) }
  end

  def test_error_texts
    cases = {
      "sum: keepdim must be bool, got String" => -> { @x.sum(keepdim: "yes") },
      "sum: dim must be Array of Integers, got Float" => -> { @x.sum(dim: 1.0) },
      "sum: dim[1] must be Integer, got nil" => -> { @x.sum(dim: [0, nil]) },
      "sum: missing argument input" => -> { OneFlow.sum },
      "sum: input must be Tensor, got String" => -> { OneFlow.sum("1") },
      "sum: unknown argument dims; did you mean dim?" => -> { @x.sum(dims: 1) },
      "sum: unknown argument axes" => -> { @x.sum(axes: 1) },
      "sum: takes at most 3 positional arguments, got 4; pass dtype by name" => -> { OneFlow.sum(@x, 1, true, 2) },
      "sum: takes at most 2 positional arguments, got 3; pass dtype by name" => -> { @x.sum(1, true, 2) },
      "sum: argument dim given twice" => -> { @x.sum(1, dim: 1) },
      "zeros: requires_grad must be bool, got Integer" => -> { OneFlow.zeros(2, requires_grad: 1) },
      "sum: argument input given twice" => -> { @x.sum(input: @x) },
      "max: dim must be Integer, got String" => -> { @x.max("a") },
      "max: unknown argument dims; did you mean dim?" => -> { @x.max(dims: 1) },
      "max: takes at most 3 positional arguments, got 4" => -> { OneFlow.max(@x, 1, true, 2) },
      "max: unknown argument keepdimm; did you mean keepdim?" => -> { @x.max(1, keepdimm: true) },
      "add: other must be Tensor or real Numeric, got nil" => -> { @x.add(nil) },
      "cat: tensors[1] must be Tensor, got String" => -> { OneFlow.cat([@x, "3"]) },
      "gelu: approximate must be String, got Integer" => -> { @x.gelu(approximate: 1) },
      "zeros: dtype must be dtype, got Integer" => -> { OneFlow.zeros(2, dtype: 1) },
      "zeros: size[1] must be Integer, got String" => -> { OneFlow.zeros(2, "3") }
    }
    cases.each { |text, call| assert_error(OneFlow::TypeMismatch, text, &call) }
  end

  def test_invalid_values
    assert_error(OneFlow::InvalidArgument, "full: fill_value must fit into 64 bits, got a larger integer") do
      OneFlow.full([1], 2**64)
    end
    assert_error(OneFlow::InvalidArgument, "full: fill_value must fit into int64, got #{2**63}") do
      OneFlow.full([1], 2**63)
    end
    assert_error(OneFlow::InvalidArgument, "zeros: size[0] must fit into 64 bits, got a larger integer") do
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

  # Binary and US-ASCII Strings are treated as UTF-8: Strings that are read from files and sockets have these encodings.
  def test_encodings
    equation = "αβ->β"
    texts = %w[Shift_JIS UTF-16LE UTF-16BE UTF-32 EUC-JP].map { |name| equation.encode(name) }
    [*texts, texts.last.to_sym, equation.b, equation.dup.force_encoding("US-ASCII")].each do |text|
      assert_equal [4.0, 6.0], OneFlow.einsum(text, @x).to_a
      assert_equal "αβ->β", OneFlow.einsum_expression(text, @x).equation
    end
    assert_raises(OneFlow::ShapeError) { OneFlow.einsum("\u6a69\u3e2d\u696a".encode("UTF-16LE"), @x) } # "ij->ji"
    assert_equal :int8, OneFlow.zeros(1, dtype: "int8".encode("UTF-16LE"), device: "cpu".encode("UTF-16BE")).dtype
    assert_equal OneFlow.devices.first, OneFlow.device(OneFlow.devices.first.name.encode("UTF-32LE"))
    error = assert_raises(OneFlow::DeviceError) { OneFlow.zeros(1, device: "あい".encode("UTF-16LE")) }
    assert_includes error.message, "there is no device 'あい'"
    in_one_order = OneFlow.einsum("ij,jk", @x, @x, optimize: "greedy".encode("UTF-16LE"))
    assert_equal @x.matmul(@x), in_one_order
  end

  def test_strings_that_cannot_be_converted_to_utf8
    {
      "einsum: equation must be convertible to UTF-8, got 'ij\\x83' in Shift_JIS" =>
        -> { OneFlow.einsum("ij\x83".dup.force_encoding("Shift_JIS"), @x) },
      "einsum_path: equation must be convertible to UTF-8, got '\\u0000i\\xD8' in UTF-16BE" =>
        -> { OneFlow.einsum_path("\0i\xd8".dup.force_encoding("UTF-16BE"), @x) },
      "zeros: dtype must be convertible to UTF-8, got 'int8' in UTF-7" =>
        -> { OneFlow.zeros(1, dtype: "int8".dup.force_encoding("UTF-7")) },
      "device: name must be convertible to UTF-8, got 'c\\u0000p' in UTF-16LE" =>
        -> { OneFlow.device("c\0p".dup.force_encoding("UTF-16LE")) },
      "zeros: dtype must be the name of a dtype, got 'α\\xFF'" => -> { OneFlow.zeros(1, dtype: "α\xff") },
      "tensor: dtype must be the name of a dtype, got 'α'" => -> { tensor([1], dtype: "α".b) }
    }.each { |text, call| assert_error(OneFlow::InvalidArgument, text, &call) }
  end

  def test_unusual_keywords
    {
      { "out" => 1 } => '"out"; did you mean out?',
      { "dim" => 1 } => '"dim"; did you mean dim?',
      { ("d" * 300) => 1 } => ("d" * 300).inspect,
      { "dim\x00": 1 } => ':"dim\\x00"; did you mean dim?',
      { "gr\xff" => 1 } => '"gr\\xFF"',
      { "αβ".encode("UTF-16LE") => 1 } => '"\\u03B1\\u03B2"',
      { "αβ".encode("Shift_JIS").to_sym => 1 } => ':"\\x{83BF}\\x{83C0}"',
      { nil => 1 } => "nil",
      { "": 1 } => ':""',
      { "a b": 1 } => ':"a b"',
      { 2 => 1 } => "2"
    }.each do |keywords, shown|
      error = assert_raises(OneFlow::TypeMismatch) { @x.sum(**keywords) }
      assert_equal "sum: unknown argument #{shown}", error.message
      assert_predicate error.message, :valid_encoding?
    end
    assert_raises(OneFlow::TypeMismatch) { @x.sum({ dim: 1 }) }
  end

  # The error of an overload that has all given keywords takes precedence over that of one that does not.
  def test_errors_of_overloads_that_have_all_keywords
    {
      "tensordot: missing argument dims_other" => -> { OneFlow.tensordot(@x, @x, dims_input: [1]) },
      "tensordot: missing argument dims_input" => -> { OneFlow.tensordot(@x, @x, dims_other: [1]) },
      "tensordot: missing argument other" => -> { OneFlow.tensordot(@x, dims: 1) },
      "tensordot: argument dims_input given twice" => -> { OneFlow.tensordot(@x, @x, [0], dims_input: [1]) },
      "tensordot: unknown argument dim; did you mean dims?" => -> { OneFlow.tensordot(@x, @x, dim: 1) },
      "max: missing argument dim" => -> { @x.max(keepdim: true) }
    }.each { |text, call| assert_error(OneFlow::TypeMismatch, text, &call) }
  end

  def test_error_classes
    parents = { InvalidArgument: ArgumentError, TypeMismatch: TypeError, ShapeError: ArgumentError,
                DTypeError: TypeError, IndexOutOfRange: IndexError, DeviceError: RuntimeError,
                OutOfMemory: StandardError, Unsupported: StandardError, CommunicationError: IOError,
                InternalError: RuntimeError, FileError: IOError }
    parents.each do |name, parent|
      assert_equal parent, OneFlow.const_get(name).superclass
      assert_includes OneFlow.const_get(name).ancestors, OneFlow::Error
    end
  end

  def test_uninitialised_tensors
    empty = OneFlow::Tensor.allocate
    text = "this tensor was allocated but never given a value"
    [-> { empty.shape }, -> { empty.to_a }, -> { empty[0] }, -> { empty == empty.itself },
     -> { empty.dup }].each { |call| assert_error(OneFlow::InvalidArgument, text, &call) }
    { "add: input" => -> { empty + 1 },
      "add: other" => -> { @x.add(empty) },
      "add: out" => -> { @x.add(1, out: empty) },
      "max: out[1]" => -> { @x.max(1, out: [OneFlow.zeros(2), empty]) },
      "cat: tensors[1]" => -> { OneFlow.cat([@x, empty]) },
      "einsum: operands" => -> { OneFlow.einsum("ij", empty) },
      "einsum: operands[1]" => -> { OneFlow.einsum(@x, [0, 1], empty, [1, 2]) },
      "einsum: out" => -> { OneFlow.einsum_expression("ij", @x).call(@x, out: empty) },
      "einsum_path: operands[1]" => -> { OneFlow.einsum_path("ij,jk", @x, empty) },
      "index: part" => -> { @x[empty] },
      "index: value" => -> { @x[0] = empty },
      "tensor: data" => -> { tensor(empty) } }.each do |name, call|
      assert_error(OneFlow::InvalidArgument, "#{name} is a tensor that was allocated but never given a value", &call)
    end
    text = "tensor: data must not have a tensor that was allocated but never given a value"
    assert_error(OneFlow::InvalidArgument, text) { tensor([1, empty]) }
    assert_raises(NoMethodError) { OneFlow::Tensor.new }
    assert_raises(TypeError) { OneFlow::Tensor.instance_method(:shape).bind_call("text") }
  end
end
