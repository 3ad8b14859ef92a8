# frozen_string_literal: true

require_relative "helper"
require "json"
require "weakref"

# Tests einsum: operands with labels, contraction orders, and expressions.
class EinsumTest < OneFlowTest
  FUNCTIONS = %i[einsum_path einsum_expression].freeze

  def matrices = [tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), tensor([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]])]

  PRODUCT = [[7.0, -1.0], [16.0, -1.0]].freeze

  # ------------------------------------------------------------------------------------------------------- labels

  def test_labelled_operands
    x, y = matrices
    assert_equal PRODUCT, OneFlow.einsum(x, [0, 1], y, [1, 2], [0, 2]).to_a
    assert_equal PRODUCT, OneFlow.einsum(x, [0, 1], y, [1, 2]).to_a
    assert_equal PRODUCT.transpose, OneFlow.einsum(x, [:rest, 1], y, [1, 70], [70, :rest]).to_a
    assert_equal x.to_a.transpose, OneFlow.einsum(x, [5, 3]).to_a
    assert_equal 21.0, OneFlow.einsum(x, [0, 1], []).item
    assert_equal x.to_a, OneFlow.einsum(x, [:rest]).to_a
    assert_equal PRODUCT, OneFlow.einsum(x, [0, 1], y, [1, 2], [0, 2], optimize: "greedy").to_a
    assert_equal "[0,1],[1,2]", OneFlow.einsum_expression(x, [0, 1], y, [1, 2]).equation
    assert_equal [[0, 1]], OneFlow.einsum_path(x, [0, 1], y, [1, 2]).path
  end

  def test_labels_with_a_target
    x, y = matrices
    target = OneFlow.zeros(2, 2)
    assert_same target, OneFlow.einsum(x, [0, 1], y, [1, 2], [0, 2], out: target)
    assert_equal PRODUCT, target.to_a
  end

  def test_more_labels_than_letters
    steps = Array.new(60) { |i| tensor([[1, i % 3], [0, 1]]) }
    arguments = steps.each_with_index.flat_map { |step, i| [step, [i, i + 1]] }
    assert_equal [[1, 60], [0, 1]], OneFlow.einsum(*arguments, [0, 60]).to_a
  end

  def test_labels_that_all_languages_take_or_refuse
    JSON.parse(File.read(File.expand_path("../../../tests/labels.json", __dir__))).each do |each|
      labels = each["labels"]&.map { |label| label == "..." ? :rest : label.to_i } || (0...each["first"])
      call = -> { OneFlow.einsum(OneFlow.ones(2, 2), labels) }
      next assert_equal([2, 2], call.call.shape) unless each["raises"]

      assert_error(OneFlow.const_get(each["raises"]), "einsum: #{each["says"]}", &call)
    end
  end

  def test_labels_as_a_range
    x = tensor([[1, 2], [3, 4]])
    assert_equal [[1, 2], [3, 4]], OneFlow.einsum(x, 0..1).to_a
    assert_equal [[5, 12], [21, 32]], OneFlow.einsum(x, 0...2, tensor([[5, 6], [7, 8]]), 0..1, 0..1).to_a
    assert_equal [[1, 3], [2, 4]], OneFlow.einsum(x, 2.step(0, -2)).to_a
    assert_equal [[1, 3], [2, 4]], OneFlow.einsum(x, (0..2) % 2, (0...3).step(2).entries.reverse).to_a
    assert_equal 10, OneFlow.einsum(x, 0..1, 0...0).item
  end

  # Ruby's C API accepts such a struct as a Range.
  Bounds = Struct.new(:begin, :end, :exclude_end?) do
    def initialize = super(0, 1, false)
  end

  REJECTED_LABELS = [
    [->(x) { [x, 0..] }, OneFlow::TypeMismatch, "labels of operand 0 must be Array or Range of Integers, got 0.."],
    [->(x) { [x, (0..) % 2] }, OneFlow::TypeMismatch, "must be Array or Range of Integers, got ((0..).%(2))"],
    [->(x) { [x, 0..1.5] }, OneFlow::TypeMismatch, "must be Array or Range of Integers, got 0..1.5"],
    [->(x) { [x, "a".."b"] }, OneFlow::TypeMismatch, 'must be Array or Range of Integers, got "a".."b"'],
    [->(x) { [x, 1..(2**40)] }, OneFlow::ShapeError, "must be at most 32 and '...', got #{2**40}"],
    [->(x) { [x, 1..(2**70)] }, OneFlow::ShapeError, "must be at most 32 and '...', got"],
    [->(x) { [x, "a".match(/a/)] }, OneFlow::TypeMismatch, "must be Array or Range of Integers, got MatchData"],
    [->(x) { [x, Bounds.new] }, OneFlow::TypeMismatch, "must be Array or Range of Integers, got EinsumTest::Bounds"],
    [->(x) { [x, [0, 1].each] }, OneFlow::TypeMismatch, "must be Array or Range of Integers, got Enumerator"],
    [->(x) { [x, -1..0] }, OneFlow::InvalidArgument, "labels of operand 0 must not be negative, got -1"],
    [->(x) { [x] }, OneFlow::TypeMismatch, "operand 0 must be followed by its labels"],
    [->(x) { [x, [0, 1], x] }, OneFlow::TypeMismatch, "operand 1 must be followed by its labels"],
    [->(x) { [x, x] }, OneFlow::TypeMismatch, "labels of operand 0 must be Array or Range of Integers, got Tensor"],
    [->(x) { [x, [0, 1.5]] }, OneFlow::TypeMismatch, "labels of operand 0 must be Integers or :rest, got Float"],
    [->(x) { [x, [0, true]] }, OneFlow::TypeMismatch, "labels of operand 0 must be Integers or :rest, got bool"],
    [->(x) { [x, [0, :all]] }, OneFlow::TypeMismatch, "labels of operand 0 must be Integers or :rest, got :all"],
    [->(x) { [x, [0, 1], 3] }, OneFlow::TypeMismatch, "of the result must be Array or Range of Integers, got Integer"],
    [->(x) { [x, [0, 1], [0], [1]] }, OneFlow::TypeMismatch, "operand 1 must be Tensor, got Array"],
    [->(x) { [x, [0, 1], x, [1, 2], [7]] }, OneFlow::InvalidArgument, "label 7 of the output"],
    [->(x) { [x, [0, 1], x, [1]] }, OneFlow::ShapeError, "operand 1 has 2 dims but '[1]' names 1"]
  ].freeze

  def test_rejected_labels
    x = OneFlow.ones(2, 2)
    REJECTED_LABELS.product([:einsum, *FUNCTIONS]) do |(arguments, error_class, text), function|
      error = assert_raises(error_class, text) { OneFlow.public_send(function, *arguments.call(x)) }
      assert_includes error.message, text
      prefix = error_class == OneFlow::TypeMismatch ? function : :einsum # errors of the front end name the function
      assert error.message.start_with?("#{prefix}: ", "#{function}: "), error.message
    end
  end

  # -------------------------------------------------------------------------------------------------------- paths

  CHAIN = ["ij,jk,kl->il", [2, 100], [100, 3], [3, 50]].freeze

  def test_paths
    found = OneFlow.einsum_path(*CHAIN)
    assert_instance_of OneFlow::EinsumPath, found
    assert Ractor.shareable?(found)
    assert_raises(FrozenError) { found.path << [0, 1] }
    assert_raises(FrozenError) { found.path[0] << 2 }
    assert_raises(FrozenError) { found.report << "no" }
    assert_equal [[[0, 1], [0, 1]], 1800.0, 90_000.0, 100.0], found.first(4)
    assert found.report.start_with?("ij,jk,kl->il: 3 operands, 2 products\n"), found.report
    assert_equal Encoding::UTF_8, found.report.encoding
    case found
    in { path: [[0, 1], *], flops: } then assert_in_delta 1800.0, flops
    end
  end

  def test_operands_of_paths
    tensors = CHAIN.drop(1).map { |shape| OneFlow.ones(*shape) }
    found = OneFlow.einsum_path(*CHAIN)
    assert_equal found, OneFlow.einsum_path(CHAIN[0], *tensors)
    assert_equal found, OneFlow.einsum_path(CHAIN[0], tensors)
    assert_equal found, OneFlow.einsum_path(CHAIN[0], CHAIN.drop(1))
    assert_equal found, OneFlow.einsum_path(CHAIN[0], tensors[0], *CHAIN.drop(2))
    assert_equal found, OneFlow.einsum_path(equation: CHAIN[0], operands: tensors)
    assert_equal 6.0, OneFlow.einsum_path("i->i", operands: OneFlow.ones(6)).largest_intermediate
    assert_equal [[], 1200.0], OneFlow.einsum_path("ij->", [20, 30]).first(2)
    assert_equal [[], 1.0], OneFlow.einsum_path("", []).values_at(0, 3)
  end

  def test_contraction_orders
    in_order = OneFlow.einsum_path("ij,jk,kl,lm->im", *([[2, 2]] * 4), optimize: "none")
    assert_equal [[0, 1], [0, 2], [0, 1]], in_order.path
    assert_equal in_order.path, OneFlow.einsum_path("ij,jk,kl,lm->im", *([[2, 2]] * 4), optimize: false).path
    chain = ["ij,jk,kl", [2, 1], [1, 50], [50, 2]]
    assert_equal [[1, 2], [0, 1]], OneFlow.einsum_expression(*chain, optimize: true).path
    assert_equal in_order.path, OneFlow.einsum_path("ij,jk,kl,lm->im", *([[2, 2]] * 4), optimize: in_order.path).path
    assert_equal [[1, 2], [0, 1]], OneFlow.einsum_path(*CHAIN, optimize: [[1, 2], [0, 1]]).path
    assert_equal 1000.0, OneFlow.einsum_path("i,j,k->ijk", [10], [20], [5], optimize: :greedy).largest_intermediate
    ["auto", "optimal", "greedy", "none", true, false].each { |way| assert_same_result(*CHAIN, optimize: way) }
    assert_same_result(*CHAIN, optimize: [[1, 2], [0, 1]])
    assert_same_result(*CHAIN, optimize: nil, memory_limit: nil)
  end

  def assert_same_result(equation, *shapes, **options)
    operands = shapes.map { |shape| OneFlow.randint(5, shape) }
    expected = operands.reduce { |a, b| a.matmul(b) }
    assert_equal expected, OneFlow.einsum_expression(equation, *shapes, **options).call(operands), options
  end

  def test_memory_limit
    shapes = [[40, 2], [2, 40], [40, 2], [2, 40]]
    free = OneFlow.einsum_path("ab,bc,cd,de->ae", shapes, optimize: [[0, 1], [0, 2], [0, 1]])
    tight = OneFlow.einsum_path("ab,bc,cd,de->e", shapes, memory_limit: 80)
    assert_operator tight.largest_intermediate, :<=, 80
    assert_equal 1600.0, free.largest_intermediate
  end

  def test_hundreds_of_operands
    count = 300
    equation = Array.new(count) { |i| "[#{i},#{i + 1}]" }.join(",")
    found = OneFlow.einsum_path("#{equation}->[0,#{count}]", Array.new(count) { |i| [2 + (i % 3), 2 + ((i + 1) % 3)] })
    assert_equal count - 1, found.path.size
    assert_operator found.flops, :<, 2 * (4**3) * count
  end

  REJECTED = [
    [["ij,jk", [2, 3], [4, 5]], {}, OneFlow::ShapeError, "label 'j' is 3 in operand 0 and 4"],
    [["ij", [2, -3]], {}, OneFlow::ShapeError, "negative"],
    [%w[ij ab], {}, OneFlow::TypeMismatch, "operands[0] must be Tensor or Array of Integers, got String"],
    [["ij", nil], {}, OneFlow::TypeMismatch, "operands[0] must be Tensor or Array of Integers, got nil"],
    [["ij", [2, 3.5]], {}, OneFlow::TypeMismatch, "operands[0] must be Tensor or Array of Integers, got Array"],
    [["ij", [2, 2**70]], {}, OneFlow::TypeMismatch, "operands[0] must be Tensor or Array of Integers, got Array"],
    [["i,j", [2], ["3"]], {}, OneFlow::TypeMismatch, "operands[1] must be Tensor or Array of Integers, got Array"],
    [["ij"], { operands: nil }, OneFlow::TypeMismatch, "operands must be Array of Tensors or shapes, got nil"],
    [["ij", [2, 3]], { operands: [] }, OneFlow::TypeMismatch, "argument operands given twice"],
    [["ij"], {}, OneFlow::TypeMismatch, "missing argument operands"],
    [[], {}, OneFlow::TypeMismatch, "missing argument equation"],
    [[5, [2, 3]], {}, OneFlow::TypeMismatch, "equation must be String, got Integer"],
    [["i\0j", [2, 3]], {}, OneFlow::InvalidArgument, "equation must not have a null byte"],
    [["i,i", [2], [2]], { optimize: "fast" }, OneFlow::InvalidArgument, "optimize must be 'auto', 'optimal'"],
    [["i,i", [2], [2]], { optimize: 1 }, OneFlow::TypeMismatch, "optimize must be String, got Integer"],
    [["i,i", [2], [2]], { optimize: "\0" }, OneFlow::InvalidArgument, "optimize must not have a null byte"],
    [["i,i", [2], [2]], { memory_limit: -1 }, OneFlow::InvalidArgument, "memory_limit must not be negative, got -1"],
    [["i,i", [2], [2]], { memory_limit: 2**70 }, OneFlow::InvalidArgument, "memory_limit must fit into 64 bits"],
    [["i,i", [2], [2]], { optimize: [[0, 1, 2]] }, OneFlow::TypeMismatch, "[0] must be pair of Integers, got Array"],
    [["i,i", [2], [2]], { optimize: [[0, 2]] }, OneFlow::InvalidArgument, "different positions below 2, got 0 and 2"],
    [["i,i", [2], [2]], { optimize: [[0, 0]] }, OneFlow::InvalidArgument, "different positions below 2, got 0 and 0"],
    [["i,i", [2], [2]], { optimize: [] }, OneFlow::InvalidArgument, "must be 1 pair of positions for 2 operands"],
    [["i,i", [2], [2]], { optimize: 5 }, OneFlow::TypeMismatch, "optimize must be String, got Integer"],
    [["i,i", [2], [2]], { optimize: [0, 1] }, OneFlow::TypeMismatch, "[0] must be pair of Integers, got Integer"],
    [["i,i", [2], [2]], { way: 5 }, OneFlow::TypeMismatch, "unknown argument way"],
    [["i,i", [2], [2]], { optimise: [] }, OneFlow::TypeMismatch, "unknown argument optimise; did you mean optimize?"]
  ].freeze

  def test_rejected_arguments
    REJECTED.product(FUNCTIONS) do |(arguments, options, error_class, text), function|
      error = assert_raises(error_class, text) { OneFlow.public_send(function, *arguments, **options) }
      assert_includes error.message, text
      assert error.message.start_with?("einsum: ", "#{function}: "), error.message
    end
  end

  # -------------------------------------------------------------------------------------------------- expressions

  def test_properties_of_expressions
    expression = OneFlow.einsum_expression("ij,jk->ik", [2, 3], [3, 4])
    assert_equal ["ij,jk->ik", [[2, 3], [3, 4]], [2, 4]], [expression.equation, expression.shapes, expression.shape]
    assert_equal [[[0, 1]], 48.0, 48.0, 8.0],
                 [expression.path, expression.flops, expression.naive_flops, expression.largest_intermediate]
    assert_equal OneFlow.einsum_path("ij,jk->ik", [2, 3], [3, 4]).report, expression.report
    text = '#<OneFlow::EinsumExpression "ij,jk->ik" of shapes [[2, 3], [3, 4]]>'
    assert_equal [text, text], [expression.inspect, expression.to_s]
    assert_predicate expression, :frozen?
    assert_equal "αβ->β", OneFlow.einsum_expression("αβ->β", [2, 3]).equation
  end

  def test_ways_to_call_an_expression
    x, y = matrices
    expression = OneFlow.einsum_expression("ij,jk->ik", x, [3, 2])
    [expression.call(x, y), expression[x, y], expression.call([x, y]), expression.call(operands: [x, y]),
     *[[x, y]].map(&expression), (->(pair) { pair } >> expression).call([x, y])].each do |result|
      assert_equal PRODUCT, result.to_a
    end
    target = OneFlow.zeros(2, 2)
    assert_same target, expression.call(x, y, out: target)
    assert_equal PRODUCT, target.to_a
    assert_equal PRODUCT, expression[x, y, out: nil].to_a
    assert_equal [6.0, 15.0], OneFlow.einsum_expression("ij->i", [2, 3]).call(x).to_a
  end

  def test_composition_of_expressions
    x, y = matrices
    product = OneFlow.einsum_expression("ij,jk->ik", x, y)
    total = OneFlow.einsum_expression("ij->", [2, 2])
    target = OneFlow.zeros(2, 2)
    assert_equal PRODUCT.flatten.sum, (product >> total).call(x, y).item
    assert_equal PRODUCT.flatten.sum, (total << product).call(x, y).item
    assert_equal PRODUCT, (product >> :to_a.to_proc).call(x, y, out: target)
    assert_equal PRODUCT, (product << -> { [x, y] }).call.to_a
    assert_equal PRODUCT, target.to_a
    assert_raises(TypeError) { product >> 3 }
  end

  def test_expressions_check_their_operands
    x, y = matrices
    expression = OneFlow.einsum_expression("ij,jk->ik", [2, 3], [3, 2])
    {
      -> { expression.call(x, x) } => [OneFlow::ShapeError, "einsum: operand 1 must have the shape [3, 2]"],
      -> { expression.call(x) } => [OneFlow::InvalidArgument, "einsum: the expression takes 2 operands, got 1"],
      -> { expression.call(x, y, out: 3) } => [OneFlow::TypeMismatch, "einsum: out must be Tensor, got Integer"],
      -> { expression.call(x, "y") } => [OneFlow::TypeMismatch, "einsum: operands[1] must be Tensor, got String"],
      -> { expression.call } => [OneFlow::TypeMismatch, "einsum: missing argument operands"],
      -> { expression.call(x, y, dim: 1) } => [OneFlow::TypeMismatch, "einsum: unknown argument dim"],
      -> { expression.call(x, y, out: x) } => [OneFlow::ShapeError, "einsum: result of shape [2, 2] cannot be stored"],
      -> { expression.call(x, OneFlow::Tensor.allocate) } => [OneFlow::InvalidArgument, "never given a value"],
      -> { expression.call(x, y, out: OneFlow.zeros(2, 2).freeze) } => [FrozenError, "can't modify frozen"]
    }.each do |call, (error_class, text)|
      assert_includes assert_raises(error_class, text, &call).message, text
    end
  end

  def test_expressions_cannot_be_allocated_or_copied
    assert_raises(NoMethodError) { OneFlow::EinsumExpression.new }
    assert_raises(TypeError) { OneFlow::EinsumExpression.allocate }
    expression = OneFlow.einsum_expression("i", [2])
    assert_raises(TypeError) { expression.dup }
    assert_raises(TypeError) { Marshal.dump(expression) }
    call = OneFlow::EinsumExpression.instance_method(:call)
    assert_raises(TypeError) { call.bind_call(OneFlow.ones(2), OneFlow.ones(2)) }
  end

  def test_expressions_with_unsuitable_operands
    x, y = matrices
    expression = OneFlow.einsum_expression("ij,jk->ik", x, y)
    things = [x, y, x.transpose(0, 1), tensor([]), OneFlow::Tensor.allocate, 0, nil, "ij", :rest, [], [x, y], [x, nil],
              {}, BasicObject.new, 2**70]
    things.product(things) do |pair|
      result = expression.call(*pair)
      assert_equal [2, 2], result.shape
    rescue OneFlow::Error => e
      refute_kind_of OneFlow::InternalError, e
    end
  end

  def test_threads_and_ractors_share_expressions
    x, y = matrices
    expression = OneFlow.einsum_expression("ij,jk->ik", x, y)
    assert Ractor.shareable?(expression)
    results = Array.new(4) { Thread.new { Array.new(100) { expression[x, y].to_a } } }.flat_map(&:value)
    assert_equal [PRODUCT], results.uniq
    program = <<~RUBY
      Warning[:experimental] = false
      shared = OneFlow.einsum_expression("i,i", [3], [3])
      sums = Array.new(3) { |n| Ractor.new(shared, n) { |e, i| e.(OneFlow.ones(3), OneFlow.full([3], i)).item } }
      labelled = Ractor.new { OneFlow.einsum(OneFlow.ones(2, 3), [:rest, 1], [:rest]).to_a }
      found = Ractor.new { OneFlow.einsum_path("ij,jk,kl", [2, 3], [3, 4], [4, 5]).path }
      p sums.map(&:take), labelled.take, found.take
    RUBY
    assert_equal ["[0.0, 3.0, 6.0]", "[3.0, 3.0]", "[[0, 1], [0, 1]]"], run_alone(program, {})
  end

  # ------------------------------------------------------------------------------------------------------- memory

  def test_gc_stress
    GC.stress = true
    x, y = matrices
    labelled = OneFlow.einsum(x, [0, 1], y, [1, 2], [0, 2])
    expression = OneFlow.einsum_expression("ij,jk->ik", x, [3, 2], optimize: [[0, 1]])
    of_labels = OneFlow.einsum_expression(x, [:rest, 1], y, [1, 2])
    results = [labelled, expression[x, y], expression.call([x, y], out: OneFlow.zeros(2, 2)), *[[x, y]].map(&of_labels)]
    results.map!(&:to_a)
    many = OneFlow.einsum_path("#{Array.new(40) { |i| "[#{i},#{i + 1}]" }.join(",")}->", [[2, 2]] * 40)
    errors = stress_errors(x)
    text = expression.inspect
  ensure
    GC.stress = false
    assert_equal [PRODUCT] * 4, results
    assert_equal '#<OneFlow::EinsumExpression "ij,jk->ik" of shapes [[2, 3], [3, 2]]>', text
    assert_equal 39, many.path.size
    assert_equal ["einsum: labels of operand 0 must be Integers or :rest, got Float",
                  "einsum_path: operands[0] must be Tensor or Array of Integers, got Array",
                  "einsum_expression: optimize[0] must be pair of Integers, got Array"], errors
  end

  def stress_errors(operand)
    [-> { OneFlow.einsum(operand, [1.5]) },
     -> { OneFlow.einsum_path("i", ["2"]) },
     -> { OneFlow.einsum_expression("i,i", [2], [2], optimize: [[0]]) }].map do |call|
      assert_raises(OneFlow::Error, &call).message
    end
  end

  # The stack may hold some of them.
  def test_nothing_holds_an_expression_that_the_program_has_dropped
    references = Array.new(200) { |i| WeakRef.new(OneFlow.einsum_expression("i,j", [i], [i])) }
    GC.start
    refute(references.all?(&:weakref_alive?))
  end

  # Each expression has about 40 KB of native memory but only about 100 bytes on Ruby's heap: Ruby collects expressions
  # in time only if their native memory is reported. The program runs in a separate process, where nothing else
  # allocates. It prints the native size, whether Ruby collects while 3,000 expressions are made, for which it has room
  # on its heap, and by how many MB the process grows while another 3,000 (120 MB) are created and collected.
  def test_native_memory_of_expressions
    program = <<~RUBY
      require "objspace"
      equation = Array.new(200) { |i| "[\#{i},\#{i + 1}]" }.join(",").freeze
      shapes = Array.new(200) { [2, 2].freeze }.freeze
      make = ->(_) { OneFlow.einsum_expression(equation, shapes, optimize: :none) }
      resident = -> { File.read("/proc/self/statm").split[1].to_i * 4096 }
      p ObjectSpace.memsize_of(make.call(0))
      before = GC.count
      3000.times(&make)
      p GC.count > before
      rounds = Array.new(8) { (500.times(&make) && GC.start) || resident.call }
      p (rounds.last - rounds[1]) >> 20
    RUBY
    size, collects, growth = run_alone(program, { "RUBY_GC_HEAP_INIT_SLOTS" => "1000000" })
    assert_includes 20_000..80_000, size.to_i
    assert_equal "true", collects
    assert_operator growth.to_i, :<, 60 # a leak would take 120
  end
end
