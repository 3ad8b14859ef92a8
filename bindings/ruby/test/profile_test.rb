# frozen_string_literal: true

require_relative "helper"
require "json"
require "tmpdir"

# Tests profiles: what they record, and their errors.
class ProfileTest < OneFlowTest
  # The tests of all languages record these calls, and expect the same of them.
  def record
    x = OneFlow.ones(2, 3)
    w = OneFlow.ones(3, 4)
    OneFlow.profile do
      OneFlow.softmax(OneFlow.matmul(x, w), dim: 0)
      OneFlow.sum(x, dim: 0)
    end
  end

  def test_entries_have_the_properties_of_calls
    user = record.entries.select { |entry| entry.parent.nil? }
    assert_equal %w[matmul softmax sum], user.map(&:name)
    product = user[0].to_h
    times = %i[start host_time self_time].map { |name| product.delete(name) }
    expected = { name: "matmul", caller: "matmul", device: "cpu:0", thread: 0, parent: nil, device_time: nil,
                 memory: 32, flops: 48.0, bytes: 104, shapes: [[2, 3], [3, 4]], dtypes: %i[float32 float32],
                 result_shapes: [[2, 4]], result_dtypes: [:float32], failed: false }
    assert_equal expected, product
    assert(times.all? { |time| time.between?(0, 60) })
    assert_equal user.map(&:start), user.map(&:start).sort
  end

  def test_parts_of_composites
    entries = record.entries
    softmax = entries.find { |entry| entry.name == "softmax" }
    parts = entries.select { |entry| entry.parent == entries.index(softmax) }
    assert_equal ["softmax"], parts.map(&:caller).uniq
    assert_in_delta softmax.host_time - parts.sum(&:host_time), softmax.self_time, 1e-12
  end

  def test_table
    p = record
    head, *lines = p.table.lines
    assert_equal %w[operator calls total self mean memory rate], head.split
    assert_empty %w[matmul softmax sum] - lines.map { |line| line.split.first }
    assert lines.last.start_with?("#{p.entries.size} calls on 1 thread in ")
    assert_equal p.table, p.to_s
    assert_equal "#<OneFlow::Profile of #{p.entries.size} calls>", p.inspect
  end

  def test_trace
    p = record
    events = JSON.parse(p.trace)["traceEvents"].select { |event| event["ph"] == "X" }
    names = events.map { |event| event["name"] }
    assert_equal p.entries.map(&:name), names
    Dir.mktmpdir do |folder|
      p.save("#{folder}/trace.json")
      assert_equal p.trace, File.read("#{folder}/trace.json")
    end
  end

  def test_one_profile_at_a_time
    p = OneFlow.profile do |running|
      error = assert_raises(OneFlow::InvalidArgument) { OneFlow.profile { flunk } }
      assert_equal "profile: a profile is running; it must end before the next one begins", error.message
      error = assert_raises(OneFlow::InvalidArgument) { running.table }
      assert_equal "profile: it must end before it is read", error.message
      assert_empty running.entries
    end
    assert_empty p.entries
    error = assert_raises(OneFlow::TypeMismatch) { OneFlow.profile }
    assert_equal "profile: missing block", error.message
    assert_raises(NoMethodError) { OneFlow::Profile.new }
  end

  def test_errors_end_the_profile
    p = nil
    assert_raises(OneFlow::ShapeError) do
      OneFlow.profile do |running|
        p = running
        OneFlow.ones(2) + OneFlow.ones(3)
      end
    end
    assert_equal [["ones", false], ["ones", false], ["add", true]], (p.entries.map { |each| [each.name, each.failed] })
    assert_equal 1, (OneFlow.profile { break 1 })
    record
  end

  def test_threads
    x = OneFlow.ones(2)
    p = OneFlow.profile do
      x.neg
      Thread.new { x + x }.join
    end
    assert_equal [["neg", 0], ["add", 1]], (p.entries.map { |entry| [entry.name, entry.thread] })
  end
end
