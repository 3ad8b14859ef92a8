# frozen_string_literal: true

# Reads the values of vectors (docs/reference/vectors.md), and compares results with them.
module Vectors
  HOST = OneFlow.default_device
  MODULES = { "nn" => "NN" }.freeze # the others are capitalized
  REALS = { "nan" => Float::NAN, "inf" => Float::INFINITY, "-inf" => -Float::INFINITY }.freeze

  private

  # Calls a function by its full name: OneFlow::Comm::Local.reduce for "comm.local.reduce".
  def on_module(name, **arguments)
    *spaces, name = name.split(".")
    modules = spaces.map { |space| MODULES.fetch(space, space.capitalize) }
    modules.reduce(OneFlow, :const_get).public_send(name, **arguments)
  end

  def decode(value)
    case value
    in { tensor: } then strided(tensor)
    in { tensors: } then tensors.map { |tensor| tensor && strided(tensor) }
    in { dtype: } then dtype.to_sym
    in { device: } then OneFlow.default_device
    in { devices: } then devices.map { OneFlow.default_device }
    in { integer: } then Integer(integer)
    in { real: } then REALS.fetch(real) { Float(real) }
    else value
    end
  end

  # Creates a tensor with the sizes, the strides and the offset of a vector.
  def strided(tensor)
    flat = OneFlow.from_binary(tensor[:data].unpack1("m"), dtype: tensor[:dtype])
    offset = tensor[:sizes].include?(0) ? 0 : tensor[:offset]
    flat.as_strided(tensor[:sizes], tensor[:strides], offset)
  end

  def check(expected, actual, one, tolerance, what)
    assert_equal expected[:dtype].to_sym, actual.dtype, "#{what}: dtype"
    assert_equal expected[:sizes], actual.shape, "#{what}: shape"
    wanted = OneFlow.from_binary(expected[:data].unpack1("m"), dtype: expected[:dtype], device: HOST)
    found = OneFlow.from_binary(actual.to_binary, dtype: expected[:dtype], device: HOST)
    return if wanted.eql?(found)

    wanted.to_a.zip(found.to_a).each_with_index do |(w, f), i|
      assert near?(w, f, one, tolerance), "#{what}: element #{i} is #{f}, not #{w}"
    end
  end

  def near?(wanted, found, one, tolerance)
    return true if wanted == found || [wanted, found].all? { |value| value.is_a?(Float) && value.nan? }
    return near_parts?(wanted, found, one, tolerance) if wanted.is_a?(Complex)

    wanted.is_a?(Float) && (wanted - found).abs <= tolerance * (one[:absolute] + (one[:relative] * wanted.abs))
  end

  # The parts of complex numbers are compared by the magnitude of the whole number, if it is finite.
  def near_parts?(wanted, found, one, tolerance)
    whole = wanted.rect.all?(&:finite?) ? wanted.abs : 0
    spare = { **one, absolute: one[:absolute] + (one[:relative] * whole) }
    wanted.rect.zip(found.rect).all? { |w, f| near?(w, f, spare, tolerance) }
  end
end
