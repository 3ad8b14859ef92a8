# frozen_string_literal: true

require_relative "helper"
require "json"

# Tests the cost and the picture of graphs: the cases of tests/data/graphs, as in the other languages.
class GraphReportsTest < OneFlowTest
  DATA = File.expand_path("../../../tests/data", __dir__)
  CASES = JSON.parse(File.read(File.join(DATA, "graphs", "cases.json")))

  def load(name) = OneFlow::Onnx.load(File.join(DATA, "onnx", "#{name}.onnx"))

  CASES["costs"].each_with_index do |given, i|
    define_method("test_the_cost_of_a_model_#{given["file"]}_#{i}") do
      cost = load(given["file"]).cost(**given["sizes"].transform_keys(&:to_sym))
      assert_equal given["total"], cost.to_a.first(3)
      assert_equal [given["constants"], given["peak"]], [cost.constant_bytes, cost.peak_bytes]
      assert_equal given["operators"], cost.operators.map(&:to_a)
    end
  end

  def test_a_cost_prints_as_a_table
    assert_equal CASES["table"], load("layer").cost(batch: 3).to_s.lines.map(&:chomp)
  end

  def test_sizes_are_checked
    graph = load("layer")
    CASES["refused"].each do |given|
      error = assert_raises(OneFlow.const_get(given["class"])) { graph.cost(**given["sizes"].transform_keys(&:to_sym)) }
      assert_equal given["text"], error.message
    end
    error = assert_raises(OneFlow::TypeMismatch) { graph.cost(batch: 1.5) }
    assert_equal "cost: batch must be Integer, got Float", error.message
    error = assert_raises(OneFlow::InvalidArgument) { graph.cost(batch: 2**70) }
    assert_equal "cost: batch must fit into 64 bits, got a larger integer", error.message
  end

  def test_a_picture_is_the_same_in_all_languages
    assert_equal File.read(File.join(DATA, "graphs", "layer.svg"), encoding: "UTF-8"), load("layer").picture
  end
end
