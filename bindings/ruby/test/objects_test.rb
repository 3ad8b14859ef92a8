# frozen_string_literal: true

require "fiddle"
require "json"
require "yaml"
require_relative "helper"

# Tests the properties of tensors, copies, freezing, serialisation, iteration and printing.
class ObjectsTest < OneFlowTest
  def setup
    @x = tensor([[1, 2, 3], [4, 5, 6]])
  end

  def test_pretty_printing
    x = OneFlow.tensor([[1, 2], [3, 4]])
    assert_output("#{x.inspect}\n") { pp x }
    assert_output("[tensor([[1, 2],\n         [3, 4]])]\n") { pp [x] }
    assert_output("tensor(2)\n") { pp OneFlow.tensor(2) }
  end

  def test_the_name_of_the_gem_can_be_required
    library = File.expand_path("../lib", __dir__)
    assert_equal "true\n", IO.popen([RbConfig.ruby, "-I", library, "-e", 'p require("oneflow-rb")'], &:read)
  end

  def test_properties
    assert_equal [[2, 3], 2, 6, 2, [3, 1]], [@x.shape, @x.ndim, @x.size, @x.length, @x.strides]
    assert_equal [:int64, "cpu:0"], [@x.dtype, @x.device]
    assert_predicate @x, :contiguous?
    refute_predicate @x, :view?
    refute_predicate @x.transpose(0, 1), :contiguous?
    assert_equal [1, 3], @x.transpose(0, 1).strides
    assert_operator @x.version, :<, @x.add!(1).version
    assert_raises(OneFlow::ShapeError) { tensor(1).length }
    @x.shape << 9
    assert_equal [2, 3], @x.shape
  end

  def test_memory
    assert_equal 6 * 8, @x.bytesize
    assert_equal @x.to_binary, Fiddle::Pointer.new(@x.data_ptr)[0, @x.bytesize]
    assert_equal @x.data_ptr + (3 * 8), @x[1].data_ptr
    copy = @x.dup
    Fiddle::Pointer.new(copy.data_ptr)[0, 8] = [7].pack("q")
    assert_equal [7, 1], [copy[0, 0].item, @x[0, 0].item]
    error = assert_raises(OneFlow::DeviceError) { @x.to("far").data_ptr }
    assert_match(/the host cannot reach memory on far:0; copy the tensor first/, error.message)
  end

  def test_copies
    [@x.dup, @x.clone, OneFlow.clone(@x)].each do |copy|
      assert_equal @x, copy
      copy.fill!(0)
      assert_equal 6, @x[1, 2].item
    end
    refute_predicate @x.freeze.dup, :frozen?
    assert_predicate @x.clone, :frozen?
    refute_predicate @x.clone(freeze: false), :frozen?
    assert_raises(FrozenError) { @x.send(:initialize_copy, @x) }
    assert_raises(FrozenError, OneFlow::Error) { OneFlow::Tensor.allocate.freeze.send(:initialize_copy, @x) }
    assert_raises(OneFlow::InvalidArgument) { @x.dup.send(:initialize_copy, @x) }
    assert_raises(OneFlow::TypeMismatch) { OneFlow::Tensor.allocate.send(:initialize_copy, "text") }
  end

  def test_frozen_tensors_have_frozen_views
    @x.freeze
    assert_raises(FrozenError) { @x.add!(1) }
    assert_raises(FrozenError) { @x[0] = 1 }
    assert_raises(FrozenError) { @x[0].fill!(1) }
    assert_raises(FrozenError) { @x.transpose(0, 1).fill!(1) }
    assert_raises(FrozenError) { @x.index_put!([tensor([0])], tensor([0])) }
    row = OneFlow.zeros(1)
    freezer = Class.new(Numeric) { define_method(:to_f) { row.freeze && 1.0 } }
    assert_raises(FrozenError) { row[0..] = [freezer.new] }
    assert_equal [[2, 3, 4], [5, 6, 7]], (@x + 1).fill!(2).add!(@x).sub!(1).to_a
    refute_predicate @x[[0, 1]], :frozen?
  end

  def test_writing_operators_return_their_target
    assert_same @x, @x.index_put!([tensor([0])], tensor([9]))
    assert_equal [9, 9, 9], @x[0].to_a
  end

  def test_marshal
    [@x, @x.transpose(0, 1), tensor(1.5), tensor([]), tensor([1.5], dtype: :bfloat16)].each do |one|
      copy = Marshal.load(Marshal.dump(one))
      assert_equal [one, one.dtype, one.shape], [copy, copy.dtype, copy.shape]
    end
    state = @x.marshal_dump(7) # as for a tensor of more than 1 GiB
    assert_operator state.size, :>, 3
    copy = OneFlow::Tensor.allocate
    copy.marshal_load(Marshal.load(Marshal.dump(state)))
    assert_equal @x, copy
    broken = Marshal.dump(tensor([1, 2])).sub("int64", "int65")
    assert_raises(OneFlow::InvalidArgument) { Marshal.load(broken) }
    assert_raises(OneFlow::InvalidArgument) { @x.marshal_load([:int8, [1], "a"]) }
    assert_raises(OneFlow::Error) { OneFlow::Tensor.allocate.marshal_load(nil) }
  end

  def test_pattern_matching
    case @x
    in { dtype: :int64, shape: [rows, columns] } then assert_equal [2, 3], [rows, columns]
    end
    case @x
    in [first, [four, *]] then assert_equal [[1, 2, 3], 4], [first.to_a, four]
    end
    refute((tensor(1) in [_]))
  end

  def test_each
    assert_equal [[1, 2, 3], [4, 5, 6]], @x.map(&:to_a)
    assert_same(@x, @x.each { |row| row.fill!(0) })
    assert_equal 0, @x.sum.item
    assert_equal 2, @x.each.size
    assert_raises(OneFlow::ShapeError) { tensor(1).each { |one| flunk(one) } }
    assert_equal [true, false], [OneFlow.zeros(2, 0).empty?, @x.empty?]
  end

  def test_vectors_are_converted_in_chunks
    assert_equal [0.0, 0.0], OneFlow.zeros(1).expand(2**40).first(2)
    v = OneFlow.arange(3000)
    seen = []
    v.each { |number| (seen << number) && v.fill!(-1) }
    assert_equal [(0...3000).to_a, [-1]], [seen, v.uniq]
  end

  def test_enumerable_methods_of_a_vector_yield_numbers
    v = tensor([3, 1, 2])
    assert_equal [1, 2, 3], v.sort_by(&:itself)
    assert_equal 6, v.inject(:+)
    assert_includes v, 2
    assert_equal [[3, 0], [1, 1], [2, 2]], v.each_with_index.to_a
    assert_equal [3, 1], v.first(2)
    assert_equal [[3, 1], [2]], v.each_slice(2).to_a
    assert_equal({ true => [2], false => [3, 1] }, v.group_by(&:even?))
    assert_equal [1, 2], v.lazy.reject { |n| n > 2 }.to_a
    first, second, third = *v
    assert_equal [3, 1, 2], [first, second, third]
  end

  def test_operators_with_names_of_enumerable_methods
    v = tensor([3, 1, 2])
    assert_instance_of OneFlow::Tensor, v.sum
    assert_equal(12, v.sum { |n| n * 2 })
    assert_equal 3, v.max.item
    assert_equal(1, v.max { |a, b| b <=> a })
    values, indices = v.sort
    assert_equal [[1, 2, 3], [1, 2, 0]], [values.to_a, indices.to_a]
    assert_equal([3, 2, 1], v.sort { |a, b| b <=> a })
    assert_equal([1, 2], v.select { |n| n < 3 })
    assert_equal 1, v.select(0, 1).item
    assert_equal [[4, 5, 6]], @x.select { |row| row[0].item > 1 }.map(&:to_a)
  end

  def test_printing
    assert_equal "tensor([[1, 2, 3],\n        [4, 5, 6]])", @x.inspect
    assert_equal "tensor([1.5000, 2.2500])", tensor([1.5, 2.25]).to_s
    assert_equal "tensor([16., 36.])", "#{tensor([16.0, 36.0])}" # rubocop:disable Style/RedundantInterpolation
    assert_equal "tensor([1, 2], dtype: :int8)", tensor([1, 2], dtype: :int8).inspect
    assert_equal "tensor([1.], dtype: :float64)", tensor([1.0], dtype: :float64).inspect
    assert_equal "tensor([], dtype: :float32)", tensor([]).inspect
    assert_equal "tensor([], shape: [0, 3], dtype: :int64)", OneFlow.zeros([0, 3], dtype: :int64).inspect
    assert_equal "tensor([false,  true])", tensor([false, true]).inspect
    assert_includes OneFlow.arange(2000).inspect, "..."
  end

  def test_print_options
    before = OneFlow.print_options
    assert_equal before.merge(precision: 2), OneFlow.set_print_options(precision: 2)
    assert_equal "tensor([1.50])", tensor([1.5]).inspect
    OneFlow.set_print_options(threshold: 4, edge_items: 1)
    assert_equal "tensor([0,  ..., 9])", OneFlow.arange(10).inspect
    text = "set_print_options: precision must be between 0 and 17, got 99"
    assert_error(OneFlow::InvalidArgument, text) { OneFlow.set_print_options(precision: 99) }
    text = "set_print_options: line_width must be Integer, got String"
    assert_error(OneFlow::TypeMismatch, text) { OneFlow.set_print_options(line_width: "80") }
    assert_raises(ArgumentError) { OneFlow.set_print_options(digits: 3) }
  ensure
    OneFlow.set_print_options(**before)
  end

  def test_yaml
    [@x, tensor(1.5), OneFlow.zeros(0, 2)].each do |one|
      copy = YAML.unsafe_load(YAML.dump(one))
      assert_equal [one, one.dtype], [copy, copy.dtype]
    end
  end

  def test_json
    assert_equal "[[1,2,3],[4,5,6]]", JSON.generate(@x)
    assert_equal '{"x":[1.5]}', JSON.generate({ x: tensor([1.5]) })
  end
end
