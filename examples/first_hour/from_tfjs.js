// The first hour of someone who knows TensorFlow.js: tensors, operations, memory, and a model that learns a line.
const flow = require('oneflow-js');

const show = (...values) => console.log(values.map((each) => JSON.stringify(each)).join(' '));

// Tensors from nested arrays, typed arrays and shapes
const a = flow.tensor([[1, 2], [3, 4]]);
show(a.shape, a.rank, a.dtype); // [2,2] 2 "float32"
show(flow.tensor(Int32Array.of(1, 2, 3, 4), {shape: [2, 2]}).dtype); // "int32"
show(a.reshape(4, 1).shape, flow.zeros([2]).toArray()); // [4,1] [0,0]

// Operations, as methods and as functions; arrays and numbers are operands
show(a.add([10, 20]).toArray(), a.square().toArray()); // [[11,22],[13,24]] [[1,4],[9,16]]
show(flow.matmul(a, [[1], [1]]).toArray()); // [[3],[7]]
show(flow.concat([a, a], {axis: 1}).shape, flow.expandDims(a, 0).shape); // [2,4] [1,2,2]
show(flow.sum(a, {axis: 0}).toArray(), a.mean().item()); // [4,6] 2.5
show(flow.oneHot([0, 2]).shape, a.argmax({axis: 1}).toArray()); // [2,3] [1,1]

// Values: at once, or as a promise
show([...a.dataSync()]); // [1,2,3,4]
a.data().then(async (values) => {
  show(values.length); // 4

  // Memory: tidy() disposes of intermediate results
  const y = flow.tidy(() => a.mul(2).add(1).sqrt());
  show(y.isDisposed, y.shape); // false [2,2]

  // A model that learns y = 2 x + 1
  const xs = flow.tensor([[0], [1], [2], [3]]);
  const ys = flow.tensor([[1], [3], [5], [7]]);
  const parameters = [flow.zeros([1, 1], {requiresGrad: true}), flow.zeros([1], {requiresGrad: true})];
  for (let step = 0; step < 400; step++) {
    flow.tidy(() => {
      const loss = flow.nn.functional.mseLoss(xs.matmul(parameters[0]).add(parameters[1]), ys);
      flow.optim.sgd_(parameters, flow.grad(loss, parameters), {lr: 0.1});
    });
  }
  show(parameters.map((each) => Number(each.item().toFixed(2)))); // [2,1]
});
