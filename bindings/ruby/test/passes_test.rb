# frozen_string_literal: true

require_relative "helper"

# Tests passes over graphs: what they change, and what they report.
class PassesTest < OneFlowTest
  def capture(...) = OneFlow::Graph.capture(...)

  def calls_of(graph)
    graph.to_s.lines.grep(/^%/).map { |line| line.split(" = ")[1].split("(")[0] }
  end

  def test_batch_norm_and_products_become_part_of_a_convolution
    weight = OneFlow.randn(4, 3, 3, 3)
    mean = OneFlow.randn(4)
    variance = OneFlow.rand(4) + 0.5
    factors = OneFlow.randn(4, 1, 1)
    graph = capture(OneFlow.ones(2, 3, 6, 6), dynamic: :batch) do |x|
      OneFlow.batch_norm(OneFlow.conv2d(x, weight), mean, variance) * factors * 1
    end
    x = OneFlow.randn(3, 3, 6, 6)
    expected = graph.call(x)
    [graph.optimize, graph.optimize(inputs: OneFlow.randn(2, 3, 6, 6))].each do |optimized|
      assert_equal ["conv2d"], calls_of(optimized)
      assert_operator (optimized.call(x) - expected).abs.max.item, :<=, 1e-5 * expected.abs.max.item
      report = optimized.report
      expected_passes = [["multiply_nothing", 1, 4, 3], ["batch_norm_into_conv2d", 1, 3, 2],
                         ["multiply_into_conv2d", 1, 2, 1]]
      assert_equal(expected_passes, report.passes.map { |pass| pass.to_a.first(4) })
      assert_operator report.error, :<, 1e-5
      assert_match(/\Apass +changes +calls +error\nmultiply_nothing +1 +4 -> 3 +0\n/, report.to_s)
    end
    assert_nil graph.report
  end

  def test_levels_and_passes_can_be_chosen
    graph = capture(OneFlow.ones(3)) { |x| x * x.sigmoid }
    assert_equal ["silu"], calls_of(graph.optimize)
    assert_equal %w[sigmoid mul], calls_of(graph.optimize(level: 1))
    assert_equal %w[sigmoid mul], calls_of(graph.optimize(without: [:silu]))
    assert_predicate graph.optimize(measure: false).report.error, :nan?
    {
      { without: ["silo"] } => [OneFlow::InvalidArgument, "optimize: there is no pass 'silo'"],
      { level: "high" } => [OneFlow::TypeMismatch, "optimize: level must be Integer, got String"],
      { level: 3 } => [OneFlow::InvalidArgument, "optimize: level must be between 0 and 2, got 3"]
    }.each { |options, expected| assert_error(*expected) { graph.optimize(**options) } }
  end

  def test_all_passes_are_listed
    assert_equal ["silu", "Finds `silu`.", 2, 1e-6], OneFlow::Graph.passes.find { |pass| pass.name == "silu" }.to_a
  end

  def fold(**options)
    examples = [OneFlow.ones(2, 3), OneFlow.ones(3, 4), OneFlow.ones(4)]
    OneFlow::Graph.rule(->(x, w, s) { x.matmul(w) * s }, ->(x, w, s) { x.matmul(w * s) }, examples,
                        constants: %i[w s], name: "fold_scale", **options)
  end

  def test_rules_of_the_program
    weight = OneFlow.randn(5, 6)
    scale = OneFlow.randn(6)
    graph = capture(OneFlow.ones(2, 5), dynamic: :batch) { |x| (scale * x.matmul(weight)).relu }
    x = OneFlow.randn(7, 5)
    expected = graph.call(x)
    rule = fold(condition: ->(_, w, _) { w.ndim == 2 })
    [graph.optimize(rules: [rule]), graph.rewrite(rule)].each do |optimized|
      assert_equal %w[matmul relu], calls_of(optimized)
      assert_equal ["fold_scale"], optimized.report.passes.map(&:name)
      assert_operator (optimized.call(x) - expected).abs.max.item, :<=, 1e-6 * expected.abs.max.item
    end
    assert_equal %w[matmul mul relu], calls_of(graph.rewrite(fold(condition: ->(*) { false })))
    wrong = OneFlow::Graph.rule(->(y) { y.relu }, ->(_) { raise KeyError, "no" }, OneFlow.ones(1))
    assert_equal "no", assert_raises(KeyError) { graph.rewrite(wrong) }.message
    assert_error(OneFlow::TypeMismatch, "rewrite: an item of rules must be Rule, got Integer") { graph.rewrite(1) }
  end

  def test_weights_are_stored_with_fewer_bits
    weight = OneFlow.randn(64, 64)
    graph = capture(OneFlow.ones(2, 64), weights: { w: weight }) { |x| x.matmul(weight) }
    optimized = graph.optimize(weights: :bfloat16)
    assert_equal :bfloat16, optimized.constants["w"].dtype
    assert_includes 1e-9..1e-2, optimized.report.error
    assert_error(OneFlow::InvalidArgument, "optimize: weights must be float16 or bfloat16, got 'int8'") do
      graph.optimize(weights: :int8)
    end
  end
end
