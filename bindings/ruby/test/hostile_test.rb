# frozen_string_literal: true

require_relative "helper"

# Calls every function and method with random, mostly unsuitable arguments: each call must return or raise an ordinary
# exception.
class HostileTest < OneFlowTest
  ROUNDS = 60
  SETTINGS = %i[manual_seed random_state= default_dtype= default_device= set_memory_limit set_option num_threads=
                set_print_options load_device].freeze

  # Methods that only the libraries yaml and json call, with their own objects.
  HOOKS = %i[pretty_print encode_with init_with marshal_dump to_json].freeze

  def things
    float = tensor([[1.0, 2.0], [3.0, 4.0]])
    [float, float.transpose(0, 1), tensor([1, 0], dtype: :int64), tensor([true, false]), tensor(2), tensor([]),
     OneFlow.zeros(0, 3), float[(0..) % 2], OneFlow::Tensor.allocate, float.dup.freeze,
     0, 1, -1, 2, 10**30, -(2**63), 0.5, Float::NAN, -Float::INFINITY, Rational(1, 3), Complex(1, 1), true, false, nil,
     "float32", "none", "ij,jk", "\xff", "a\0b", "", :int8, :all, [], [0], [1, 0], [2, 2], [-1], [nil], [float, float],
     [float, nil], %w[cpu cpu], [[1]], [2**62, 2**62], {}, { dim: 0 }, Object.new, BasicObject.new, OneFlow, 1..2]
  end

  def keywords(random, palette)
    names = %i[dim keepdim dtype out input other size k device start end approximate descending]
    names.sample(random.rand(3), random:).to_h { |name| [name, palette.sample(random:)] }
  end

  def attempt(what)
    yield
  rescue OneFlow::Error, FrozenError, ArgumentError, TypeError, IndexError => e
    assert e.message.is_a?(String), what
  end

  def test_functions
    random = Random.new(1)
    [OneFlow, OneFlow::Comm::Local].each do |owner|
      (owner.singleton_methods(false) - SETTINGS).each do |name|
        ROUNDS.times do
          arguments = things.sample(random.rand(4), random:)
          attempt(name) { owner.public_send(name, *arguments, **keywords(random, things)) }
        end
      end
    end
  end

  def test_methods
    random = Random.new(2)
    (OneFlow::Tensor.public_instance_methods(false) - HOOKS).each do |name|
      ROUNDS.times do
        receiver = things.first(10).sample(random:)
        arguments = things.sample(random.rand(3), random:)
        attempt(name) { receiver.public_send(name, *arguments, **keywords(random, things)) }
      end
    end
  end

  def test_operators_raise_only_oneflow_errors
    random = Random.new(3)
    methods = OneFlow::Tensor.public_instance_methods(false).grep(/\A[a-z_0-9]+\z/)
    functions = (methods & OneFlow.singleton_methods(false)).select do |name|
      OneFlow.method(name).then { |each| each.arity == -1 && !each.source_location } # a compiled function
    end
    functions.each do |name|
      ROUNDS.times do
        OneFlow.public_send(name, *things.first(24).sample(random.rand(4), random:))
      rescue OneFlow::Error => e
        refute_kind_of OneFlow::InternalError, e, name
      end
    end
  end
end
