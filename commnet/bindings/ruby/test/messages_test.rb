# frozen_string_literal: true

require_relative "helper"

class MessagesTest < CommnetTest
  def test_a_message_arrives
    _, b, peer = connected_pair
    got = messages(b)
    assert_nil peer.send_message("hello", handler: 1, channel: 7).wait
    message = take(got)
    assert_equal "hello", message.data
    assert_equal Encoding::BINARY, message.data.encoding
    assert_equal ["a", 1, 7], [message.peer.name, message.handler, message.channel]
  end

  def test_both_directions_and_identity_of_peers
    a, b, peer = connected_pair
    b.on_message(1) { |message| message.peer.send_message(message.data.upcase, handler: 2) }
    answers = messages(a, 2)
    peer.send_message("ping", handler: 1)
    answer = take(answers)
    assert_equal "PING", answer.data
    assert_same peer, answer.peer
    assert_same peer, a.peer("b")
    assert_nil a.peer("nobody")
  end

  def test_order_within_a_channel
    _, b, peer = connected_pair
    got = messages(b)
    500.times { |i| peer.send_message([i].pack("N"), handler: 1) }
    assert_equal (0...500).to_a, Array.new(500) { take(got).data.unpack1("N") }
  end

  def test_what_can_be_sent
    _, b, peer = connected_pair
    got = messages(b)
    text = +"changed at once"
    peer.send_message(text, handler: 1)
    text.replace("x" * 1000)
    peer.send_message("", handler: 1)
    peer.send_message(Commnet::Buffer.new("buffer"), handler: 1)
    peer.send_message("frozen", handler: 1)
    assert_equal ["changed at once", "", "buffer", "frozen"], Array.new(4) { take(got).data }
  end

  def test_large_strings_may_change_while_they_are_sent
    _, b, peer = connected_pair
    got = messages(b)
    text = "a" * 5_000_000
    operation = peer.send_message(text, handler: 1)
    text[0, 5_000_000] = "b" * 5_000_000
    operation.wait(timeout: PATIENCE)
    assert_equal "a" * 5_000_000, take(got).data
  end

  def test_messages_wait_for_a_handler
    _, b, peer = connected_pair
    peer.send_message("early", handler: 3).wait
    sleep 0.05
    assert_equal "early", take(messages(b, 3)).data
  end

  def test_a_removed_handler_gets_nothing
    _, b, peer = connected_pair
    got = messages(b)
    b.remove_handler(1)
    peer.send_message("waits", handler: 1).wait
    sleep 0.05
    assert_predicate got, :empty?
    assert_equal "waits", take(messages(b)).data
  end

  def test_a_handler_may_wait
    a, b, peer = connected_pair
    memory = a.register("from a")
    results = Thread::Queue.new
    b.on_message(1) { |message| results << message.peer.read(Commnet::Token.new(message.data)).wait }
    2.times { peer.send_message(memory.token.to_s, handler: 1) }
    assert_equal ["from a", "from a"], [take(results), take(results)]
  end

  def test_a_handler_that_raises
    _, b, peer = connected_pair
    errors = Thread::Queue.new
    b.on_error { |error| errors << error.message }
    b.on_message(1) { raise "no" }
    got = messages(b, 2)
    peer.send_message("", handler: 1)
    peer.send_message("goes on", handler: 2)
    assert_equal "no", take(errors)
    assert_equal "goes on", take(got).data
  end

  def test_handlers_may_raise_anything
    _, b, peer = connected_pair
    errors = Thread::Queue.new
    b.on_error { |error| errors << error.class }
    kinds = [NotImplementedError, NoMemoryError, SystemStackError, Interrupt, Exception]
    b.on_message(1) { |message| raise kinds[message.data.to_i] }
    kinds.each_index { |index| peer.send_message(index.to_s, handler: 1) }
    assert_equal(kinds, Array.new(kinds.size) { take(errors) })
    refute_predicate b, :closed?
  end

  def test_what_the_block_for_errors_raises
    _, b, peer = connected_pair
    b.on_error { raise NotImplementedError, "not even this" }
    b.on_message(1) { raise "no" }
    got = messages(b, 2)
    _, warnings = capture_io do
      peer.send_message("", handler: 1)
      peer.send_message("", handler: 2)
      take(got)
    end
    assert_match(/the block of on_error of b has raised: .*not even this/, warnings)
  end

  def test_a_slow_receiver
    a = open_endpoint("a", send_limit: 100_000)
    b = open_endpoint("b", receive_window: 10_000)
    peer = a.connect(b.address)
    assert_error(Commnet::Full) { 1000.times { peer.send_message("x" * 1000, handler: 1) } }
    got = messages(b)
    assert_equal 1000, take(got).data.bytesize
  end

  def test_peers_join_and_leave
    b = open_endpoint("b")
    seen = Thread::Queue.new
    b.on_join { |peer| seen << [:joined, peer.name] }
    b.on_leave { |peer, error| seen << [:left, peer.name, error.class] }
    a = open_endpoint("a")
    a.connect(b.address)
    assert_equal [:joined, "a"], take(seen)
    a.close
    assert_equal [:left, "a", Commnet::PeerLost], take(seen)
  end

  def test_many_threads
    _, b, peer = connected_pair
    got = messages(b)
    threads = Array.new(8) { |i| Thread.new { 50.times { peer.send_message(i.to_s, handler: 1, channel: i).wait } } }
    threads.each(&:join)
    assert_equal Array.new(8) { |i| [i.to_s, 50] }.to_h, Array.new(400) { take(got).data }.tally
  end
end
