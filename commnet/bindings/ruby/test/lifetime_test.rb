# frozen_string_literal: true

require_relative "helper"

class LifetimeTest < CommnetTest
  def test_open_with_a_block
    inner = nil
    result = Commnet::Endpoint.open(name: "a", transports: "sockets") do |endpoint|
      inner = endpoint
      refute_predicate endpoint, :closed?
      :result
    end
    assert_equal :result, result
    assert_predicate inner, :closed?
  end

  def test_everything_after_close
    a, b, peer = connected_pair
    memory = a.register("abc")
    token = memory.token
    queue = a.queue
    done = peer.send_message("x", handler: 1)
    done.wait
    a.close
    a.close
    [-> { a.connect(b.address) }, -> { a.register("x") }, -> { a.queue }, -> { a.peer("b") }, -> { a.on_join { 1 } },
     -> { a.on_message(1) { 1 } }, -> { peer.send_message("x", handler: 1) }, -> { peer.read(token) },
     -> { peer.disconnect }, -> { memory.token }, -> { queue.mark }].each do |call|
      assert_error(Commnet::Closed, /closed/, &call)
    end
    memory.release
    done.cancel
    assert_nil done.wait
    refute_predicate peer, :connected?
    assert_nil peer.transport
    assert_equal %w[a b], [a.name, peer.name]
    assert_match(/closed/, a.inspect)
    GC.start
  end

  def test_close_while_operations_are_pending
    a, b, peer = connected_pair
    b.close # nobody answers
    silent = open_endpoint("silent", receive_window: 1000)
    other = a.connect(silent.address)
    sends = Array.new(20) { other.send_message("x" * 10_000, handler: 1) }
    waiter = Thread.new { assert_raises(Commnet::Cancelled) { sends.last.wait } }
    sleep 0.05
    a.close
    assert waiter.join(PATIENCE)
    assert sends.all?(&:done?)
    assert_kind_of Commnet::Cancelled, sends.last.error
    refute_predicate peer, :connected?
  end

  def test_a_handler_may_close_its_endpoint
    _, b, peer = connected_pair
    b.on_message(1) { b.close }
    peer.send_message("close", handler: 1)
    eventually { b.closed? && !peer.connected? }
  end

  def test_several_threads_close
    endpoint = open_endpoint("a")
    Array.new(4) { Thread.new { endpoint.close } }.each { |thread| assert thread.join(PATIENCE) }
  end

  def test_cancel
    a = open_endpoint("a")
    b = open_endpoint("b", receive_window: 1000)
    peer = a.connect(b.address)
    sends = Array.new(20) { peer.send_message("x" * 10_000, handler: 1) }
    sends.last.cancel
    assert_error(Commnet::Cancelled) { sends.last.wait(timeout: PATIENCE) }
    sends.last.cancel
  end

  def test_timeouts
    a = open_endpoint("a")
    b = open_endpoint("b", receive_window: 1000)
    peer = a.connect(b.address)
    sends = Array.new(20) { peer.send_message("x" * 10_000, handler: 1) }
    assert_error(Commnet::TimedOut, /goes on/) { sends.last.wait(timeout: 0.02) }
    refute_predicate sends.last, :done?
    assert_error(Commnet::WrongType) { sends.last.wait(timeout: "1") }
    assert_error(Commnet::InvalidArgument) { sends.last.wait(timeout: -1) }
    assert_error(Commnet::WrongType) { sends.last.wait(timeout: Complex(1, 1)) }
    assert_nil sends.first.wait(timeout: Float::INFINITY)
    assert_error(Commnet::TimedOut, /longer than its timeout/) do
      peer.send_message("x" * 10_000, handler: 1, timeout: 0.02).wait(timeout: PATIENCE)
    end
  end

  def test_timeout_and_kill_interrupt_waits
    a = open_endpoint("a")
    b = open_endpoint("b", receive_window: 1000)
    peer = a.connect(b.address)
    sends = Array.new(20) { peer.send_message("x" * 10_000, handler: 1) }
    assert_raises(Timeout::Error) { Timeout.timeout(0.05) { sends.last.wait } }
    thread = Thread.new { sends.last.wait }
    sleep 0.05
    thread.kill
    assert thread.join(PATIENCE)
    got = messages(b)
    sends.each { |send| send.wait(timeout: PATIENCE) }
    assert_equal 10_000, take(got).data.bytesize
  end

  def test_connect_can_be_interrupted
    server = TCPServer.new("127.0.0.1", 0) # takes connections, and says nothing
    a = open_endpoint("a")
    address = "b@tcp://127.0.0.1:#{server.addr[1]}"
    assert_raises(Timeout::Error) { Timeout.timeout(0.1) { a.connect(address) } }
    assert_error(Commnet::TimedOut) { a.connect(address, timeout: 0.1) }
  ensure
    server&.close
  end

  def test_reconnection
    a, b, peer = connected_pair
    peer.disconnect
    refute_predicate peer, :connected?
    assert_error(Commnet::Error) { peer.send_message("x", handler: 1).wait }
    assert_same peer, a.connect(b.address)
    got = messages(b)
    peer.send_message("again", handler: 1)
    assert_equal "again", take(got).data
  end

  def test_closing_says_what_was_not_sent
    b = open_endpoint("b", receive_window: 1000)
    a = open_endpoint("a", linger: 0.05)
    peer = a.connect(b.address)
    5.times { peer.send_message("x" * 1000, handler: 1) }
    _, warning = capture_io { a.close }
    assert_match(/commnet: 4 messages to 'b' could not be sent before the end$/, warning)
    assert_output("", "") { a.close }
  end
end
