# frozen_string_literal: true

module Commnet # rubocop:disable Style/Documentation -- documented in commnet.rb
  # What a process takes part with. It lives until it is closed, or the process ends.
  #
  # Handlers run one at a time on a thread of the endpoint; they may wait for operations, and close the endpoint.
  class Endpoint
    include Dispatcher

    # For how many seconds a process that ends waits for handlers that run.
    LONGEST_EXIT = 1
    private_constant :LONGEST_EXIT

    attr_reader :name, :address

    # Opens an endpoint for the time of a block, and returns what the block does. Without a block, it is `new`.
    def self.open(**options)
      endpoint = new(**options)
      return endpoint unless block_given?

      begin
        yield endpoint
      ensure
        endpoint.close
      end
    end

    # Opens an endpoint.
    #
    # name::           unique in a job; default: host name, process and a number
    # secret::         a String that all endpoints of a job know, and nobody else
    # transports::     names, best first, such as %w[memory shared sockets]; default: all that are available
    # listen::         URLs where peers can connect, such as "tcp://0.0.0.0:7000" or "shared:a"; "none"; default: a free
    #                  port of this machine, and a Unix socket without a file. Processes of the user on this machine can
    #                  connect through shared memory, unless it is "none"
    # busy_poll::      for how many seconds progress looks for work before it sleeps; takes a processor; default: some
    #                  microseconds, while that spares sleeps
    # peer_timeout::   the seconds after which a silent peer is lost; default: 10
    # streams::        connections per peer over TCP
    # receive_window:: bytes of messages from each peer that are kept before they are handled
    # send_limit::     bytes of messages to each peer that wait for its window; beyond it, send_message raises Full
    # message_limit::  the most bytes of a message that is received
    # linger::         for how many seconds close waits until messages are on their way; default: 1
    def initialize(name: nil, secret: nil, transports: nil, listen: nil, busy_poll: nil, peer_timeout: nil,
                   streams: nil, receive_window: nil, send_limit: nil, message_limit: nil, linger: nil)
      start(name, secret, list("transports", transports), list("listen", listen),
            [busy_poll, peer_timeout, streams, receive_window, send_limit, message_limit, linger])
      @name = native_name.freeze
      @address = native_address.freeze
      @handlers = {}
      Endpoint.open_endpoints[self] = true
      start_dispatcher
    rescue ThreadError
      close
      raise
    end

    # Closes the endpoint: peers see it leave, and its operations fail with Cancelled. Waits for a handler that runs,
    # unless it is the caller. Does nothing if it is closed, or in a child that was forked. Warns if messages could not
    # be sent within the time to linger.
    def close
      end_operations
      await_handlers(nil)
      warn("commnet: #{@unsent}", uplevel: 0) if @unsent
      @unsent = nil
      nil
    end

    # Connects to the endpoint of an address, and returns the Peer. Raises Unreachable, Denied or TimedOut.
    def connect(address, timeout: 5)
      operation = begin_connect(address, timeout:)
      operation.wait
    ensure
      operation&.cancel
    end

    # Begins a connection; the value of the operation is the Peer.
    def begin_connect(address, timeout: nil) = start_connect(address, timeout)

    # Connects with all other endpoints of a job, and returns the Peers by their rank; nil for the own rank. Other
    # threads run meanwhile.
    #
    # rank, size:: the number of this endpoint, and how many there are; default: from the environment of mpirun or
    #              Slurm, or COMMNET_RANK and COMMNET_SIZE
    # meeting::    "file:/a/folder" that all processes share and that is empty before, or "tcp://host:port", where the
    #              endpoint of rank 0 opens a rendezvous service; default: COMMNET_MEETING
    # timeout::    seconds; default: 60
    def join(rank: nil, size: nil, meeting: nil, timeout: nil)
      raise InvalidArgument, "join: rank and size belong together" if rank.nil? != size.nil?
      raise InvalidArgument, "join: size must be at least 1, got 0" if size == 0 # rubocop:disable Style/NumericPredicate -- of any object

      join_job(rank || 0, size || 0, meeting, timeout)
    end

    # Returns the connected peer of a name; nil if there is none.
    def peer(name) = find_peer(name)

    # Calls the block with each message for a number. Messages that came before wait for it.
    def on_message(number, &block)
      raise InvalidArgument, "on_message needs a block" unless block

      set_handler(number, block)
    end

    # Removes the handler of a number: further messages wait for another one, but those that are about to be
    # handled are dropped.
    def remove_handler(number) = set_handler(number, nil)

    # Calls the block with each peer that connects, whoever began.
    def on_join(&block)
      watch_peers
      @on_join = block
      self
    end

    # Calls the block with each peer that leaves or is lost, and the error that says why.
    def on_leave(&block)
      watch_peers
      @on_leave = block
      self
    end

    # Calls the block with what handlers raise, instead of a warning.
    def on_error(&block)
      @on_error = block
      self
    end

    # Lets peers access memory: a Commnet::Buffer, an IO::Buffer, which is locked, or a Commnet::Address. Of a String,
    # peers access a copy, the Buffer Memory#object.
    def register(memory, read: true, write: false) = register_memory(memory, Memory.rights(read:, write:))

    # Allocates bytes, which are zero, and registers them. Peers of the same host and user read and write them without a
    # system call. Memory#object is the Buffer that has them. Memory#release frees them; those that are not released
    # before the endpoint is closed live as long as the Buffer.
    def allocate(size, read: true, write: false) = allocate_memory(size, Memory.rights(read:, write:))

    def initialize_copy(_other) = raise(WrongType, "an endpoint cannot be copied")

    def inspect = "#<#{self.class} #{name}#{", closed" if closed?}>"

    @open_endpoints = {}.compare_by_identity

    class << self
      # The endpoints that keep the process from collecting them.
      attr_reader :open_endpoints

      # Closes all endpoints of this process. A handler may wait for operations of other endpoints, so that all are
      # closed first, and one that does not end cannot keep the process.
      def close_all
        endpoints = open_endpoints.keys
        endpoints.each { |endpoint| endpoint.__send__(:end_operations) }
        limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + LONGEST_EXIT
        endpoints.each { |endpoint| endpoint.__send__(:await_handlers, limit) }
      end
    end

    private

    def set_handler(number, block)
      raise WrongType, "number must be Integer" unless Integer === number # rubocop:disable Style/CaseEquality

      was = @handlers[number]
      begin
        @handlers[number] = block
        receive(number, !block.nil?)
      rescue StandardError
        @handlers[number] = was
        raise
      end
      self
    end

    # Returns the text that the library takes for an Array or a String of names.
    def list(what, value)
      case value
      when nil, String then value
      when Array then value.join(",")
      else raise WrongType, "#{what} must be String or Array, got #{value.class}"
      end
    end
  end

  # Ruby frees objects in no particular order when it exits, while peers might still access them.
  at_exit { Endpoint.close_all }
end
