# frozen_string_literal: true

require_relative "helper"
require "json"

# What errors say: in the names that the user typed, what to write instead, and the names here of other libraries.
class TextsTest < OneFlowTest
  TEXTS = JSON.parse(File.read(File.expand_path("../../../tests/texts.json", __dir__)))
  X = OneFlow.tensor([1.0, 2.0]).freeze
  LEAF = -> { OneFlow.tensor([1.0, 2.0], requires_grad: true) }
  PROGRAMS = {
    "made_within_no_grad" => -> { OneFlow.no_grad { (LEAF.call * 2).sum }.backward },
    "backward_within_no_grad" => -> { OneFlow.no_grad { (LEAF.call * 2).sum.backward } },
    "second_backward" => lambda do
      w = LEAF.call
      y = (w * w).sum
      2.times { y.backward }
    end,
    "step_without_gradients" => -> { OneFlow::Optim.sgd!([X.dup], [], lr: 0.1) },
    "step_without_rate" => -> { OneFlow::Optim.sgd!([X.dup], [X]) },
    "collective_in_place" => -> { OneFlow::Comm::Local.all_reduce! },
    "unknown_merge" => -> { OneFlow::Comm::Local.all_reduce!([X.dup], op: "sub") },
    "function_of_a_namespace" => -> { OneFlow::NN::Functional.mse_loss(X, X, reduction: "all") },
    "other_name" => -> { OneFlow.expand_dims(X, 5) },
    "in_place" => -> { OneFlow.ones(2).add!(OneFlow.ones(3)) },
    "in_place_without_argument" => -> { OneFlow.ones(2).add! },
    "dtype_by_position" => -> { OneFlow.tensor([1, 2], :int32) },
    "dtype_after_all" => -> { OneFlow.sum(X, 0, true, :float64) },
    "classes_as_floats" => -> { OneFlow.cross_entropy(OneFlow.ones(2, 3), OneFlow.tensor([0.0, 1.0])) },
    "no_such_dimension" => -> { OneFlow.ones(2, 3).size(2) }
  }.freeze

  PROGRAMS.each do |name, program|
    define_method("test_#{name}") do
      assert_equal TEXTS[name]["ruby"], assert_raises(OneFlow::Error, &program).message
    end
  end

  def test_what_users_write_first
    w = LEAF.call
    (w * w).sum.backward
    OneFlow::Optim.sgd!([w], [w.grad], lr: 0.5)
    assert_equal [0, 0], w.to_a
    assert_equal [0, 0], w.grad.zero!.to_a
    assert_equal [2, 2], w.grad.fill!(2).to_a
  end

  def test_the_size_of_a_dimension
    x = OneFlow.ones(2, 3)
    assert_equal [2, 3, 6, 6], [x.size(0), x.size(-1), x.size, x.numel]
    assert_raises(OneFlow::TypeMismatch) { x.size("0") }
    assert_raises(OneFlow::IndexOutOfRange) { x.size(2**70) }
    assert_raises(OneFlow::IndexOutOfRange) { OneFlow.tensor(1).size(0) }
    assert_raises(ArgumentError) { x.size(0, 1) }
  end

  def test_functions_of_other_libraries
    texts("FUNCTIONS_ELSEWHERE").each do |name, text|
      check_name(text)
      *spaces, leaf = name.split(".")
      next if spaces.any? || OneFlow.respond_to?(leaf)

      error = assert_raises(NoMethodError) { OneFlow.public_send(leaf) }
      assert_equal "undefined method `#{leaf}' for OneFlow; #{text}", error.message.lines.first.chomp
    end
  end

  def test_methods_of_other_libraries
    texts("METHODS_ELSEWHERE").each do |name, text|
      assert_respond_to X, text.split.last
      next if X.respond_to?(name)

      error = assert_raises(NoMethodError) { X.public_send(name) }
      assert_equal "undefined method `#{name}' for a Tensor; #{text}", error.message.lines.first.chomp
    end
  end

  def test_classes_of_other_libraries
    error = assert_raises(NameError) { OneFlow::DFloat }
    assert_equal "uninitialized constant OneFlow::DFloat; tensor with the dtype float64",
                 error.message.lines.first.chomp
    assert_raises(NameError) { OneFlow::Nothing }
  end

  def test_suggestions_that_read_precede_those_that_change
    error = assert_raises(NoMethodError) { X.requires_grad }
    assert_equal :requires_grad?, error.corrections.first
    assert_raises(NoMethodError) { OneFlow.nothing_of_the_kind }
    assert_equal [X, 1], [X, [1]].flatten
  end

  private

  def texts(constant) = OneFlow.module_eval(constant)

  def check_name(text)
    return unless text.start_with?("here it is called ")

    *spaces, leaf = text.split.last.split(/\.|::/)
    owner = spaces.reduce(OneFlow) { |found, space| found.const_get(space) }
    assert owner.respond_to?(leaf) || owner.const_defined?(leaf), text
  end
end
