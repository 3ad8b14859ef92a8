# frozen_string_literal: true

# Does what collectives.py does.

require "digest"
require "oneflow"

COMM = OneFlow::Comm
RANK = COMM.rank
SIZE = COMM.world_size
SMALL = 1000
LARGE = 400_000
LINES = []

def floats(count) = OneFlow.sin((OneFlow.arange(count, dtype: :float32) * 0.37) + RANK)

def note(name, result)
  LINES << "#{name} #{result.shape.inspect} #{Digest::MD5.hexdigest(result.to_binary)}"
end

note("all_reduce", COMM.all_reduce(floats(SMALL)))
note("all_reduce large", COMM.all_reduce(floats(LARGE)))
note("all_reduce mean", COMM.all_reduce(floats(SMALL), op: "mean"))
note("all_gather", COMM.all_gather(floats(3 + RANK)))
note("all_gather large", COMM.all_gather(floats(LARGE + RANK)))
note("reduce_scatter", COMM.reduce_scatter(floats(7)))
note("reduce_scatter large", COMM.reduce_scatter(floats(LARGE)))
note("all_to_all", COMM.all_to_all(floats(10)))
note("all_to_all large", COMM.all_to_all(floats(LARGE)))
note("broadcast", COMM.broadcast(floats(SMALL), SIZE - 1))
note("broadcast large", COMM.broadcast(floats(LARGE), SIZE - 1))
note("reduce", COMM.reduce(floats(SMALL), SIZE - 1))
note("gather", COMM.gather(floats(2 + RANK), SIZE - 1))
note("scatter", COMM.scatter(floats(11), SIZE - 1))
if RANK.zero?
  COMM.send(floats(LARGE), 1)
  COMM.send(floats(SMALL), 1, tag: 1)
end
if RANK == 1
  note("recv", COMM.recv(floats(LARGE), 0))
  note("recv small", COMM.recv(floats(SMALL), 0, tag: 1))
end
if RANK < 2
  pair = COMM::Group.new([0, 1])
  note("group", COMM.all_reduce(floats(SMALL), group: pair))
  note("group by text", COMM.all_gather(floats(2), group: "1,0"))
end
part = COMM.world.split(RANK % 2, -RANK)
note("part #{part.text}", COMM.all_gather(floats(2), group: part))
last = nil
50.times { last = COMM.all_reduce(floats(SMALL)) }
note("repeated", last)
COMM.barrier
begin
  COMM.all_reduce(floats(2 + RANK))
rescue OneFlow::CommunicationError => e
  LINES << "they differ: #{e.message.include?('the ranks differ at call') ? 'True' : 'False'}"
end
File.write("#{ARGV[0]}/#{RANK}.#{COMM.communicator}", LINES.join("\n"))
