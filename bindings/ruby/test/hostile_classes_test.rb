# frozen_string_literal: true

require "json"
require "tmpdir"
require_relative "helper"

# Hostile calls of all members of classes, and of the functions beside them: each error has its class, and begins with
# the name of the member.
class HostileClassesTest < OneFlowTest
  MEMBERS = JSON.parse(File.read(File.join(__dir__, "../generated/test_classes.json")), symbolize_names: true).drop(1)
  MADE = MEMBERS.select { |member| member[:name] == "new" }.map { |member| member[:class] }.freeze
  WRONG = Object.new
  TENSOR = OneFlow.ones([2])
  GRAPH = OneFlow::Graph.capture([TENSOR]) { |x| x + 1 }
  FILE = Dir.mktmpdir do |folder|
    OneFlow.save(TENSOR, "#{folder}/a.npy")
    OneFlow.open_file("#{folder}/a.npy")
  end
  # An argument of each type, and an object of each class.
  GIVEN = {
    int: 1, word: 1, positive: 1, bool: true, float: 0.5, str: "a", path: "/nowhere/x", size: 1, range: 1..2,
    function: ->(x) { x }, nested: [TENSOR], array: TENSOR, Tensor: TENSOR, any: nil, RandomState: [1, 2], Graph: GRAPH,
    Profile: OneFlow.profile { nil }, TensorFile: FILE,
    HookHandle: OneFlow.ones([2], requires_grad: true).register_hook { |grad| grad },
    Stream: OneFlow.default_stream, Event: OneFlow::Event.new("accel:0"),
    Rule: OneFlow::Graph.rule(->(x) { x + 0 }, ->(x) { x }, [TENSOR]), Group: OneFlow::Comm::Group.new([0]),
    Work: OneFlow::Comm.all_reduce_async(TENSOR)
  }.freeze
  # An object of each other class, whose constructor needs no argument.
  OTHERS = (MADE - GIVEN.keys.map(&:to_s)).to_h { |name| [name.to_sym, OneFlow.const_get(name).new] }
  SAMPLES = GIVEN.merge(OTHERS).freeze

  def self.sample(type)
    return nil if type.end_with?("?")
    return [] if type.end_with?("[]")

    type.end_with?("{}") ? {} : SAMPLES.fetch(type.to_sym)
  end

  # Returns the object whose method a member is: `owner`, a class or a module.
  def self.receiver(member, owner)
    return owner if member[:class] != "" && member[:name] != "new"

    # A namespace may be a class itself: Graph.
    space = member[:namespace] == "" ? OneFlow : OneFlow.const_get(member[:namespace].capitalize)
    member[:name] == "new" ? space.const_get(member[:class]) : space
  end

  # The parameters of a member that calls of it give, by how they are given.
  Parameters = Struct.new(:positional, :named, :collectors) do
    def self.of(member)
      given = member[:parameters].reject { |each| each[:block] }
      collectors, others = given.partition { |each| each[:collects] != "" }
      named, positional = others.partition { |each| each[:named] }
      new(positional, named, collectors)
    end

    def required = positional.select { |each| each[:required] }
    def samples(parameters) = parameters.map { |each| HostileClassesTest.sample(each[:type]) }
    def collects?(sort) = collectors.any? { |each| [sort, "***"].include?(each[:collects]) }

    # Returns what is wrong with calls, their arguments, and a part of their error texts.
    def wrong_types
      plain = (positional + named).reject { |each| each[:type].delete("?") == "any" }
      plain.map do |each|
        next ["a wrong #{each[:name]}", samples(required), { each[:name].to_sym => WRONG }, " must be "] if each[:named]

        before = positional.take(positional.index(each))
        after = each[:required] ? required - before - [each] : []
        ["a wrong #{each[:name]}", [*samples(before), WRONG, *samples(after)], {}, " must be "]
      end
    end

    def wrong_counts
      most = [*samples(positional), *([{}] if collectors.any?)]
      found = []
      found << ["a missing argument", [], {}, "missing argument #{required[0][:name]}"] if required.any?
      found << ["too many arguments", [*most, 1], {}, "takes at most "] unless collects?("*")
      found << ["a wrong item", [*samples(required), WRONG], {}, " must be "] if collects?("*")
      unknown = collects?("**") ? " must be " : "unknown argument nope"
      found << ["an unknown name", samples(required), { nope: WRONG }, unknown]
    end
  end

  def self.wrong_calls(member)
    parameters = Parameters.of(member)
    # Ruby's syntax gives a setter one argument, and a reader none.
    return parameters.wrong_types if member[:property] || member[:name].end_with?("=")

    parameters.wrong_types + parameters.wrong_counts
  end

  def assert_fails(error, member, receiver, (positional, named), part)
    # The block that a method may take is no mistake.
    block = member[:parameters].any? { |each| each[:block] } ? ->(x) { x } : nil
    raised = assert_raises(error) { receiver.public_send(member[:name], *positional, **named, &block) }
    assert raised.message.start_with?("#{member[:says]}: "), raised.message
    assert_includes raised.message, part
  end

  MEMBERS.each do |member|
    owner = SAMPLES[member[:class].to_sym]
    title = "#{member[:class]} #{member[:namespace]} #{member[:name]}"
    wrong_calls(member).each do |wrong, positional, named, part|
      define_method("test_#{title} with #{wrong}") do
        assert_fails(OneFlow::TypeMismatch, member, self.class.receiver(member, owner), [positional, named], part)
      end
    end
    # Ruby itself makes no object of a class without a constructor.
    next if member[:name] == "new" || !owner || !MADE.include?(member[:class])

    define_method("test_#{title} of an object without a handle") do
      given = member[:parameters].select { |each| each[:required] }.map { |each| self.class.sample(each[:type]) }
      assert_fails(OneFlow::InvalidArgument, member, owner.class.allocate, [given, {}], "has not been called")
    end
  end

  # Hashes and Procs that say what is not so.
  class LyingHash < Hash
    def keys = 5
    def [](_key) = raise("no")
  end

  def test_hashes_are_read_whatever_their_class_overrides
    Dir.mktmpdir do |folder|
      OneFlow.save(LyingHash["a", TENSOR], "#{folder}/a.npz", metadata: nil)
      assert_equal ["a"], OneFlow.load("#{folder}/a.npz").keys
    end
  end

  def test_parameters_that_are_none
    function = Object.new.method(:then)
    function.define_singleton_method(:parameters) { 5 }
    other = Object.new.method(:itself)
    other.define_singleton_method(:parameters) { [5, [:req, 7]] }
    [function, other].each do |left|
      assert_raises(ArgumentError, TypeError) { OneFlow::Graph.rule(left, ->(x) { x }, [TENSOR]) }
    end
  end

  def test_names_that_are_no_texts
    name = [:"a\x00b"].to_h { |each| [each, TENSOR] }
    text = "unknown argument :\"a\\x00b\""
    assert_error(OneFlow::TypeMismatch, "Generator: #{text}") { OneFlow::Generator.new(**name) }
    assert_error(OneFlow::TypeMismatch, "run: #{text}") { GRAPH.call(**name) }
  end

  def test_more_than_64_arguments_by_name
    names = Array.new(70) { |i| "x#{i}" }
    graph = OneFlow::Graph.capture([TENSOR] * 70, names:) { |*inputs| inputs.sum(OneFlow.zeros([2])) }
    assert_equal [70.0, 70.0], graph.call(**names.to_h { |name| [name.to_sym, TENSOR] }).to_a
  end

  def test_an_object_is_created_once
    [OneFlow::Generator.new(3), OneFlow.default_generator].each do |generator|
      state = generator.state
      text = "Generator: the object was created before"
      assert_error(OneFlow::InvalidArgument, text) { generator.send(:initialize, 5) }
      assert_equal state, generator.state
    end
  end

  def test_text_of_an_object_without_a_handle
    assert_match(/\A#<OneFlow::Generator:0x\h+>\z/, OneFlow::Generator.allocate.inspect)
  end

  # A subclass whose constructor requires arguments.
  class Named < OneFlow::Generator
    attr_reader :name

    def initialize(name, seed:)
      super(seed)
      @name = name
    end
  end

  def test_copies_of_a_subclass_that_requires_arguments
    named = Named.new("first", seed: 5)
    assert_equal ["first", [5, 0]], [named.dup.name, named.dup.state]
    assert_equal [5, 0], Marshal.load(Marshal.dump(named)).state
  end
end
