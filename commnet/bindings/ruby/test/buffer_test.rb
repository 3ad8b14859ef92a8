# frozen_string_literal: true

require_relative "helper"

class BufferTest < CommnetTest
  def test_contents
    buffer = Commnet::Buffer.new("0123456789")
    assert_equal 10, buffer.bytesize
    assert_equal "0123456789", buffer.to_s
    assert_equal [49, "123", "89", "0123456789"], [buffer[1], buffer[1..3], buffer[8..], buffer[0...10]]
    assert_equal "45", buffer[4, 2]
    buffer[0] = 65
    buffer[8] = "YZ"
    assert_equal "A1234567YZ", buffer.to_s
    assert_equal "abcdefghij", buffer.replace("abcdefghij").to_s
    assert_equal "\0\0\0", Commnet::Buffer.new(3).to_s
    assert_equal "", Commnet::Buffer.new(0).to_s
  end

  def test_copies
    buffer = Commnet::Buffer.new("abc")
    copy = buffer.dup
    copy[0] = "x"
    assert_equal %w[abc xbc], [buffer.to_s, copy.to_s]
  end

  def test_errors
    buffer = Commnet::Buffer.new("0123456789")
    assert_error(Commnet::OutOfRange, /outside of a buffer of 10 bytes/) { buffer[8, 3] }
    assert_error(Commnet::OutOfRange) { buffer[10] }
    assert_error(Commnet::OutOfRange) { buffer[9] = "ab" }
    assert_error(Commnet::OutOfRange) { buffer[(2**64) - 1, 2] }
    assert_error(Commnet::InvalidArgument) { buffer[-1] }
    assert_error(Commnet::InvalidArgument) { buffer[0] = 256 }
    assert_error(Commnet::InvalidArgument) { buffer.replace("short") }
    assert_error(Commnet::InvalidArgument) { Commnet::Buffer.new(2**80) }
    assert_error(Commnet::OutOfMemory) { Commnet::Buffer.new(2**62) }
    assert_error(Commnet::WrongType) { Commnet::Buffer.new(nil) }
    assert_error(Commnet::WrongType) { buffer["x"] }
    assert_error(Commnet::WrongType) { buffer["a".."b"] }
    assert_raises(FrozenError) { buffer.freeze[0] = "a" }
  end

  def test_buffers_that_were_not_initialized
    empty = Commnet::Buffer.allocate
    assert_equal "", empty.to_s
    assert_error(Commnet::OutOfRange) { empty[0] }
    assert_error(Commnet::InvalidArgument) { Commnet::Buffer.new(1).send(:initialize, 2) }
  end
end
