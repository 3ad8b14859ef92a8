# frozen_string_literal: true

require "json"
require "yaml"
require_relative "helper"
require_relative "vectors"

# Compares the gradients of all operators with PyTorch's (docs/reference/vectors.md), and tests the rules of recording.
class GradientsTest < OneFlowTest
  include Vectors

  FILES = Dir[File.expand_path("../../../tests/generated/gradients/*.json", __dir__)]

  def test_vectors_exist
    refute_empty FILES, "no vectors: run `make vectors`"
  end

  FILES.each do |file|
    define_method("test_#{File.basename(file, ".json").tr(".", "_")}") do
      vectors = JSON.parse(File.read(file), symbolize_names: true)
      vectors[:cases].each { |one| replay(vectors, one) }
    end
  end

  class Cube < OneFlow::Autograd::Function
    def self.forward(context, input)
      context.save_for_backward(input)
      input * input * input
    end

    def self.backward(context, grad)
      input, = context.saved_tensors
      grad * input * input * 3
    end
  end

  # A function with a wrong gradient.
  class Wrong < OneFlow::Autograd::Function
    def self.forward(_, input) = input * input
    def self.backward(_, grad) = grad
  end

  def leaf(*numbers) = OneFlow.tensor(numbers, dtype: :float64).requires_grad!

  def test_recording
    x = leaf(1.0, 2.0)
    y = x * 3
    assert_equal [true, true, nil, nil], [x.requires_grad?, x.leaf?, x.grad_fn, x.grad]
    assert_equal [true, false, "mul"], [y.requires_grad?, y.leaf?, y.grad_fn]
    refute_predicate OneFlow.no_grad { x * 2 }, :requires_grad?
    assert_predicate OneFlow.no_grad { OneFlow.enable_grad { x * 2 } }, :requires_grad?
    refute_predicate y.detach, :requires_grad?
    assert_raises(OneFlow::DTypeError) { OneFlow.tensor([1]).requires_grad! }
  end

  def test_a_mode_ends_with_its_block
    assert_raises(ZeroDivisionError) { OneFlow.no_grad { 1 / 0 } }
    assert_predicate OneFlow, :grad_enabled?
  end

  def test_a_mode_belongs_to_its_fiber
    x = leaf(1.0)
    found = []
    fiber = Fiber.new do
      OneFlow.no_grad do
        found << (x * 2).requires_grad?
        Fiber.yield
        found << (x * 2).requires_grad? << OneFlow.grad_enabled?
      end
      found << (x * 2).requires_grad?
    end
    fiber.resume
    found << (x * 2).requires_grad? << OneFlow.grad_enabled?
    OneFlow.no_grad { found << Fiber.new { (x * 2).requires_grad? }.resume }
    fiber.resume
    assert_equal [false, true, true, true, false, false, true], found
    found = OneFlow.no_grad { Enumerator.new { |values| 3.times { values << (x * 2).requires_grad? } }.next }
    assert found, "an Enumerator runs in a fiber of its own"
  end

  def test_a_fiber_that_never_goes_on_changes_nothing
    x = leaf(1.0)
    Fiber.new { OneFlow.no_grad { Fiber.yield } }.resume
    assert_predicate x * 2, :requires_grad?
    OneFlow.grad_enabled = false
    refute_predicate x * 2, :requires_grad?
    OneFlow.grad_enabled = true
    assert_predicate x * 2, :requires_grad?
  end

  def test_other_fibers_record_while_a_hook_waits
    x = leaf(1.0)
    y = leaf(1.0)
    x.register_hook { |grad| Fiber.yield(OneFlow.grad_enabled?) || (grad * 2) }
    pass = Fiber.new { (x * 3).backward || x.grad.to_a }
    refute pass.resume
    assert_predicate OneFlow, :grad_enabled?
    (y * 5).backward
    assert_equal [[5.0], [6.0]], [y.grad.to_a, pass.resume]
    assert_predicate OneFlow, :grad_enabled?
  end

  def test_a_hook_has_the_mode_of_its_pass
    x = leaf(1.0, 2.0)
    [false, true].each do |create_graph|
      y = x * 3
      modes = []
      y.register_hook do |grad|
        modes << OneFlow.grad_enabled? << (grad * x).requires_grad?
        nil
      end
      OneFlow.enable_grad { y.sum.backward(create_graph:) }
      assert_equal [create_graph] * 2, modes
      x.grad = nil
    end
  end

  def test_gradients_add_up
    x = leaf(1.0, 2.0)
    2.times { (x * 2).sum.backward }
    assert_equal [4.0, 4.0], x.grad.to_a
    x.grad = nil
    assert_nil x.grad
  end

  def test_graphs_are_freed
    x = leaf(2.0)
    y = (x * x).exp.sum
    y.backward(retain_graph: true)
    y.backward
    error = assert_raises(OneFlow::InvalidArgument) { y.backward }
    assert_includes error.message, "was freed by an earlier backward pass"
  end

  def test_changes_in_place
    x = leaf(1.0, 2.0)
    assert_raises(OneFlow::InvalidArgument) { x.add!(1) }
    y = x * 1
    y.mul!(y)
    y[0] = 5
    y.sum.backward
    assert_equal [0.0, 4.0], x.grad.to_a
    z = x * 2
    product = z.exp * z
    z.add!(1)
    error = assert_raises(OneFlow::InvalidArgument) { product.sum.backward }
    assert_includes error.message, "was changed by add"
  end

  def test_gradients_of_functions
    x = OneFlow.tensor([1.0, 2.0])
    assert_equal [2.0, 4.0], OneFlow.grad { |a| (a * a).sum }.call(x).to_a
    value, gradients = OneFlow.value_and_grad(argnums: [0, 1]) { |a, b| (a * b).sum }.call(x, x)
    assert_equal [5.0, [[1.0, 2.0], [1.0, 2.0]]], [value.item, gradients.map(&:to_a)]
    value, pull = OneFlow.vjp(x) { |a| a * a }
    assert_equal [[1.0, 4.0], [2.0, 4.0]], [value.to_a, pull.call(OneFlow.ones([2])).to_a]
    assert_equal [[2.0, 0.0], [0.0, 4.0]], OneFlow.jacobian(x) { |a| a * a }.to_a
    assert_equal [[6.0, 0.0], [0.0, 12.0]], OneFlow.hessian(x) { |a| (a * a * a).sum }.to_a
  end

  def in_turn(*results) = ->(each) { results.shift.call(each) }

  # A function whose gradient is not a tensor.
  class NumberAsGradient < OneFlow::Autograd::Function
    def self.forward(context, input)
      context.save_for_backward(nil)
      input * 2
    end

    def self.backward(_context, _grad) = false
  end

  # Returns wrong calls, with the texts of their errors.
  def wrong_calls(leaf, squares)
    product = ->(a, b) { (a * b).sum }
    {
      "grad: argnums names argument 1 twice" => -> { OneFlow.grad(argnums: [1, -1], &product).call(leaf, leaf) },
      "value_and_grad: argnums must have at least one number" => -> { OneFlow.value_and_grad(argnums: [], &squares) },
      "value_and_grad: argnums must be Integer or Array of Integers, got bool" =>
        -> { OneFlow.value_and_grad(argnums: true, &squares) },
      "value_and_grad: argnums[1] must be Integer, got String" =>
        -> { OneFlow.value_and_grad(argnums: [0, "a"], &squares) },
      "value_and_grad: argnums has -2, but there are 1 arguments" =>
        -> { OneFlow.value_and_grad(argnums: -2, &squares).call(leaf) },
      "value_and_grad: a gradient needs a Tensor argument, got Float" =>
        -> { OneFlow.value_and_grad(&squares).call(3.0) },
      "value_and_grad: the block must return Tensor, got Array" => lambda {
                                                                     OneFlow.value_and_grad do |a|
                                                                       [a, a]
                                                                     end.call(leaf)
                                                                   },
      "value_and_grad: missing block" => -> { OneFlow.value_and_grad },
      "vjp: the block must return Tensor or Array of Tensors, got nil" => -> { OneFlow.vjp(leaf) { nil } },
      "vjp: the block must return Tensor or Array of Tensors, got an Array with Integer" =>
        -> { OneFlow.vjp(leaf) { |a| [a, 3] } },
      "grad: inputs must have at least one tensor" => -> { OneFlow.grad(leaf.sum, []) },
      "grad: inputs[0] must be Tensor, got nil" => -> { OneFlow.grad(leaf.sum, [nil]) },
      "backward: tensors[1] must be Tensor, got Integer" => -> { OneFlow::Autograd.backward([leaf.sum, 3]) },
      "backward: grad_tensors[0] must be Tensor or nil, got String" =>
        -> { OneFlow::Autograd.backward([leaf], grad_tensors: ["a"]) },
      "jacobian: create_graph must be bool, got String" =>
        -> { OneFlow.jacobian(leaf, create_graph: "a", &squares) },
      "requires_grad=: requires_grad must be bool, got String" => -> { leaf.requires_grad = "a" },
      "grad_enabled=: enabled must be bool, got Integer" => -> { OneFlow.grad_enabled = 1 },
      "grad: allow_unused must be bool, got Integer" => -> { OneFlow.grad(leaf.sum, leaf, allow_unused: 1) },
      "#{NumberAsGradient}: backward must return Tensor or nil, got bool" =>
        -> { NumberAsGradient.apply(leaf).sum.backward },
      "checkpoint: the block must return Tensor or Array of Tensors, got Integer" =>
        -> { OneFlow.checkpoint(leaf) { 3 } },
      "checkpoint: the block returned 2 tensors, and 1 when it was called again" =>
        -> { OneFlow.checkpoint(leaf, &in_turn(->(a) { [a * a, a] }, squares)).first.sum.backward },
      "checkpoint: the block must return Tensor or Array of Tensors, got nil" =>
        -> { OneFlow.checkpoint(leaf, &in_turn(squares, ->(_) {})).sum.backward }
    }
  end

  def test_wrong_arguments_of_functions_of_gradients
    wrong_calls(leaf(1.0, 2.0), ->(a) { a * a }).each do |text, call|
      assert_equal(text, assert_raises(OneFlow::Error, &call).message)
    end
  end

  def test_forms_of_what_functions_return
    x = OneFlow.ones(2)
    results, = OneFlow.vjp(x) { |a| [a * a, a.sum] }
    refute(results.any?(&:requires_grad?))
    assert_equal([[0.0, 0.0], [0.0, 0.0]], OneFlow.hessian(x) { OneFlow.tensor(3.0) }.to_a)
    found = OneFlow.value_and_grad(argnums: -1) { |a, b| (a * b * b).sum }.call(x, x * 2)
    assert_equal([4.0, 4.0], found.last.to_a)
  end

  def test_nested_derivatives
    five = OneFlow.tensor(5.0, dtype: :float64)
    ones = OneFlow.ones([], dtype: :float64)
    inners = [->(y, &f) { OneFlow.grad(&f).call(y) }, ->(y, &f) { OneFlow.vjp(y, &f).last.call(ones) },
              ->(y, &f) { OneFlow.jacobian(y, create_graph: true, &f) }]
    inners.each do |inner| # d/dx [x * d/dy (x + y)] = 1, and d/dx [d/dy (x * x * y)] = 2x
      assert_equal 1.0, OneFlow.grad { |x| x * inner.call(x) { |y| x + y } }.call(five).item
      assert_equal 10.0, OneFlow.grad { |x| inner.call(five) { |y| x * x * y } }.call(five).item
      assert_equal 10.0, OneFlow.jacobian(five) { |x| inner.call(five) { |y| x * x * y } }.item
    end
    assert_equal 60.0, OneFlow.grad { |x| OneFlow.hessian(x, create_graph: true) { |y| x * (y**3) } }.call(five).item
  end

  def test_a_vjp_of_a_vjp
    ones = OneFlow.ones([], dtype: :float64)
    value, pull = OneFlow.vjp(OneFlow.tensor(5.0, dtype: :float64)) { |y| y * y }
    assert_equal [false, false], [value, pull.call(ones)].map(&:requires_grad?)
    assert_equal 10.0, OneFlow.grad { |g| pull.call(g) }.call(ones).item
  end

  def test_a_copy_of_a_leaf_is_a_leaf
    x = leaf(1.0, 2.0)
    (x * 3).sum.backward
    copies = [x.dup, x.clone, Marshal.load(Marshal.dump(x)), YAML.unsafe_load(YAML.dump(x))]
    copies.each { |y| (y * 5).sum.backward }
    assert_equal([[8.0, 8.0], [8.0, 8.0], [5.0, 5.0], [5.0, 5.0]], copies.map { |y| y.grad.to_a })
    assert_equal [3.0, 3.0], x.grad.to_a
    refute_predicate Marshal.load(Marshal.dump(x.detach)), :requires_grad?
    (x * 2).dup.sum.backward # the copy of a result has its history
    assert_equal [5.0, 5.0], x.grad.to_a
  end

  def test_a_dump_without_a_flag_for_gradients_loads
    x = OneFlow::Tensor.allocate
    x.marshal_load([:float32, [2], [1.0, 2.0].pack("e*")])
    assert_equal [[1.0, 2.0], false], [x.to_a, x.requires_grad?]
  end

  def test_gradients_of_inputs
    x = leaf(1.0)
    y = leaf(2.0)
    assert_equal [[3.0]], OneFlow.grad((x * 3).sum, [x]).map(&:to_a)
    error = assert_raises(OneFlow::InvalidArgument) { OneFlow.grad((x * 3).sum, [x, y]) }
    assert_includes error.message, "outputs do not depend on input 1"
    assert_nil OneFlow.grad((x * 3).sum, [x, y], allow_unused: true).last
  end

  def test_functions_with_gradients_of_their_own
    x = leaf(2.0)
    y = Cube.apply(x)
    assert_equal "GradientsTest::Cube", y.grad_fn
    y.sum.backward
    assert_equal [12.0], x.grad.to_a
    assert_equal [[12.0]], OneFlow.hessian(OneFlow.tensor([2.0])) { |a| Cube.apply(a).sum }.to_a
  end

  def test_gradcheck
    x = leaf(0.5, 1.5)
    y = OneFlow.tensor([[1, 2], [3, 4]], dtype: :float64).requires_grad!
    assert(OneFlow.gradcheck([x, y]) { |a, b| [OneFlow.matmul(b, a.sin), b.exp] })
    assert(OneFlow.gradcheck(x, rtol: 1e-4) { |a| OneFlow.grad((a**3).sum, [a], create_graph: true).first })
    refute(OneFlow.gradcheck(leaf(3.0), raise_exception: false) { |a| Wrong.apply(a) })
    error = assert_raises(OneFlow::InvalidArgument) { OneFlow.gradcheck(leaf(3.0)) { |a| Wrong.apply(a) } }
    assert_match(/\Agradcheck: the gradient of result 0 for input 0 differs by up to 5/, error.message)
    single = OneFlow.tensor([1.0]).requires_grad!
    error = assert_raises(OneFlow::TypeMismatch) { OneFlow.gradcheck(single) { |a| a } }
    assert_equal "gradcheck: input 0 must be float64 for accurate differences, got float32", error.message
  end

  def test_anomalies_name_their_call
    x = leaf(0.0, 1.0)
    (x.log * 0).sum.backward # no error: the gradient is just NaN
    assert_predicate x.grad[0].item, :nan?
    error = assert_raises(OneFlow::InvalidArgument) do
      OneFlow::Autograd.detect_anomaly { (x.log * 0).sum.backward }
    end
    assert_equal "backward: the gradient of log for its operand of shape [2] has a NaN; " \
                 "the result of the call has shape [2]", error.message
    assert_equal 0, OneFlow.get_option("detect_anomaly")
  end

  def test_hooks
    x = leaf(2.0)
    hook = x.register_hook { |grad| grad * 10 }
    (x * 3).sum.backward
    assert_equal [30.0], x.grad.to_a
    hook.remove
    x.register_hook { |_| raise ArgumentError, "from the hook" }
    assert_equal "from the hook", assert_raises(ArgumentError) { (x * 3).sum.backward }.message
    y = leaf(2.0)
    y.register_hook { |_| "none" }
    text = "register_hook: a hook must return Tensor or nil, got String"
    assert_equal text, assert_raises(OneFlow::TypeMismatch) { (y * 3).sum.backward }.message
  end

  # A function that returns a tensor that it has not made.
  class Other < OneFlow::Autograd::Function
    OTHER = OneFlow.tensor([3.0, 4.0]).requires_grad!
    def self.forward(_, _input) = OTHER
    def self.backward(_, grad) = grad * 5
  end

  def test_functions_that_return_what_was_there_before
    x = OneFlow.tensor([1.0, 2.0]).requires_grad!
    [Other.apply(x), OneFlow.checkpoint(x) { Other::OTHER }].each do |y|
      refute_same Other::OTHER, y
      assert_predicate Other::OTHER, :leaf?
      y.sum.backward
    end
    assert_equal [[5.0, 5.0], [1.0, 1.0]], [x.grad.to_a, Other::OTHER.grad.to_a]
  end

  def test_gradients_of_constants_are_zeros
    x = OneFlow.tensor([1.0, 2.0])
    three = OneFlow.tensor(3.0)
    [->(_) { three }, :argmax.to_proc, ->(each) { OneFlow.no_grad { each.sum } }].each do |function|
      found = [OneFlow.grad(&function).call(x), OneFlow.value_and_grad(&function).call(x).last,
               OneFlow.vjp(x, &function).last.call, OneFlow.jacobian(x, &function), OneFlow.hessian(x, &function)[0]]
      assert_equal [[[0.0, 0.0], :float32]], found.map { |each| [each.to_a, each.dtype.to_sym] }.uniq
    end
    _, pull = OneFlow.vjp(x) { |each| [three, each * 2] }
    assert_equal [2.0, 2.0], pull.call([nil, OneFlow.ones([2])]).to_a
    text = "value_and_grad: a tensor of shape [2] needs a gradient of this shape; only one element has the default 1"
    assert_error(OneFlow::InvalidArgument, text) { OneFlow.value_and_grad { OneFlow.ones([2]) }.call(x) }
  end

  def test_a_view_that_is_made_without_recording_is_a_constant
    changed = OneFlow.tensor([1.0, 2.0]).requires_grad! * 1
    changed.mul!(2)
    refute_predicate(OneFlow.no_grad { changed[0] }, :requires_grad?)
    assert_predicate changed[0], :requires_grad?
  end

  def test_checkpoint
    x = leaf(0.5)
    calls = 0
    OneFlow.checkpoint(x) { |a| a.exp.tap { calls += 1 } }.sum.backward
    assert_equal [2, [Math.exp(0.5)]], [calls, x.grad.to_a]
  end

  # The gradient that a recorded pass found through a checkpoint did not depend on its arguments.
  def test_derivatives_of_what_a_checkpoint_returns
    x = OneFlow.tensor(3.0).requires_grad!
    weight = OneFlow.tensor(2.0).requires_grad!
    y = OneFlow.checkpoint(x) { |a| a * a * a * weight }
    slope, = OneFlow.grad(y, [x], create_graph: true)
    assert_equal 54, slope.item
    assert_equal [42, 27], OneFlow.grad(slope + (x * x), [x, weight]).map(&:item)
  end

  def test_a_checkpoint_draws_the_same_random_numbers_again
    x = OneFlow.ones([1000]).requires_grad!
    OneFlow.manual_seed(3)
    y = OneFlow.checkpoint(x) { |a| OneFlow.dropout(a, 0.5) }
    OneFlow.rand([5])
    state = OneFlow.random_state
    y.sum.backward
    assert_equal y.to_a, x.grad.to_a
    assert_equal state, OneFlow.random_state
  end

  def test_threads_add_to_one_leaf
    x = leaf(0.0)
    Array.new(4) { Thread.new { 20.times { (x * 1).sum.backward } } }.each(&:join)
    assert_equal [80.0], x.grad.to_a
  end

  private

  def replay(vectors, one)
    arguments = one[:arguments].transform_values { |value| decode(value) }
    leaves = one[:gradients].flat_map { |name, expected| replace_by_leaves(arguments, name, expected) }
    run_backward(vectors, one, arguments)
    leaves.each do |x, expected|
      check(expected, x.grad || OneFlow.zeros_like(x), one, 1, "#{vectors[:op]} #{one[:name]}") if expected
    end
  rescue OneFlow::Error => e
    flunk "#{vectors[:op]} #{one[:name]}: #{e.message}"
  end

  # Calls the operator, and runs a backward pass from its results with the weights as their gradients.
  def run_backward(vectors, one, arguments)
    results = OneFlow::Autograd.list_of(on_module(vectors[:function].sub(/_\z/, "!"), **arguments))
    roots = results.zip(one[:weights], one[:differentiable])
    roots.select! { |result, _, is_root| is_root && result.requires_grad? }
    grads = roots.map { |_, weight, _| tensor_of(weight) }
    OneFlow::Autograd.backward(roots.map(&:first), grad_tensors: grads) if roots.any?
  end

  # Replaces an argument, a tensor or a list, by leaves. Returns them with their expected gradients.
  def replace_by_leaves(arguments, name, expected)
    given = arguments[name]
    wanted = given.is_a?(Array) ? expected : [expected]
    made = Array(given.is_a?(Array) ? given : [given]).zip(wanted).map { |x, grad| x.detach.requires_grad!(!grad.nil?) }
    arguments[name] = given.is_a?(Array) ? made : made.first
    made.zip(wanted)
  end

  def tensor_of(spec)
    OneFlow.reshape(OneFlow.from_binary(spec[:data].unpack1("m"), dtype: spec[:dtype]), spec[:sizes])
  end
end
