# frozen_string_literal: true

require_relative "helper"
require "tmpdir"

class JobsTest < CommnetTest
  def test_endpoints_meet_by_files
    Dir.mktmpdir do |folder|
      endpoints = Array.new(4) { |rank| open_endpoint("rank #{rank}") }
      joins = endpoints.each_with_index.map do |endpoint, rank|
        Thread.new { endpoint.join(rank:, size: 4, meeting: "file:#{folder}", timeout: PATIENCE) }
      end
      peers = joins.map(&:value).each_with_index { |of_rank, rank| check_peers(endpoints[rank], rank, of_rank) }
      check_first_use(endpoints, peers[0])
    end
  end

  def test_the_environment_says_everything
    output = run_alone(<<~RUBY)
      ENV.update("COMMNET_RANK" => "0", "COMMNET_SIZE" => "1")
      p Commnet::Endpoint.open(name: "a", &:join)
    RUBY
    assert_equal "[nil]\n", output
  end

  def test_arguments
    a = open_endpoint("a")
    meeting = "file:/nowhere"
    assert_error(Commnet::InvalidArgument, /belong together/) { a.join(rank: 0, meeting:) }
    assert_error(Commnet::InvalidArgument, /size must be at least 1/) { a.join(rank: 0, size: 0, meeting:) }
    assert_error(Commnet::InvalidArgument, /rank 2 is not below the size 2/) { a.join(rank: 2, size: 2, meeting:) }
    assert_error(Commnet::InvalidArgument, /at most 1048576/) { a.join(rank: 0, size: (2**32) - 1, meeting:) }
    assert_error(Commnet::InvalidArgument, /rank must be from 0/) { a.join(rank: -1, size: 2, meeting:) }
    assert_error(Commnet::WrongType, /meeting must be String/) { a.join(rank: 0, size: 2, meeting: 7) }
    assert_error(Commnet::WrongType, /size must be Integer/) { a.join(rank: 0, size: "2", meeting:) }
    assert_error(Commnet::SystemError, %r{/nowhere}) { a.join(rank: 0, size: 2, meeting:) }
    Dir.mktmpdir do |folder|
      assert_error(Commnet::TimedOut, /rank 1/) { a.join(rank: 0, size: 2, meeting: "file:#{folder}", timeout: 0.05) }
    end
    a.close
    assert_error(Commnet::Closed) { a.join(rank: 0, size: 2, meeting:) }
  end

  def test_closing_ends_a_meeting
    a = open_endpoint("a")
    waiting = begin_meeting(a)
    a.close
    assert_error(Commnet::Cancelled, /was closed/) { waiting.value }
  end

  def test_a_meeting_can_be_interrupted
    a = open_endpoint("a")
    waiting = begin_meeting(a)
    waiting.kill
    assert waiting.join(PATIENCE)
    Dir.mktmpdir do |folder|
      assert_raises(Timeout::Error) do
        Timeout.timeout(0.1) { a.join(rank: 0, size: 2, meeting: "file:#{folder}") }
      end
      GC.start
      a.close
    end
  end

  private

  # The first use connects a peer, and no other one.
  def check_first_use(endpoints, peers)
    refute_predicate peers[1], :connected?
    peers[1].send_message("hello", handler: 0).wait(timeout: PATIENCE)
    assert_equal [true, false], [peers[1].connected?, peers[2].connected?]
    endpoints[2].close
    assert_error(Commnet::Unreachable, /the peer 'rank 2' is not connected: /) do
      peers[2].send_message("hello", handler: 0).wait(timeout: PATIENCE)
    end
    assert_same peers[3], endpoints[0].connect("rank 3@")
  end

  def check_peers(endpoint, rank, peers)
    names = Array.new(peers.size) { |other| "rank #{other}" unless other == rank }
    assert_equal(names, peers.map { |peer| peer&.name })
    assert_equal peers, (names.map { |name| endpoint.peer(name) if name })
  end

  # Returns a thread that waits for another endpoint, which does not come.
  def begin_meeting(endpoint)
    Dir.mktmpdir do |folder|
      thread = Thread.new { endpoint.join(rank: 0, size: 2, meeting: "file:#{folder}") }
      thread.report_on_exception = false
      eventually { File.exist?(File.join(folder, "0")) }
      thread
    end
  end
end
