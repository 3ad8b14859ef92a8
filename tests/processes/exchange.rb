# frozen_string_literal: true

# What the cases do not have: transfers while others are under way, groups that split, objects, graphs.

require "json"
require "oneflow"

COMM = OneFlow::Comm
RANK = COMM.rank

def show(value)
  puts JSON.generate(value.is_a?(OneFlow::Tensor) ? value.to_a : value)
  $stdout.flush
end

# A ring: each rank sends to the next one, while it receives from the one before.
own = OneFlow.full([2], RANK + 1.0)
work = COMM.send_async(own, (RANK + 1) % 3)
own.zero! # what is sent is what it was
show COMM.recv(OneFlow.empty([2]), (RANK + 2) % 3)
show work.wait
show work.is_completed

# The receiver sends back the gradient.
x = OneFlow.tensor([1.0, 2.0], requires_grad: true)
if RANK.zero?
  (COMM.send(x, 2) * 0).sum.backward
  show x.grad
end
if RANK == 2
  (COMM.recv(x, 0) * OneFlow.tensor([5.0, 7.0])).sum.backward
  show x.grad
end

part = COMM.world.split(RANK % 2, -RANK)
show [part.text, COMM.rank(part), COMM.world_size(part)]
show COMM.all_reduce(OneFlow.tensor([RANK.to_f]), group: part)
show COMM.world.split(RANK == 1 ? -1 : 0).nil?

raise "not that of rank 0" if COMM.broadcast_object({ "lr" => RANK }) != { "lr" => 0 }

show COMM.broadcast_object(RANK == 1 ? { "a" => [1, 2.5, nil, true, "ü"], "b" => {} } : nil, 1)

graph = OneFlow::Graph.capture(OneFlow.ones([2])) { |input| COMM.all_reduce(input * 2, group: "0-2") + 1 }
3.times { |i| show graph.call(OneFlow.full([2], RANK + i + 0.5)) }
