# frozen_string_literal: true

require_relative "helper"

# Calls the functions of gradients with values that they do not take: each must return, or raise a clear error.
class HostileGradientsTest < OneFlowTest
  # Functions whose parts return what they are told to.
  def returning(forward, backward)
    Class.new(OneFlow::Autograd::Function) do
      define_singleton_method(:forward) { |_, value| forward == :double ? value * 2 : forward }
      define_singleton_method(:backward) { |_, _| backward }
    end
  end

  def saving(value)
    Class.new(OneFlow::Autograd::Function) do
      define_singleton_method(:forward) do |context, tensor|
        context.save_for_backward(value)
        tensor * 1
      end
      define_singleton_method(:backward) { |context, grad| context.saved_tensors && grad }
    end
  end

  def x = tensor([1.0, 2.0]).requires_grad!

  def wide = tensor([1.0], dtype: :float64).requires_grad!

  def hooked(&)
    y = x * 1
    y.register_hook(&)
    y.sum.backward
  end

  def calls
    {
      "backward of it" => ->(v) { OneFlow::Autograd.backward(v) },
      "backward of an Array" => ->(v) { OneFlow::Autograd.backward([v]) },
      "grad_tensors" => ->(v) { OneFlow::Autograd.backward(x.sum, grad_tensors: v) },
      "gradient of backward" => ->(v) { x.sum.backward(v) },
      "retain_graph" => ->(v) { x.sum.backward(retain_graph: v) },
      "create_graph" => ->(v) { x.sum.backward(create_graph: v) },
      "outputs" => ->(v) { OneFlow.grad(v, [x]) },
      "inputs" => ->(v) { OneFlow.grad(x.sum, v) },
      "an input" => ->(v) { OneFlow.grad(x.sum, [v]) },
      "grad_outputs" => ->(v) { OneFlow.grad(x * 2, [x], grad_outputs: v, allow_unused: true) },
      "a grad_output" => ->(v) { OneFlow.grad(x * 2, [x], grad_outputs: [v], allow_unused: true) },
      "requires_grad!" => ->(v) { x.requires_grad!(v) },
      "requires_grad=" => ->(v) { x.requires_grad = v },
      "grad=" => ->(v) { x.grad = v },
      "what a hook returns" => ->(v) { hooked { v } },
      "grad_enabled=" => ->(v) { OneFlow.grad_enabled = v },
      "argnums" => ->(v) { OneFlow.value_and_grad(argnums: v, &:sum).call(x) },
      "argument of value_and_grad" => ->(v) { OneFlow.value_and_grad(&:sum).call(v) },
      "value of value_and_grad" => ->(v) { OneFlow.value_and_grad { v }.call(x) },
      "argument of vjp" => ->(v) { OneFlow.vjp(v) { |t| t * 2 } },
      "value of vjp" => ->(v) { OneFlow.vjp(x) { v }.last.call },
      "pull" => ->(v) { OneFlow.vjp(x) { |t| t * 2 }.last.call(v) },
      "argument of jacobian" => ->(v) { OneFlow.jacobian(v) { |t| t * 2 } },
      "value of jacobian" => ->(v) { OneFlow.jacobian(x) { v } },
      "argument of hessian" => ->(v) { OneFlow.hessian(v) { |t| (t * t).sum } },
      "value of hessian" => ->(v) { OneFlow.hessian(x) { v } },
      "value of checkpoint" => ->(v) { OneFlow.checkpoint(x) { v } },
      "argument of checkpoint" => ->(v) { OneFlow.checkpoint(v) { |t| t } },
      "argument of gradcheck" => ->(v) { OneFlow.gradcheck(v) { |t| t * 2 } },
      "value of gradcheck" => ->(v) { OneFlow.gradcheck(wide) { v } },
      "eps" => ->(v) { OneFlow.gradcheck(wide, eps: v) { |t| t * 2 } },
      "argument of a Function" => ->(v) { returning(nil, nil).apply(v) },
      "what forward returns" => ->(v) { returning(v, nil).apply(x) },
      "what backward returns" => ->(v) { returning(:double, v).apply(x).sum.backward },
      "save_for_backward" => ->(v) { saving(v).apply(x).sum.backward },
      "params" => ->(v) { OneFlow::Optim.sgd!(v, [x], [], lr: 0.1) },
      "grads" => ->(v) { OneFlow::Optim.sgd!([ones], v, [], lr: 0.1) },
      "lr" => ->(v) { OneFlow::Optim.sgd!([ones], [ones], [], lr: v) }
    }
  end

  def ones = OneFlow.ones(2)

  def things
    cyclic = []
    cyclic << cyclic
    used_up = (x * x).sum.tap(&:backward)
    {
      "nil" => nil, "true" => true, "-1" => -1, "2**70" => 2**70, "NaN" => Float::NAN, "text" => "x", "symbol" => :x,
      "[]" => [], "[nil]" => [nil], "cyclic" => cyclic, "{}" => {}, "object" => Object.new,
      "basic" => BasicObject.new, "class" => OneFlow::Tensor, "range" => 1..2, "rational" => Rational(1, 3),
      "lambda" => ->(each) { each }, "integers" => tensor([1, 2]), "scalar" => tensor(1.0), "empty" => OneFlow.zeros(0),
      "allocated" => OneFlow::Tensor.allocate, "frozen" => ones.freeze, "three" => OneFlow.ones(3),
      "complex" => OneFlow.ones(2, dtype: :complex64), "huge" => OneFlow.zeros(1).expand(2**62),
      "float64" => wide, "leaf" => x, "leaves" => [x, x], "used up" => used_up
    }
  end

  # Returns what is wrong with the error of a call, if anything.
  def failure_of(call, given)
    call.call(given)
    nil
  rescue OneFlow::InternalError => e
    "InternalError: #{e.message}"
  rescue OneFlow::Error => e
    "#{e.class} without a text" if e.message.empty?
  rescue FrozenError
    nil
  rescue StandardError => e
    return if e.backtrace.first.include?(__FILE__) # of a block that this test passes

    "#{e.class}: #{e.message}"
  end

  def test_hostile_values
    failures = calls.flat_map do |name, call|
      things.filter_map do |what, given|
        found = failure_of(call, given)
        OneFlow.grad_enabled = true
        "#{name}, #{what}: #{found}" if found
      end
    end

    assert_empty(failures)
    (x * 3).sum.backward # the next pass is right
  end
end
