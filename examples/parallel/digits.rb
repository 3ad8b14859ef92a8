# frozen_string_literal: true

# Trains a network to read handwritten digits, on several processes: each learns from its part of every batch.
#
# Usage: oneflow-run -n 4 ruby digits.rb [--epochs N] [DATA]. This folder has the same program in Python and JavaScript;
# the ranks of a job may run different ones. The losses are those of one process, but for rounding.

require "optparse"
require "zlib"
require "oneflow"

BATCH = 64
LEARNING_RATE = 5e-3
HIDDEN = 64
CLASSES = 10
COMM = OneFlow::Comm

# Returns the images (n, 64) and labels (n) to learn from, and those of every third image, held out.
def load_digits(path)
  lines = Zlib::GzipReader.open(path, &:readlines)
  table = OneFlow.tensor(lines.map { |line| line.split(",").map(&:to_i) })
  images = table[:all, 0...64].cast(:float32) / 16
  labels = table[:all, 64]
  held_out = (OneFlow.arange(labels.size) % 3).eq(0)
  [~held_out, held_out].map { |chosen| [images[chosen], labels[chosen]] }
end

# Returns random weights of a layer, and zeros.
def layer(inputs, outputs)
  [((OneFlow.rand([outputs, inputs]) * 2) - 1) * Math.sqrt(6.0 / inputs), OneFlow.zeros([outputs])]
end

# Returns a score for each image and class.
def network(parameters, images)
  weight, bias, last_weight, last_bias = parameters
  images.linear(weight, bias:).relu.linear(last_weight, bias: last_bias)
end

# Returns the part of this rank.
def own_part(indices) = OneFlow.tensor_split(indices, COMM.world_size)[COMM.rank]

# Returns the sums of tensors over all ranks. They travel as one.
def sum_over_ranks(tensors)
  total = COMM.all_reduce(OneFlow.cat(tensors.map(&:flatten)))
  total.split(tensors.map(&:numel)).zip(tensors).map { |part, each| part.reshape(each.shape) }
end

# Trains on all images in each epoch. Yields each epoch, and its mean loss.
def train(parameters, images, labels, epochs)
  averages, squares = Array.new(2) { parameters.map { |each| OneFlow.zeros_like(each) } }
  step = 0
  1.upto(epochs) do |epoch|
    total = 0.0
    # The batches are the same on all ranks, which have the same seed.
    OneFlow.randperm(labels.size).split(BATCH).each do |batch|
      own = own_part(batch)
      loss = OneFlow.cross_entropy(network(parameters, images[own]), labels[own], reduction: "sum") / batch.size
      *gradients, loss = sum_over_ranks([*OneFlow.grad(loss, parameters), loss.detach])
      step += 1
      OneFlow::Optim.adam!(parameters, gradients, averages, squares, step:, lr: LEARNING_RATE)
      total += loss.item * batch.size
    end
    yield epoch, total / labels.size
  end
end

def main
  options = { epochs: 10 }
  OptionParser.new { |parser| parser.on("--epochs N", Integer) }.parse!(into: options)
  epochs = COMM.broadcast_object(options[:epochs])
  OneFlow.manual_seed(0)
  learned, (images, labels) = load_digits(ARGV[0] || File.join(__dir__, "..", "data", "digits.csv.gz"))

  parameters = [*layer(64, HIDDEN), *layer(HIDDEN, CLASSES)].each(&:requires_grad!)
  train(parameters, *learned, epochs) do |epoch, loss|
    puts format("epoch #{epoch}: loss %.4f", loss) if COMM.rank.zero?
  end
  own = own_part(OneFlow.arange(labels.size))
  guess = OneFlow.no_grad { network(parameters, images[own]).argmax(dim: 1) }
  right = COMM.all_reduce(guess.eq(labels[own]).sum).item
  puts format("accuracy: %.4f (#{COMM.world_size} ranks)", right.fdiv(labels.size)) if COMM.rank.zero?
end

main
