# frozen_string_literal: true

require_relative "helper"
require "tmpdir"

# Tests graphs that are saved as ONNX models.
class OnnxSaveTest < OneFlowTest
  def setup
    weight = tensor([[1.0, 2.0], [3.0, 4.0]])
    @graph = OneFlow::Graph.capture(OneFlow.ones(1, 2), dynamic: "batch", weights: { weight: }) do |x|
      x.matmul(weight).relu
    end
    @x = tensor([[1.0, -2.0], [3.0, 4.0], [0.0, 1.0]])
  end

  def in_folder = Dir.mktmpdir { |folder| yield File.join(folder, "model.onnx") }

  def test_a_saved_graph_gives_the_same
    in_folder do |path|
      assert_nil OneFlow::Onnx.save(@graph, path)
      loaded = OneFlow::Onnx.load(path)
      assert_equal [%w[batch 2]], loaded.inputs.map(&:shape)
      assert_equal ["weight"], loaded.constants.keys
      assert_equal @graph.call(@x).to_a, loaded.call(@x).to_a
    end
  end

  def test_large_constants_go_to_another_file
    in_folder do |path|
      OneFlow::Onnx.save(@graph, path, opset: 20, external_bytes: 1)
      assert_path_exists "#{path}.data"
      assert_equal @graph.call(@x).to_a, OneFlow::Onnx.load(path).call(@x).to_a
    end
  end

  def test_what_cannot_be_saved_is_an_error
    bad = OneFlow::Graph.capture(OneFlow.ones(2)) { |x| OneFlow.lgamma(x) }
    text = "save: the graph has calls that ONNX cannot express in opset 17: call 0, lgamma: " \
           "ONNX has no operator for lgamma"
    in_folder do |path|
      assert_error(OneFlow::Unsupported, text) { OneFlow::Onnx.save(bad, path) }
      assert_error(OneFlow::InvalidArgument, "save: opset must be between 11 and 22, got 5") do
        OneFlow::Onnx.save(@graph, path, opset: 5)
      end
      assert_error(OneFlow::TypeMismatch, 'save: opset must be a positive Integer, got "a"') do
        OneFlow::Onnx.save(@graph, path, opset: "a")
      end
      assert_error(OneFlow::TypeMismatch, "save: graph must be Graph, got Integer") { OneFlow::Onnx.save(3, path) }
    end
  end
end
