"""What the cases do not have: transfers while others are under way, groups that split, objects, graphs."""

import json

import oneflow_py as flow

comm = flow.comm
rank = comm.rank()


def show(value):
    print(json.dumps(value.tolist() if isinstance(value, flow.Tensor) else value), flush=True)


# A ring: each rank sends to the next one, while it receives from the one before.
own = flow.full([2], rank + 1.0)
work = comm.send_async(own, (rank + 1) % 3)
own.zero_()  # what is sent is what it was
show(comm.recv(flow.empty([2]), (rank + 2) % 3))
show(work.wait())
show(work.is_completed())

# The receiver sends back the gradient.
x = flow.tensor([1.0, 2.0], requires_grad=True)
if rank == 0:
    (comm.send(x, 2) * 0).sum().backward()
    show(x.grad)
if rank == 2:
    (comm.recv(x, 0) * flow.tensor([5.0, 7.0])).sum().backward()
    show(x.grad)

part = comm.world().split(rank % 2, -rank)
show([part.text, comm.rank(part), comm.world_size(part)])
show(comm.all_reduce(flow.tensor([float(rank)]), group=part))
show(comm.world().split(-1 if rank == 1 else 0) is None)

assert comm.broadcast_object({"lr": rank}) == {"lr": 0}
show(comm.broadcast_object({"a": [1, 2.5, None, True, "ü"], "b": {}} if rank == 1 else None, 1))

graph = flow.graph.capture(lambda x: comm.all_reduce(x * 2, group="0-2") + 1, flow.ones([2]))
for i in range(3):
    show(graph(flow.full([2], rank + i + 0.5)))
