# frozen_string_literal: true

require_relative "helper"
require "json"

# Runs a sample of the tests of nodes that the `onnx` package has (tests/vectors/onnx_nodes.py).
class OnnxNodesTest < OneFlowTest
  FOLDER = File.expand_path("../../../tests/generated/onnx", __dir__)
  TOLERANCES = { float16: { rtol: 2e-3, atol: 1e-3 } }.freeze

  # Loads a model, with those inputs as values whose elements it reads.
  def load_model(path, inputs)
    values = {}
    begin
      OneFlow::Onnx.load(path, values:)
    rescue OneFlow::Unsupported => e
      read = e.message[/reads the elements of '([^']*)'/, 1]
      raise if read.nil? || values.size == inputs.size

      values.merge!(inputs.key?(read) && !values.key?(read) ? { read => inputs[read] } : inputs)
      retry
    end
  end

  def assert_same(name, found, expected)
    assert_equal [expected.dtype, expected.shape], [found.dtype, found.shape], name
    return assert(found == expected, name) if expected.dtype == :bool

    tolerance = TOLERANCES.fetch(expected.dtype, { rtol: 1e-3, atol: 4e-7 })
    assert found.allclose(expected, equal_nan: true, **tolerance), name
  end

  def test_models_of_one_node_give_the_expected_outputs
    JSON.parse(File.read("#{FOLDER}/names.json")).each do |name, names|
      tensors = OneFlow.load("#{FOLDER}/#{name}.safetensors")
      inputs = names.each_with_index.to_h { |each, i| [each, tensors["input.#{i}"]] }
      graph = load_model("#{FOLDER}/#{name}.onnx", inputs)
      found = graph.call(*graph.inputs.map { |each| inputs[each.name] })
      outputs = OneFlow::Tensor === found ? [found] : found.values
      outputs.each_with_index { |output, i| assert_same(name, output, tensors["output.#{i}"]) }
    end
  end
end
