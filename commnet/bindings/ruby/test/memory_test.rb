# frozen_string_literal: true

require_relative "helper"
require "fiddle"

class MemoryTest < CommnetTest
  def setup
    super
    @a, @b, @peer = connected_pair
  end

  def test_reads
    token = @b.register("0123456789").token
    assert_equal "0123456789", @peer.read(token).wait
    assert_equal "234", @peer.read(token, size: 3, offset: 2).value
    assert_equal "789", @peer.read(token, offset: 7).wait
    assert_equal "", @peer.read(token, offset: 10).wait
    assert_equal 10, token.size
  end

  def test_reads_into_objects
    token = @b.register("0123456789").token
    buffer = Commnet::Buffer.new(4)
    assert_same buffer, @peer.read(token, offset: 3, into: buffer).wait
    assert_equal "3456", buffer.to_s
    string = "----------".dup
    assert_same string, @peer.read(token, size: 5, into: string).wait
    assert_equal "01234-----", string
    assert_equal "01234-----!", string << "!"
  end

  def test_a_string_is_locked_while_it_is_read_into
    token = @b.register("x" * 40_000_000).token
    string = "-" * 40_000_000
    operation = @peer.read(token, into: string)
    unless operation.done?
      assert_raises(RuntimeError) { string << "grows" }
      assert_error(Commnet::InvalidArgument, /locked/) { @peer.read(token, into: string) }
    end
    operation.wait(timeout: PATIENCE)
    assert_equal "x" * 40_000_000, string
  end

  def test_writes
    memory = @b.register(Commnet::Buffer.new("0123456789"), write: true)
    token = memory.token(write: true)
    assert_nil @peer.write(token, "abc", offset: 4).wait
    @peer.write(token, Commnet::Buffer.new("Z")).wait
    assert_equal "Z123abc789", memory.object.to_s
  end

  def test_rights
    memory = @b.register("0123456789", write: true)
    assert_error(Commnet::Denied) { @peer.write(memory.token, "abc").wait }
    assert_error(Commnet::InvalidArgument) { @b.register("0123456789", read: false) }
    read_only = @b.register("0123456789")
    assert_error(Commnet::InvalidArgument) { read_only.token(write: true) }
    write_only = @b.register("0123456789", read: false, write: true)
    assert_error(Commnet::Denied) { @peer.read(write_only.token(write: true)).wait }
  end

  def test_ranges
    token = @b.register("0123456789", write: true).token(write: true)
    assert_error(Commnet::OutOfRange) { @peer.read(token, size: 11).wait }
    assert_error(Commnet::OutOfRange) { @peer.read(token, size: 1, offset: 10).wait }
    assert_error(Commnet::OutOfRange) { @peer.read(token, size: 2**62).wait }
    assert_error(Commnet::OutOfRange) { @peer.read(token, size: 5, into: Commnet::Buffer.new(4)) }
    assert_error(Commnet::OutOfRange) { @peer.write(token, "abc", offset: 8).wait }
    assert_kind_of IndexError, assert_error(Commnet::OutOfRange) { @peer.write(token, "a", offset: (2**64) - 1).wait }
  end

  def test_forged_tokens
    token = @b.register("0123456789").token
    bytes = token.to_s.dup
    assert_equal token, Commnet::Token.new(bytes)
    bytes.setbyte(32, bytes.getbyte(32) ^ 1) # of the part that cannot be guessed
    assert_error(Commnet::Denied) { @peer.read(Commnet::Token.new(bytes), size: 1, into: Commnet::Buffer.new(1)).wait }
    assert_error(Commnet::InvalidArgument, /64 bytes, got 3/) { Commnet::Token.new("abc") }
    refute_includes token.inspect, token.to_s.inspect
  end

  def test_tokens_that_state_huge_sizes
    random = Random.new(1)
    50.times do
      token = Commnet::Token.new(random.bytes(Commnet::Token::BYTESIZE))
      next if token.size < 2**50

      assert_error(Commnet::OutOfMemory) { @peer.read(token) }
    end
  end

  def test_released_memory
    memory = @b.register("0123456789")
    token = memory.token
    memory.release
    memory.release
    refute_predicate memory, :registered?
    assert_error(Commnet::Denied) { @peer.read(token).wait }
    assert_error(Commnet::Closed) { memory.token }
  end

  def test_memory_of_other_libraries
    pointer = Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE)
    pointer[0, 8] = "ABCDEFGH"
    address = Commnet::Address.new(pointer.to_i, 8, pointer)
    token = @b.register(address, write: true).token(write: true)
    assert_equal "ABCDEFGH", @peer.read(token).wait
    tensor = Object.new
    tensor.define_singleton_method(:to_commnet_address) { address }
    @peer.write(token, "xy").wait
    assert_equal "xyCDEFGH", pointer[0, 8]
    @peer.read(@b.register("12345678").token, into: tensor).wait
    assert_equal "12345678", pointer[0, 8]
    read_only = Commnet::Address.new(pointer.to_i, 8, pointer, readonly: true)
    assert_error(Commnet::InvalidArgument, /read-only/) { @peer.read(token, into: read_only) }
    assert_error(Commnet::InvalidArgument, /read-only/) { @b.register(read_only, write: true) }
    assert_equal "12345678", @peer.read(@b.register(read_only).token).wait
    frozen = Commnet::Buffer.new("abc").freeze
    assert_error(Commnet::InvalidArgument, /frozen/) { @b.register(frozen, write: true) }
    assert_equal "abc", @peer.read(@b.register(frozen).token).wait
    assert_error(Commnet::InvalidArgument) { Commnet::Address.new(0, 8) }
  end

  def test_pointers_of_fiddle
    pointer = Fiddle::Pointer.malloc(4, Fiddle::RUBY_FREE)
    pointer[0, 4] = "abcd"
    token = @b.register(pointer, write: true).token(write: true)
    @peer.write(token, "xy").wait
    assert_equal "xycd", pointer[0, 4]
    @peer.read(token, into: pointer, size: 2, offset: 2).wait
    assert_equal "cdcd", pointer[0, 4]
    assert_error(Commnet::InvalidArgument, /must know its size/) { @b.register(Fiddle::Pointer.new(pointer.to_i)) }
    assert_error(Commnet::WrongType, /Fiddle::Pointer/) { @b.register(Object.new) }
  end

  def test_io_buffers
    skip "this Ruby has no IO::Buffer" unless defined?(IO::Buffer)
    buffer = io_buffer(100)
    memory = @b.register(buffer, write: true)
    assert_predicate buffer, :locked?
    assert_raises(IO::Buffer::LockedError) { buffer.free }
    @peer.write(memory.token(write: true), "abc", offset: 97).wait
    memory.release
    refute_predicate buffer, :locked?
    assert_equal "abc", buffer.get_string(97, 3)
    assert_error(Commnet::InvalidArgument, /no slice/) { @b.register(buffer.slice(0, 10)) }
    @peer.send_message(buffer.slice(97, 3), handler: 1)
    assert_equal "abc", take(messages(@b)).data
  end

  def test_queues
    token = @b.register("0123456789").token
    queue = @a.queue
    reads = Array.new(10) { |i| @peer.read(token, size: 1, offset: i, queue:) }
    assert_nil queue.mark.wait(timeout: PATIENCE)
    assert reads.all?(&:done?)
    assert_equal "0123456789", reads.map(&:value).join
    assert_error(Commnet::WrongType) { @peer.read(token, queue: Thread::Queue.new) }
    assert_error(Commnet::InvalidArgument) { @peer.read(token, queue: @b.queue) }
  end

  def test_done_callbacks
    ends = Thread::Queue.new
    token = @b.register("0123456789").token
    @peer.read(token).on_done { |operation| ends << operation.value }
    assert_equal "0123456789", take(ends)
    done = @peer.read(token)
    done.wait
    done.on_done { |operation| ends << operation.value }
    assert_equal "0123456789", take(ends)
  end

  private

  def io_buffer(size)
    was = Warning[:experimental]
    Warning[:experimental] = false
    IO::Buffer.new(size)
  ensure
    Warning[:experimental] = was
  end
end
