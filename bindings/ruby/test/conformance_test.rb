# frozen_string_literal: true

require "json"
require_relative "helper"
require_relative "vectors"

# Replays the vectors of every operator (docs/reference/vectors.md) on the first device of each available type.
# `make vectors` generates them. A plugin that could not be used is reported as skipped, with the reason.
class ConformanceTest < OneFlowTest
  include Vectors

  FILES = Dir[File.expand_path("../../../tests/generated/vectors/*.json", __dir__)]
  KNOWN = JSON.parse(File.read(File.expand_path("../../../tests/devices.json", __dir__)))
  DEVICES = OneFlow.devices.select { |device| device.index.zero? }
  INCLUDED = ENV.fetch("ONEFLOW_VECTORS", "0/1")

  def test_vectors_exist
    refute_empty FILES, "no vectors: run `make vectors`"
  end

  FILES.product(DEVICES) do |file, device|
    define_method("test_#{File.basename(file, ".json").tr(".", "_")}_on_#{device.type}") do
      vectors = JSON.parse(File.read(file), symbolize_names: true)
      reason = KNOWN.dig("host_only", vectors[:op])
      skip(reason) if reason && !device.capabilities.include?(:host_accessible)
      cases = vectors[:cases].select { |one| replayed?(one[:sample], device) }
      refute_empty cases
      on(device) { cases.each { |one| replay(vectors, one, device) } }
    end
  end

  OneFlow.rejected_plugins.each do |path, reason|
    define_method("test_on_#{File.basename(path, ".*")}") { skip(reason) }
  end

  private

  # Returns whether ONEFLOW_VECTORS (docs/reference/vectors.md) includes a case with this `sample` on a device.
  def replayed?(sample, device)
    return true if INCLUDED == "all"
    return device == HOST if sample == "host"
    return sample unless sample.is_a?(Integer)

    index, count = INCLUDED.split("/").map { |number| Integer(number) }
    sample % count == index
  end

  # Runs the block with `device` as the default device.
  def on(device)
    OneFlow.default_device = device
    yield
  ensure
    OneFlow.default_device = HOST
  end

  def replay(vectors, one, device)
    what = "#{vectors[:op]} #{one[:name]}"
    results = call(vectors[:function].sub(/_\z/, "!"), one, one[:arguments].transform_values { |value| decode(value) })
    assert_equal one[:results].size, results.size, "#{what}: number of results"
    results.each { |result| assert_equal device, result.device, what }
    tolerance = KNOWN.dig("types", device.type, "tolerance") || 1
    one[:results].zip(results) { |expected, actual| check(expected, actual, one, tolerance, what) }
  end

  # Makes the call of a test case and returns all results as an Array.
  def call(name, one, arguments)
    case one[:form]
    when "function" then results(on_module(name, **arguments))
    when "method" then results(arguments.delete(:input).public_send(name, **arguments))
    when "in_place" then results(in_place("#{name}!", arguments))
    when "out" then call_with_out(name, one, arguments)
    else flunk("unknown form #{one[:form]}")
    end
  end

  def in_place(name, arguments)
    receiver = arguments.delete(:input)
    receiver ? receiver.public_send(name, **arguments) : on_module(name, **arguments)
  end

  def results(value) = value.is_a?(Array) ? value : [value]

  def call_with_out(name, one, arguments)
    outs = one[:results].map { |result| OneFlow.zeros(result[:sizes], dtype: result[:dtype]) }
    target = outs.size == 1 ? outs[0] : outs
    assert_same target, on_module(name, **arguments, out: target)
    outs
  end
end
