# frozen_string_literal: true

require_relative "helper"

# Loads the graph files of each release, which every later version must read, and compares what they compute.
class ReleasesTest < OneFlowTest
  FILES = Dir[File.expand_path("../../../tests/data/graphs/*/*.flow", __dir__)]

  def numbered(values, what) = (0..).lazy.map { |i| values["#{what}.#{i}"] }.take_while { |each| each }.to_a

  def test_there_are_graphs
    assert_operator FILES.size, :>=, 20
  end

  FILES.each do |path|
    define_method("test_#{path.split("/").last(2).join("_")}") do
      values = OneFlow.load(path.sub(".flow", ".safetensors"), flat: true)
      generator = OneFlow::Generator.new.manual_seed(0)
      found = OneFlow::Graph.load(path).call(*numbered(values, "input"), generator:)
      wanted = numbered(values, "output")
      assert_equal wanted.map { |each| [each.dtype, each.shape] }, (found.map { |each| [each.dtype, each.shape] })
      found.zip(wanted).each_with_index do |(one, other), i|
        tolerance = %i[float16 bfloat16].include?(other.dtype) ? 1e-2 : 1e-4
        assert OneFlow.allclose(one, other, rtol: tolerance, atol: tolerance / 10, equal_nan: true), "output #{i}"
      end
    end
  end
end
