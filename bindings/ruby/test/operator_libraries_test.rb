# frozen_string_literal: true

require_relative "helper"
require "fileutils"
require "pathname"
require "tempfile"

# Tests libraries of operators, with the one of examples/extensions/my_ops.
class OperatorLibrariesTest < OneFlowTest
  ROOT = File.expand_path("../../..", __dir__)

  # Returns the path of the library, which the first test builds.
  def self.library
    @library ||= begin
      output, status = Open3.capture2e(File.join(ROOT, ".venv/bin/python"), "-m", "tests.operator_library", chdir: ROOT)
      raise output unless status.success?

      output.chomp
    end
  end

  def library = self.class.library
  def my_ops = OneFlow.load_library(library)

  def test_a_library_is_a_module
    assert_same my_ops, OneFlow::Ops::MyOps
    assert_same my_ops, OneFlow.load_library(Pathname.new(library))
    assert_equal "OneFlow::Ops::MyOps", my_ops.name
    assert_includes my_ops.singleton_methods, :double_add
  end

  def test_calls
    assert_gives [7.0, 11.0], my_ops.double_add(tensor([1.0, 3.0]), 5)
    assert_gives [7.0, 10.5], my_ops.double_add([1.0, 3.0], [5.0, 4.5])
    assert_gives [1.0, 0.5], my_ops.bump(tensor([0.0, 1.0]), shape: :tent, width: 2.0)
    assert_gives [[5.0], [25.0]], my_ops.power_sum([[1.0, 2.0], [3.0, 4.0]], dim: 1, keepdim: true)
    assert_equal [[1.0, 2.0], [3.0, 4.0]], my_ops.split_halves([1.0, 2.0, 3.0, 4.0]).map(&:to_a)
    assert_equal [[0, 1], [4, 9]], my_ops.squares(2, 2, dtype: :int64).to_a
    out = OneFlow.empty([2])
    assert_same out, my_ops.double_add([1.0, 2.0], 1, out:)
    assert_gives [3.0, 5.0], out
    assert_predicate my_ops.squares([2], requires_grad: true), :requires_grad?
  end

  def test_gradients
    x = tensor([1.0, 3.0], requires_grad: true)
    my_ops.power_sum(my_ops.double_add(x, 1)).backward
    assert_gives [12.0, 28.0], x.grad
  end

  def test_graphs
    x = OneFlow.randn([2, 3])
    graph = OneFlow::Graph.capture(OneFlow.randn([2, 3])) { |input| my_ops.power_sum(my_ops.double_add(input, 1), 1) }
    assert graph.call(x).allclose(my_ops.power_sum(my_ops.double_add(x, 1), 1))
  end

  def test_views_of_frozen_tensors_are_frozen
    assert_predicate my_ops.last_swapped(OneFlow.ones([2, 3]).freeze), :frozen?
    refute_predicate my_ops.last_swapped(OneFlow.ones([2, 3])), :frozen?
  end

  def test_errors
    x = tensor([1.0, 2.0])
    assert_error(OneFlow::TypeMismatch, "MyOps.double_add: other must be Tensor or real Numeric, got String") do
      my_ops.double_add(x, "x")
    end
    assert_error(OneFlow::TypeMismatch, "MyOps.double_add: missing argument other") { my_ops.double_add(x) }
    assert_error(OneFlow::TypeMismatch, "MyOps.double_add: unknown argument width") do
      my_ops.double_add(x, 1, width: 2)
    end
    assert_error(OneFlow::ShapeError, "MyOps.rms_norm: input must have at least 1 dimension, got 0") do
      my_ops.rms_norm(tensor(1.0), x)
    end
    assert_raises(NoMethodError) { my_ops.no_operator }
  end

  def test_files_that_are_no_libraries_of_operators
    Dir.mktmpdir do |folder|
      missing = File.join(folder, "missing.so")
      text = "load_library: '#{missing}' cannot be opened: No such file or directory"
      assert_error(OneFlow::FileError, text) { OneFlow.load_library(missing) }
      copy = File.join(folder, "copy.so")
      FileUtils.cp(library, copy)
      my_ops
      error = assert_raises(OneFlow::Unsupported) { OneFlow.load_library(copy) }
      assert_match(/\Aload_library: '#{copy}' has operators of the namespace 'my_ops', and so has '/, error.message)
    end
    assert_error(OneFlow::TypeMismatch, "load_library: path must be String or Pathname, got Integer") do
      OneFlow.load_library(3)
    end
    assert_error(OneFlow::InvalidArgument, "load_library: path must be the name of a file, got ''") do
      OneFlow.load_library("")
    end
    assert_error(OneFlow::InvalidArgument, "load_library: path must not have a null byte") do
      OneFlow.load_library("a\0b")
    end
  end

  def test_threads_load_and_call_at_once
    results = Array.new(8) { Thread.new { OneFlow.load_library(library).double_add([1.0], 1).item } }.map(&:value)
    assert_equal [3.0] * 8, results
  end

  def test_the_signatures_are_those_of_the_module
    signatures = File.read(library.sub(/\.so\z/, ".rbs")).scan(/def self\.(\w+[!?]?):/).flatten
    assert_equal my_ops.singleton_methods.map(&:to_s).sort, signatures.uniq.sort
  end
end
