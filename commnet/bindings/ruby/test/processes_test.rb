# frozen_string_literal: true

require_relative "helper"

class ProcessesTest < CommnetTest
  SERVER = <<~RUBY
    endpoint = Commnet::Endpoint.new(name: "server", secret: "a secret", transports: "sockets")
    memory = endpoint.register("memory of the server", write: true)
    endpoint.on_message(1) { |message| message.peer.send_message(message.data.reverse, handler: 2) }
    endpoint.on_message(2) { |message| message.peer.send_message(memory.token(write: true).to_s, handler: 3) }
    puts endpoint.address
    $stdin.read
    endpoint.close
  RUBY

  def test_two_processes
    a = open_endpoint("a")
    answers = messages(a, 2)
    tokens = messages(a, 3)
    run_process(SERVER) do |input, output, thread|
      peer = a.connect(output.gets.chomp, timeout: PATIENCE)
      peer.send_message("abc", handler: 1)
      assert_equal "cba", take(answers).data
      peer.send_message("", handler: 2)
      token = Commnet::Token.new(take(tokens).data)
      peer.write(token, "MEMORY").wait(timeout: PATIENCE)
      assert_equal "MEMORY of the server", peer.read(token).wait(timeout: PATIENCE)
      input.close
      assert_predicate thread.value, :success?
      eventually { !peer.connected? }
    end
  end

  def test_a_killed_peer
    a = open_endpoint("a")
    left = Thread::Queue.new
    a.on_leave { |peer, error| left << [peer.name, error.class] }
    run_process(SERVER) do |_, output, thread|
      peer = a.connect(output.gets.chomp, timeout: PATIENCE)
      # Nobody handles it, so that the last of them wait for the window.
      sends = Array.new(30) { peer.send_message("x" * 1_000_000, handler: 9) }
      Process.kill(:KILL, thread.pid)
      assert_error(Commnet::PeerLost) { sends.last.wait(timeout: PATIENCE) }
      assert_equal ["server", Commnet::PeerLost], take(left)
      assert_error(Commnet::PeerLost) { peer.send_message("x", handler: 1).wait }
    end
  end

  def test_the_child_of_a_fork
    output = run_alone(<<~RUBY)
      a = Commnet::Endpoint.new(name: "a", transports: "sockets")
      b = Commnet::Endpoint.new(name: "b", transports: "sockets")
      peer = a.connect(b.address)
      memory = a.register("abc")
      token = memory.token
      queue = a.queue
      child = fork do
        calls = [-> { a.connect(b.address) }, -> { peer.send_message("x", handler: 1) }, -> { peer.read(token) },
                 -> { a.register("x") }, -> { queue.mark }, -> { memory.token }]
        calls.each do |call|
          call.call
          puts "no error"
        rescue Commnet::Closed => error
          puts error.message unless error.message.include?("belongs to the parent of this process")
        end
        puts "connected" if peer.connected?
        memory.release
        a.close
        a = b = peer = memory = queue = calls = nil
        GC.start
        c = Commnet::Endpoint.new(name: "c", transports: "sockets")
        d = Commnet::Endpoint.new(name: "d", transports: "sockets")
        puts c.connect(d.address).read(d.register("child").token).wait
      end
      _, status = Process.wait2(child)
      puts status.success?
      puts peer.connected?, b.connect(a.address).read(token).wait
    RUBY
    assert_equal %w[child true true abc], output.split
  end

  def test_open_endpoints_are_closed_at_exit
    output = run_alone(<<~RUBY)
      a = Commnet::Endpoint.new(name: "a", transports: "sockets")
      b = Commnet::Endpoint.new(name: "b", transports: "sockets")
      peer = a.connect(b.address)
      token = b.register("x" * 1_000_000).token
      500.times { peer.read(token) }
      puts "end"
    RUBY
    assert_equal "end\n", output
  end

  def test_exit_while_a_handler_runs
    {
      "sleep" => 0, "Thread::Queue.new.pop" => 0, "$sends.last.wait" => 0, "exit(3)" => 3, "Thread.current.kill" => 0,
      "raise NotImplementedError" => 0
    }.each do |handler, expected|
      paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
      command = ["timeout", "--signal=KILL", "60", RbConfig.ruby, *paths, "-r", "commnet", "-e", exit_program(handler)]
      _, status = Open3.capture2e(*command)
      assert_equal expected, status.exitstatus, "#{handler}: #{status}"
    end
  end

  def test_signals_while_waiting
    output = run_alone(<<~RUBY)
      a = Commnet::Endpoint.new(name: "a", transports: "sockets")
      b = Commnet::Endpoint.new(name: "b", transports: "sockets", receive_window: 1000)
      peer = a.connect(b.address)
      sends = Array.new(20) { peer.send_message("x" * 10_000, handler: 1) }
      Thread.new { sleep 0.1; Process.kill(:INT, Process.pid) }
      begin
        sends.last.wait
      rescue Interrupt
        puts "interrupted"
      end
    RUBY
    assert_equal "interrupted\n", output
  end

  private

  # Returns a program that ends while a handler runs, and sends are under way.
  def exit_program(handler)
    <<~RUBY
      b = Commnet::Endpoint.new(name: "b", transports: "sockets")
      a = Commnet::Endpoint.new(name: "a", transports: "sockets")
      begun = Thread::Queue.new
      b.on_message(1) do
        begun << true
        #{handler}
      end
      peer = a.connect(b.address)
      $sends = Array.new(10) { peer.send_message("x" * 2_000_000, handler: 2) }
      peer.send_message("", handler: 1, channel: 1)
      begun.pop
      sleep 0.05
    RUBY
  end
end
