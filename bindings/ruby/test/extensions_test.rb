# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"
require "weakref"
require_relative "helper"

# Extensions that users write with <oneflow/ruby.h>, against the headers and the library that the gem names.
class ExtensionsTest < Minitest::Test
  STATUSES = %w[InvalidArgument TypeMismatch ShapeError DTypeError IndexOutOfRange DeviceError OutOfMemory Unsupported
                CommunicationError InternalError FileError].freeze
  LIBRARY = File.expand_path("../lib", __dir__)

  class << self
    # Returns the folder with the extension, which is compiled once.
    def folder
      @folder ||= Dir.mktmpdir("oneflow-extension-").tap do |folder|
        Minitest.after_run { FileUtils.rm_rf(folder) }
        compile(folder)
      end
    end

    private

    def compile(folder)
      headers = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").map { "-isystem#{_1}" }
      object = File.join(folder, "extension.o")
      execute("ccache", "g++", "-std=c++20", "-O0", "-fPIC", "-Wall", "-Werror", "-I#{OneFlow.include_dir}", *headers,
              "-c", File.join(__dir__, "extension.cpp"), "-o", object)
      execute("g++", "-shared", object, OneFlow.library_path, "-o", File.join(folder, "extension.so"))
    end

    def execute(*command) = system(*command) || raise("#{command.join(" ")} failed")
  end

  def setup
    require File.join(self.class.folder, "extension")
  end

  def test_the_headers_are_complete
    names = Dir.children(File.join(OneFlow.include_dir, "oneflow"))
    assert_empty %w[oneflow.h oneflow.hpp operators.hpp extension.h extension.hpp ruby.h] - names
  end

  def test_tensors_share_memory
    %i[same moved optional].each do |name|
      x = OneFlow.zeros([2])
      y = Extension.public_send(name, x)
      assert_instance_of OneFlow::Tensor, y
      assert_equal x.data_ptr, y.data_ptr
      Extension.add(y, 1.5)
      assert_equal [1.5, 1.5], x.to_a
    end
  end

  def test_nil_and_empty_tensors
    assert_nil Extension.empty
    assert_nil Extension.optional
    assert_nil Extension.optional(nil)
    assert_fails(OneFlow::TypeMismatch, "same: input must be Tensor, got nil") { Extension.same(nil) }
  end

  def test_lists
    x = OneFlow.zeros([1])
    y = OneFlow.ones([2])
    assert_equal [[1.0, 1.0], [0.0]], Extension.reversed([x, y]).map(&:to_a)
    assert_equal [], Extension.reversed([])
    assert_fails(OneFlow::TypeMismatch, "reversed: tensors[1] must be Tensor, got Float") do
      Extension.reversed([x, 2.5])
    end
    assert_fails(OneFlow::TypeMismatch, "reversed: tensors must be Array, got Tensor") { Extension.reversed(x) }
  end

  def test_devices_and_dtypes
    assert_equal "cpu:0", Extension.device("cpu")
    assert_equal "cpu:0", Extension.device(OneFlow.device("cpu"))
    assert_equal :int16, Extension.dtype(:int16)
    assert_equal :int16, Extension.dtype("int16")
    assert_match(/\Adevice: device must be .*, got Integer\z/,
                 assert_raises(OneFlow::TypeMismatch) { Extension.device(1) }.message)
    assert_match(/\Adevice: .*nothing/, assert_raises(OneFlow::DeviceError) { Extension.device("nothing") }.message)
    assert_match(/\Adtype: dtype must be .*, got Integer\z/,
                 assert_raises(OneFlow::TypeMismatch) { Extension.dtype(1) }.message)
    assert_match(/'float99'\z/, assert_raises(OneFlow::InvalidArgument) { Extension.dtype("float99") }.message)
  end

  def test_generators
    generator = OneFlow::Generator.new(3)
    same = Extension.generator(generator)
    OneFlow.randn([5], generator: same)
    assert_equal [3, 5], generator.state
    assert_equal [11, 0], Extension.new_generator(11).state
    assert_same OneFlow.default_generator, Extension.default_generator
    assert_fails(OneFlow::TypeMismatch, "generator: generator must be Generator, got Integer") do
      Extension.generator(7)
    end
  end

  def test_plain_values
    assert_equal(-3, Extension.integer(-3))
    assert_equal(-(2**63), Extension.integer(-(2**63)))
    assert Extension.boolean(true)
    assert_equal "größer", Extension.string("größer")
    assert_equal [2.0], Extension.twice(OneFlow.ones([1])).to_a
    assert_fails(OneFlow::TypeMismatch, "integer: value must be Integer, got Float") { Extension.integer(1.5) }
    assert_fails(OneFlow::InvalidArgument, "integer: value must fit into 64 bits, got a larger integer") do
      Extension.integer(2**63)
    end
    assert_fails(OneFlow::TypeMismatch, "boolean: value must be bool, got nil") { Extension.boolean(nil) }
    assert_fails(OneFlow::TypeMismatch, "string: value must be String, got Integer") { Extension.string(1) }
    assert_fails(OneFlow::TypeMismatch, "add: by must be Float, got String") { Extension.add(OneFlow.ones([1]), "x") }
  end

  def test_arguments_by_name
    x = OneFlow.zeros([1])
    Extension.add(x, by: 2)
    Extension.add(by: 1.0, input: x)
    assert_equal [3.0], x.to_a
    assert_fails(OneFlow::TypeMismatch, "add: missing argument by") { Extension.add(x) }
    assert_fails(OneFlow::TypeMismatch, "add: unknown argument to") { Extension.add(x, to: 1) }
    assert_fails(OneFlow::TypeMismatch, "add: argument by given twice") { Extension.add(x, 1, by: 1) }
    assert_fails(OneFlow::TypeMismatch, "same: takes at most 1 positional argument, got 2") { Extension.same(x, x) }
  end

  def test_a_tensor_without_a_value_is_refused
    assert_fails(OneFlow::InvalidArgument, "same: input is a tensor that was allocated but never given a value") do
      Extension.same(OneFlow::Tensor.allocate)
    end
  end

  def test_a_result_owns_its_handle
    before = Extension.released
    GC.disable
    x = Extension.foreign(8)
    pointer = x.data_ptr
    same = Extension.reversed([Extension.same(x)]).first
    assert_equal pointer, same.data_ptr
    assert_equal before, Extension.released
    Extension.release_elsewhere(x)
    assert_equal before, Extension.released
  ensure
    GC.enable
  end

  def test_garbage_releases_foreign_memory
    before = Extension.released
    reference = Array.new(100) { WeakRef.new(Extension.same(Extension.foreign(8))) }
    GC.start until Extension.released >= before + 50
    assert(reference.count { |each| !each.weakref_alive? } >= 25)
  end

  STATUSES.each.with_index(1) do |name, status|
    define_method(:"test_a_failure_becomes_#{name}") do
      assert_fails(OneFlow.const_get(name), "fail: on purpose") { Extension.fail(status) }
      assert_equal 0, Extension.live_guards
    end
  end

  def test_other_exceptions
    assert_fails(RuntimeError, "of C++") { Extension.fail(-1) }
    assert_fails(OneFlow::OutOfMemory, "the host is out of memory") { Extension.fail(-2) }
    assert_fails(RuntimeError, "an exception of C++ that is not a std::exception") { Extension.fail(-3) }
    assert_equal 0, Extension.live_guards
    assert_fails(OneFlow::Unsupported, /\Athis extension was built for a later version of oneflow-rb than /) do
      Extension.accept_older
    end
  end

  def test_exceptions_of_callbacks_stay_what_they_are
    [OneFlow::ShapeError.new("one"), KeyError.new("two"), Interrupt.new("three")].each do |error|
      caught = assert_raises(error.class) { Extension.call(->(_) { raise error }, OneFlow.ones([1])) }
      assert_same error, caught
    end
    assert_equal(:thrown, catch(:tag) { Extension.call(->(_) { throw :tag, :thrown }, OneFlow.ones([1])) })
    assert_equal 0, Extension.live_guards
    assert_equal [2.0], Extension.call(->(x) { x + 1 }, OneFlow.ones([1])).to_a
    assert_fails(OneFlow::TypeMismatch, "call: the result must be Tensor, got Integer") do
      Extension.call(->(_) { 3 }, OneFlow.ones([1]))
    end
  end

  def test_gradients_are_recorded_as_for_the_caller
    x = OneFlow.ones([2], requires_grad: true)
    assert_predicate Extension.twice(x), :requires_grad?
    refute(OneFlow.no_grad { Extension.twice(x) }.requires_grad?)
    fiber = Fiber.new { OneFlow.no_grad { Fiber.yield } }
    fiber.resume
    assert_predicate Extension.twice(x), :requires_grad?
    fiber.resume
  end

  def test_threads
    x = OneFlow.ones([100])
    sums = Array.new(8) { Thread.new { Array.new(50) { Extension.twice(x).sum.item } } }.flat_map(&:value)
    assert_equal [200.0], sums.uniq
  end

  def test_ractors
    program = <<~RUBY
      Warning[:experimental] = false
      values = Array.new(4) do |i|
        Ractor.new(i) do |k|
          x = Extension.twice(OneFlow.full([2], k.to_f))
          begin
            Extension.same("x")
          rescue OneFlow::TypeMismatch => e
            [x.to_a, e.message]
          end
        end
      end
      p values.map(&:take)
    RUBY
    expected = Array.new(4) { |i| [[2.0 * i] * 2, "same: input must be Tensor, got String"] }
    assert_equal expected.inspect, run_alone(program)
  end

  def test_in_a_process_of_its_own
    assert_equal "[0.0]", run_alone("p Extension.same(OneFlow.zeros([1])).to_a")
  end

  private

  def assert_fails(error, message, &)
    caught = assert_raises(error, &)
    assert_instance_of error, caught
    message.is_a?(Regexp) ? assert_match(message, caught.message) : assert_equal(message, caught.message)
  end

  # Runs a program in a process of its own, and returns what it prints.
  def run_alone(program)
    options = ["-I#{LIBRARY}", "-I#{self.class.folder}", "-roneflow", "-rextension"]
    output, status = Open3.capture2e(RbConfig.ruby, *options, "-e", program)
    assert_predicate status, :success?, output
    output.strip
  end
end
