# frozen_string_literal: true

require "weakref"
require_relative "helper"

# The garbage collector runs, and moves objects, while operations use their bytes.
class CollectorTest < CommnetTest
  def setup
    super
    @a, @b, @peer = connected_pair
    @got = messages(@b)
  end

  def test_stress
    token = @b.register("0123456789", write: true).token(write: true)
    GC.stress = true
    3.times do |i|
      @peer.send_message("message #{i}", handler: 1)
      assert_equal "0123456789", @peer.read(token).wait
      @peer.write(token, "0").wait
      @peer.read(token, into: Commnet::Buffer.new(10)).wait
      @peer.read(token, into: "-" * 10).wait
      assert_raises(Commnet::Denied) { @peer.read(Commnet::Token.new("x" * 64), into: Commnet::Buffer.new(1)).wait }
    end
    GC.stress = false
    assert_equal ["message 0", "message 1", "message 2"], Array.new(3) { take(@got).data }
  ensure
    GC.stress = false
  end

  def test_compaction
    skip "this Ruby cannot move objects" unless GC.respond_to?(:compact)
    token = @b.register("0123456789").token
    # Small Strings have their bytes in the object itself, which moves.
    100.times do |i|
      holes = Array.new(200) { +"hole" }
      target = +"----------"
      read = @peer.read(token, into: target)
      sends = Array.new(5) { |j| @peer.send_message("#{i} #{j}", handler: 1) }
      holes.clear
      GC.compact
      assert_same target, read.wait(timeout: PATIENCE)
      assert_equal "0123456789", target
      sends.each { |send| send.wait(timeout: PATIENCE) }
    end
    assert_equal Array.new(500) { |k| "#{k / 5} #{k % 5}" }, Array.new(500) { take(@got).data }
  end

  def test_objects_that_nobody_holds
    token = @b.register("0123456789" * 1000).token
    token_of_copy = @b.register(Commnet::Buffer.new("kept by its registration")).token
    200.times do
      @peer.read(token)
      @peer.send_message("x" * 10_000, handler: 1)
      @a.queue.mark
    end
    GC.start
    GC.compact if GC.respond_to?(:compact)
    assert_equal "kept by its registration", @peer.read(token_of_copy).wait
    200.times { assert_equal "x" * 10_000, take(@got).data }
  end

  # The stack may hold some of them.
  def test_nothing_holds_operations_that_have_ended
    token = @b.register("0123456789").token
    references = Array.new(500) { WeakRef.new(@peer.read(token).tap(&:wait)) }
    GC.start
    refute(references.all?(&:weakref_alive?))
  end
end
