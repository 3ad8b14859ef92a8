# frozen_string_literal: true

require_relative "helper"

# Memory of the library, whose bytes are a Buffer.
class AllocateTest < CommnetTest
  MEGABYTE = 1 << 20

  %w[shared sockets memory].each do |transport|
    define_method("test_reads_and_writes_over_#{transport}") do
      a, b, peer = connected_pair(transports: transport)
      [1, 100, 10_000, 5_000_003].each { |size| read_and_write(a, b, peer, size) }
    end

    define_method("test_release_while_peers_read_over_#{transport}") do
      _, b, peer = connected_pair(transports: transport)
      50.times do |i|
        memory = b.allocate(MEGABYTE, write: true)
        memory.object.replace(i.chr * MEGABYTE)
        token = memory.token(write: true)
        reads = Array.new(4) { peer.read(token) }
        write = peer.write(token, i.chr * MEGABYTE)
        peer.read(token, size: 1).wait(timeout: PATIENCE)
        memory.release
        [*reads, write].each { |each| await(each) }
        reads.select { |read| read.state == :done }.each { |read| assert_equal i.chr * MEGABYTE, read.value }
      end
    end
  end

  def test_rights_are_those_of_peers
    _, b, peer = connected_pair
    for_reading = b.allocate(4)
    for_reading.object.replace("abcd")
    assert_equal "abcd", peer.read(for_reading.token).wait
    assert_error(Commnet::InvalidArgument) { for_reading.token(write: true) }
    for_writing = b.allocate(4, read: false, write: true)
    peer.write(for_writing.token(write: true), "efgh").wait
    assert_equal "efgh", for_writing.object.to_s
    assert_error(Commnet::Denied) { peer.read(for_writing.token(write: true)).wait }
    assert_error(Commnet::InvalidArgument) { b.allocate(4, read: false) }
  end

  def test_sizes_that_are_not_possible
    a = open_endpoint("a")
    [0, -1, 1 << 64].each { |size| assert_error(Commnet::InvalidArgument, /size/) { a.allocate(size) } }
    [1 << 62, 1 << 63].each { |size| assert_error(Commnet::OutOfMemory) { a.allocate(size) } }
    [nil, "1", 1.0].each { |size| assert_error(Commnet::WrongType) { a.allocate(size) } }
    a.close
    assert_error(Commnet::Closed) { a.allocate(1) }
  end

  def test_released_memory
    _, b, peer = connected_pair
    memory = b.allocate(100, write: true)
    buffer = memory.object
    token = memory.token(write: true)
    memory.release
    memory.release
    refute_predicate memory, :registered?
    assert_nil memory.object
    assert_equal 0, buffer.bytesize
    assert_match(/0 bytes/, buffer.inspect)
    [-> { buffer.to_s }, -> { buffer[0] }, -> { buffer[0] = 1 }, -> { buffer[0, 0] }, -> { buffer.address },
     -> { buffer.dup }, -> { buffer.replace("") }, -> { peer.read(token, into: buffer) },
     -> { peer.write(token, buffer) }, -> { peer.send_message(buffer, handler: 1) }, -> { b.register(buffer) }]
      .each { |call| assert_error(Commnet::Closed, /released/, &call) }
    assert_error(Commnet::InvalidArgument) { buffer.send(:initialize, 5) }
    assert_error(Commnet::Closed) { memory.token }
  end

  def test_operations_and_registrations_keep_memory_from_its_release
    a = open_endpoint("a", linger: 0.01)
    b = open_endpoint("b", receive_window: 1000)
    peer = a.connect(b.address)
    memory = a.allocate(MEGABYTE)
    sends = Array.new(3) { peer.send_message(memory.object, handler: 1) } # nobody takes them
    assert_error(Commnet::InvalidArgument, /in use/) { memory.release }
    sends.each(&:cancel).each { |send| await(send) }
    again = b.register(memory.object, write: true)
    assert_error(Commnet::InvalidArgument, /in use/) { memory.release }
    assert_predicate memory, :registered?
    again.release
    memory.release
    # Calls that fail do not keep it.
    memory = a.allocate(10)
    token = b.register("0123456789").token
    assert_error(Commnet::OutOfRange) { peer.read(token, into: memory.object, size: 11) }
    assert_error(Commnet::OutOfRange) { peer.read(token, into: memory.object, offset: 1).wait }
    b.close
    assert_error(Commnet::Error) { peer.read(token, into: memory.object).wait }
    memory.release
  end

  def test_buffers_outlive_their_endpoint
    _, b, peer = connected_pair
    memory = b.allocate(MEGABYTE, write: true)
    memory.object[5] = "abc"
    buffer = memory.object
    token = memory.token
    b.close
    memory.release
    assert_nil memory.object
    GC.start
    assert_equal "abc", buffer[5, 3]
    buffer.replace("x" * MEGABYTE)
    assert_equal "xx", buffer.dup[MEGABYTE - 2, 2]
    assert_error(Commnet::PeerLost) { peer.read(token).wait }
    memory = nil # rubocop:disable Lint/UselessAssignment -- nothing but the buffer has the bytes
    GC.start
    assert_equal "x", buffer[MEGABYTE - 1, 1]
  end

  def test_buffers_in_use_when_their_endpoint_is_closed
    _, b, peer = connected_pair
    other = open_endpoint("c")
    target = b.register(Commnet::Buffer.new(5 * MEGABYTE), write: true)
    write = peer.write(target.token(write: true), filled(other, "y", 5 * MEGABYTE))
    other.close
    GC.start
    write.wait(timeout: PATIENCE)
    assert_equal "y" * (5 * MEGABYTE), target.object.to_s
  end

  def test_collector
    _, b, peer = connected_pair
    token = b.allocate(10, write: true).tap { |memory| memory.object.replace("0123456789") }.token(write: true)
    GC.stress = true
    3.times do
      scratch = b.allocate(10)
      assert_equal "0123456789", peer.read(token, into: scratch.object).wait.to_s
      peer.write(token, scratch.object).wait
      scratch.release
    end
    GC.stress = false
    50.times do
      GC.compact if GC.respond_to?(:compact)
      assert_equal "0123456789", peer.read(token).wait(timeout: PATIENCE)
    end
  ensure
    GC.stress = false
  end

  def test_buffers_of_closed_endpoints_are_collected
    program = <<~RUBY
      20.times do
        endpoint = Commnet::Endpoint.new(listen: "none")
        endpoint.allocate(1 << 20).object[0] = 1
        endpoint.close
      end
      20.times { GC.start }
      count = File.read("/proc/self/maps").scan("memfd:commnet").size
      puts count < 20 # the stack may hold some of them
    RUBY
    assert_equal "true\n", run_alone(program)
  end

  def test_two_threads
    _, b, peer = connected_pair
    threads = %w[a b].map do |letter|
      Thread.new do
        100.times do |i|
          memory = b.allocate(1 + (997 * i), write: true)
          peer.write(memory.token(write: true), letter * memory.bytesize).wait(timeout: PATIENCE)
          assert_equal letter * memory.bytesize, peer.read(memory.token).wait(timeout: PATIENCE)
          memory.release
        end
      end
    end
    threads.each { |thread| assert thread.join(PATIENCE) }
  end

  def test_an_endpoint_is_closed_while_threads_allocate
    20.times do
      a = open_endpoint("a")
      threads = Array.new(2) do
        Thread.new { loop { a.allocate(MEGABYTE).object[0] = 1 } }.tap { |thread| thread.report_on_exception = false }
      end
      sleep 0.002
      a.close
      threads.each { |thread| assert_raises(Commnet::Closed, NoMethodError) { thread.join(PATIENCE) } }
    end
  end

  def test_the_child_of_a_fork_shares_the_bytes
    output = run_alone(<<~RUBY)
      a = Commnet::Endpoint.new(name: "a")
      memory = a.allocate(8)
      buffer = memory.object
      child = fork do
        buffer[0] = "abcd"
        memory.release
        a.close
        memory = buffer = a = nil
        GC.start
      end
      _, status = Process.wait2(child)
      puts status.success?, buffer[0, 4]
      memory.release
    RUBY
    assert_equal %w[true abcd], output.split
  end

  def test_the_end_of_the_process
    ["", "b.close", "exit", "exit!(0)", "b = memory = nil; GC.start",
     "Thread.new { loop { b.allocate(9) } rescue nil }"].each do |last|
      output = run_alone(<<~RUBY)
        a = Commnet::Endpoint.new(name: "a")
        b = Commnet::Endpoint.new(name: "b")
        peer = a.connect(b.address)
        memory = b.allocate(1 << 20, write: true)
        $kept = memory.object
        500.times { peer.read(memory.token, into: $kept) }
        #{last}
      RUBY
      assert_equal "", output, last
    end
  end

  SERVER = <<~RUBY
    endpoint = Commnet::Endpoint.new(name: "server", secret: "a secret")
    memory = endpoint.allocate(1_000_000, write: true)
    memory.object.replace("a" * 1_000_000)
    puts endpoint.address, memory.token(write: true).to_s.unpack1("H*")
    $stdin.gets
    puts memory.object.to_s.squeeze
    $stdin.read
  RUBY

  ["shared", "sockets", nil].each do |transport|
    define_method("test_another_process_over_#{transport || "what_it_has"}") do
      a = open_endpoint("a", transports: transport)
      run_process(SERVER) do |input, output|
        peer = a.connect(output.gets.chomp, timeout: PATIENCE)
        assert_equal transport || "shared", peer.transport
        token = Commnet::Token.new([output.gets.chomp].pack("H*"))
        assert_equal "a" * 1_000_000, peer.read(token).wait(timeout: PATIENCE)
        peer.write(token, "b" * 999_998, offset: 1).wait(timeout: PATIENCE)
        input.puts
        assert_equal "aba\n", output.gets
      end
    end
  end

  private

  def read_and_write(owner, other, peer, size)
    memory = other.allocate(size, write: true)
    assert_equal [size, size, "\0" * size], [memory.bytesize, memory.object.bytesize, memory.object.to_s]
    token = memory.token(write: true)
    memory.object.replace("a" * size)
    assert_equal "a" * size, peer.read(token).wait(timeout: PATIENCE)
    peer.write(token, "b" * size).wait(timeout: PATIENCE)
    assert_equal "b" * size, memory.object.to_s
    mine = owner.allocate(size)
    assert_equal "b" * size, peer.read(token, into: mine.object).wait(timeout: PATIENCE).to_s
    mine.object[size - 1] = "c"
    peer.write(token, mine.object).wait(timeout: PATIENCE)
    assert_equal "c", memory.object[size - 1, 1]
    [mine, memory].each(&:release)
    assert_error(Commnet::Denied) { peer.read(token).wait(timeout: PATIENCE) }
  end

  def filled(endpoint, letter, size)
    endpoint.allocate(size).object.replace(letter * size)
  end

  # Waits for an operation, which may fail.
  def await(operation)
    operation.wait(timeout: PATIENCE)
  rescue Commnet::Denied, Commnet::Cancelled
    nil
  end
end
