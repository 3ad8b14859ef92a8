# frozen_string_literal: true

require_relative "helper"
require "fileutils"
require "json"
require "pathname"
require "tmpdir"

# Tests ONNX models: the files of tests/data/onnx, which all languages load, and damaged ones.
class OnnxTest < OneFlowTest
  FOLDER = File.expand_path("../../../tests/data/onnx", __dir__)
  CASES = JSON.parse(File.read(File.join(FOLDER, "cases.json")))

  def path(given) = File.join(FOLDER, "#{given["file"]}.onnx")

  def range(bounds)
    minimum, maximum, step = bounds
    step == 1 ? (minimum..maximum) : ((minimum..maximum) % step)
  end

  def load(given)
    sizes = given.fetch("with", {}).transform_values { |size| size.is_a?(Array) ? range(size) : size }
    OneFlow::Onnx.load(path(given), sizes:, values: given.fetch("values", {}))
  end

  # Replaces tensors by their elements.
  def plain(value) = value.is_a?(Hash) ? value.transform_values(&:to_a) : value.to_a

  CASES["loads"].each_with_index do |given, i|
    define_method("test_a_model_loads_#{given["file"]}_#{i}") do
      graph = nil
      _, warned = capture_io { graph = load(given) }
      assert_equal given.fetch("note", ""), graph.note
      assert_match(given["note"] ? /warning: load: #{Regexp.escape(given["note"])}\n\z/ : /\A\z/, warned)
      assert_equal given["shapes"], (graph.inputs.to_h { |each| [each.name, each.shape] })
      assert_equal given["outputs"].values, graph.outputs.map(&:shape)
      assert_equal given["sizes"].transform_values { |bounds| range(bounds) }, graph.sizes
      assert_equal given["constants"], graph.constants.keys
      inputs = given["inputs"].to_h { |name, data| [name.to_sym, tensor(data, dtype: :float32)] }
      assert_equal given["gives"], plain(graph.call(**inputs))
      Dir.mktmpdir do |folder|
        graph.save(File.join(folder, "model.flow"))
        assert_equal given["gives"], plain(OneFlow::Graph.load(File.join(folder, "model.flow")).call(**inputs))
      end
    end
  end

  CASES["refused"].each_with_index do |given, i|
    define_method("test_a_model_is_refused_#{given["file"]}_#{i}") do
      assert_error(OneFlow.const_get(given["raises"]), given["says"].sub("FOLDER", FOLDER)) { load(given) }
    end
  end

  def test_values_and_paths_of_other_types
    shape = tensor([6, -1])
    graph = OneFlow::Onnx.load(Pathname(path({ "file" => "reshape" })), values: { shape: })
    shape.fill!(1)
    assert_equal [6, 1], graph.call(OneFlow.zeros(2, 3)).shape
    graph = OneFlow::Onnx.load(path({ "file" => "layer" }), sizes: { batch: (32..).step(32) })
    assert_equal({ "batch" => (32..) % 32 }, graph.sizes)
    assert Ractor.shareable?(graph)
  end

  def test_wrong_arguments
    wanted = "a positive Integer, a Range or the name of a size"
    [0, -1, 2**63].each do |size|
      assert_error(OneFlow::TypeMismatch, "load: sizes['batch'] must be #{wanted}, got #{size}") do
        OneFlow::Onnx.load("layer.onnx", sizes: { batch: size })
      end
    end
    [1.5, true, 5..4, (9..3) % -1].each do |size|
      text = "load: sizes['batch'] must be #{wanted}, got #{size.inspect}"
      assert_error(OneFlow::TypeMismatch, text) { OneFlow::Onnx.load("layer.onnx", sizes: { batch: size }) }
    end
    assert_error(OneFlow::TypeMismatch, "load: sizes must be Hash or nil, got Integer") do
      OneFlow::Onnx.load("layer.onnx", sizes: 3)
    end
    assert_error(OneFlow::TypeMismatch, "load: values must be Hash or nil, got Array") do
      OneFlow::Onnx.load("layer.onnx", values: [1])
    end
    assert_error(OneFlow::InvalidArgument, "load: a key of sizes must not have a null byte") do
      OneFlow::Onnx.load("layer.onnx", sizes: { "a\0" => 1 })
    end
    assert_raises(OneFlow::TypeMismatch) { OneFlow::Onnx.load(3) }
  end

  def test_damaged_files_raise_errors
    draw = Random.new(1)
    Dir.mktmpdir do |folder|
      FileUtils.cp(File.join(FOLDER, "weights.bin"), folder)
      %w[layer branch function external].each do |name|
        whole = File.binread(path({ "file" => name }))
        truncated = Array.new(whole.bytesize) { |length| whole.byteslice(0, length) }
        refused = (truncated + Array.new(200) { damage(whole, draw) }).count { |contents| refused?(contents, folder) }
        assert_operator refused, :>, whole.bytesize / 2
      end
    end
  end

  private

  # Returns a copy with a few other bytes.
  def damage(whole, draw)
    whole.dup.tap { |copy| draw.rand(1..4).times { copy.setbyte(draw.rand(whole.bytesize), draw.rand(256)) } }
  end

  def refused?(contents, folder)
    file = File.join(folder, "model.onnx")
    File.binwrite(file, contents)
    OneFlow::Onnx.load(file)
    false
  rescue OneFlow::Error => e
    refute_kind_of OneFlow::InternalError, e
    true
  end
end
