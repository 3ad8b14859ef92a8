# frozen_string_literal: true

require "json"
require "yaml"
require_relative "helper"

# Tests generators of random numbers.
class GeneratorTest < OneFlowTest
  CASES = JSON.parse(File.read(File.expand_path("../../../tests/random.json", __dir__)))["cases"]
  LARGE = "must fit into 64 bits, got a larger integer"

  def setup
    @kept = OneFlow.random_state
  end

  def teardown
    OneFlow.random_state = @kept
  end

  # Makes the calls of a case and compares their results.
  def draw(item, generator)
    item["draws"].each do |each|
      found = OneFlow.public_send(each["function"], *each["arguments"], dtype: each["dtype"], generator:).flatten.to_a
      assert_equal each["gives"].size, found.size
      found.zip(each["gives"]) { |value, expected| assert_in_delta expected, value, each["tolerance"] }
    end
  end

  def test_numbers_are_those_of_an_independent_philox
    CASES.each do |item|
      seed, before, after = item.values_at("seed", "offset", "after").map { |text| Integer(text) }
      generator = OneFlow::Generator.new
      generator.state = [seed, before]
      draw(item, generator)
      assert_equal [seed, after], generator.state
      OneFlow.random_state = [seed, before]
      draw(item, nil)
      assert_equal [seed, after], OneFlow.random_state
      assert_equal [seed, after], OneFlow.default_generator.state
    end
  end

  def test_seeds
    generator = OneFlow::Generator.new(5)
    assert_equal 5, generator.initial_seed
    assert_same generator, generator.manual_seed(-1)
    assert_equal [(2**64) - 1, 0], generator.state
    assert_equal 67_280_421_310_721, OneFlow::Generator.new.initial_seed
    chosen = generator.seed
    assert_equal [chosen, 0], generator.state
    refute_equal chosen, generator.seed
    assert_same OneFlow.default_generator, OneFlow.manual_seed(3)
    assert_equal 3, OneFlow.initial_seed
    assert_equal "#<OneFlow::Generator seed 7, offset 0>", OneFlow::Generator.new(7).inspect
  end

  def test_copies_are_independent
    generator = OneFlow::Generator.new(5)
    OneFlow.rand(7, generator:)
    copies = [generator.dup, generator.clone, Marshal.load(Marshal.dump(generator)),
              YAML.unsafe_load(YAML.dump(generator))]
    copies.each do |copy|
      assert_equal [5, 7], copy.state
      OneFlow.rand(1, generator: copy)
      assert_equal [5, 7], generator.state
    end
  end

  class Own < OneFlow::Generator
    attr_reader :name

    def initialize(name = "none")
      super(7)
      @name = name
    end
  end

  def test_subclasses
    own = Own.new("first")
    assert_equal ["first", [7, 0]], [own.name, own.state]
    assert_equal OneFlow.rand(3, generator: OneFlow::Generator.new(7)).to_a, OneFlow.rand(3, generator: own).to_a
    assert_equal "#<GeneratorTest::Own seed 7, offset 3>", own.inspect
    assert_equal [7, 3], own.dup.state
    text = "seed: initialize of the class Generator has not been called"
    assert_error(OneFlow::InvalidArgument, text) { Own.allocate.seed }
  end

  def test_threads_draw_different_numbers
    generator = OneFlow::Generator.new(5)
    found = Array.new(4) { Thread.new { Array.new(50) { OneFlow.rand(3, generator:).to_a } } }.flat_map(&:value).flatten
    assert_equal OneFlow.rand(600, generator: OneFlow::Generator.new(5)).to_a.sort, found.sort
  end

  def test_ractors_share_the_default_generator
    found = run_alone(<<~RUBY, {})
      OneFlow.manual_seed(9)
      p Ractor.new { OneFlow.rand(4) && OneFlow.default_generator.state }.take, OneFlow.random_state
    RUBY
    assert_equal ["[9, 4]", "[9, 4]"], found
  end

  def test_failed_calls_draw_nothing
    generator = OneFlow::Generator.new(5)
    assert_raises(OneFlow::ShapeError) { OneFlow.rand([-1], generator:) }
    assert_raises(OneFlow::ShapeError) { OneFlow.rand([2], generator:, out: OneFlow.ones(3)) }
    assert_equal [5, 0], generator.state
  end

  def test_errors_of_seeds
    assert_error(OneFlow::TypeMismatch, "Generator: seed must be Integer, got String") { OneFlow::Generator.new("a") }
    assert_error(OneFlow::InvalidArgument, "Generator: seed #{LARGE}") { OneFlow::Generator.new(2**64) }
    assert_error(OneFlow::InvalidArgument, "Generator: seed #{LARGE}") { OneFlow::Generator.new(-(2**63) - 1) }
    assert_equal 2**63, OneFlow::Generator.new(-(2**63)).initial_seed
  end

  def test_errors_of_states
    generator = OneFlow::Generator.new
    assert_error(OneFlow::TypeMismatch, "state=: state must be Array of seed and offset, got Integer") do
      generator.state = 3
    end
    assert_error(OneFlow::TypeMismatch, "state=: offset must be Integer, got nil") { generator.state = [1, nil] }
  end

  def test_errors_of_calls
    assert_error(OneFlow::TypeMismatch, "rand: generator must be Generator, got Integer") do
      OneFlow.rand(2, generator: 5)
    end
    assert_error(OneFlow::TypeMismatch, "rand: dtype must be dtype, got Generator") do
      OneFlow.rand(2, dtype: OneFlow::Generator.new)
    end
  end
end
