# frozen_string_literal: true

require_relative "helper"

class ErrorsTest < CommnetTest
  def test_classes
    classes = %i[InvalidArgument Denied OutOfRange Unreachable PeerLost TimedOut Cancelled Full NoHandler OutOfMemory
                 Closed Unsupported SystemError InternalError WrongType].map { |name| Commnet.const_get(name) }
    classes.each do |each|
      assert_operator each, :<, StandardError
      assert_operator each, :<, Commnet::Error
    end
    assert_operator Commnet::InvalidArgument, :<, ArgumentError
    assert_operator Commnet::OutOfRange, :<, IndexError
  end

  def test_options
    assert_error(Commnet::InvalidArgument, /name/) { Commnet::Endpoint.new(name: "a@b") }
    assert_error(Commnet::InvalidArgument, /null/) { Commnet::Endpoint.new(name: "a\0b") }
    assert_error(Commnet::WrongType, /name must be String, got Integer/) { Commnet::Endpoint.new(name: 1) }
    assert_error(Commnet::WrongType) { Commnet::Endpoint.new(secret: :symbol) }
    assert_error(Commnet::WrongType) { Commnet::Endpoint.new(transports: 1) }
    assert_error(Commnet::WrongType) { Commnet::Endpoint.new(busy_poll: "1") }
    assert_error(Commnet::InvalidArgument) { Commnet::Endpoint.new(busy_poll: -1) }
    assert_error(Commnet::InvalidArgument) { Commnet::Endpoint.new(peer_timeout: Float::NAN) }
    assert_error(Commnet::InvalidArgument) { Commnet::Endpoint.new(streams: 17) }
    assert_error(Commnet::InvalidArgument) { Commnet::Endpoint.new(message_limit: -1) }
    assert_error(Commnet::Error) { Commnet::Endpoint.new(transports: ["no_such"]) }
    assert_raises(ArgumentError) { Commnet::Endpoint.new(unknown: 1) }
  end

  def test_connections_that_fail
    a = open_endpoint("a")
    assert_error(Commnet::Unreachable) { a.connect("b@tcp://127.0.0.1:1") }
    assert_error(Commnet::Unsupported) { a.connect("b@carrier-pigeon:1") }
    assert_error(Commnet::InvalidArgument, /itself/) { a.connect(a.address) }
    assert_error(Commnet::WrongType) { a.connect(nil) }
    assert_error(Commnet::InvalidArgument) { a.connect("b@tcp://127.0.0.1:1", timeout: -1) }
    stranger = open_endpoint("b", secret: "another secret")
    assert_error(Commnet::Denied) { a.connect(stranger.address) }
  end

  def test_objects_without_methods
    a, _, peer = connected_pair
    odd = BasicObject.new
    assert_error(Commnet::WrongType, /number must be Integer/) { a.on_message(odd) { nil } }
    assert_error(Commnet::WrongType, /number must be Integer/) { a.remove_handler(odd) }
    sent = Array.new(20) { peer.send_message("x" * 1_000_000, handler: 1) }
    assert_error(Commnet::WrongType, /timeout must be a number/) { sent.last.wait(timeout: odd) }
  end

  def test_arguments_of_messages
    _, _, peer = connected_pair
    assert_error(Commnet::WrongType, /data must be String.*got Symbol/) { peer.send_message(:data, handler: 1) }
    assert_error(Commnet::WrongType) { peer.send_message("x", handler: "1") }
    assert_error(Commnet::InvalidArgument, /handler must be from 0 to 4294967295, got -1/) do
      peer.send_message("x", handler: -1)
    end
    assert_error(Commnet::InvalidArgument) { peer.send_message("x", handler: 2**32) }
    assert_error(Commnet::InvalidArgument) { peer.send_message("x", handler: 1, channel: 2**80) }
    assert_error(Commnet::WrongType) { peer.send_message("x", handler: 1, timeout: "1") }
    assert_error(Commnet::WrongType) { peer.send_message("x", handler: 1, timeout: Complex(1, 1)) }
    assert_error(Commnet::WrongType) { peer.send_message(BasicObject.new, handler: 1) }
    assert_error(Commnet::WrongType) { peer.read("bytes", size: 1) }
    assert_error(Commnet::InvalidArgument) { peer.read(Commnet::Token.allocate, size: 1) }
    assert_error(Commnet::InvalidArgument) { peer.read(token_of("abc"), into: "frozen") }
  end

  def test_objects_cannot_be_made_otherwise
    [Commnet::Peer, Commnet::Operation, Commnet::Memory, Commnet::Message, Commnet::Queue].each do |each|
      assert_raises(NoMethodError, TypeError) { each.new }
      assert_raises(NoMethodError, TypeError) { each.allocate }
    end
    assert_error(Commnet::Closed) { Commnet::Endpoint.allocate.connect("x") }
    assert_error(Commnet::WrongType) { open_endpoint("a").dup }
    assert_error(Commnet::InvalidArgument) { open_endpoint("b").send(:initialize) }
  end

  private

  def token_of(bytes) = open_endpoint("owner").register(bytes).token
end
