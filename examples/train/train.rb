# frozen_string_literal: true

# Trains a convolutional network to read handwritten digits.
#
# Usage: ruby train.rb [--seed N] [--epochs N] [--device NAME] [--quiet] [DATA]. This folder has the same program in
# Python and JavaScript. All of them print the same losses.

require "optparse"
require "zlib"
require "oneflow"

BATCH = 64
LEARNING_RATE = 5e-3
DROPOUT = 0.5
CLASSES = 10

# Returns the images (n, 1, 8, 8) as float32 from 0 to 1, and the labels (n) as int64.
def load_digits(path)
  lines = Zlib::GzipReader.open(path, &:readlines)
  table = OneFlow.tensor(lines.map { |line| line.split(",").map(&:to_i) })
  [table[:all, 0...64].cast(:float32).reshape(-1, 1, 8, 8) / 16, table[:all, 64]]
end

# Returns random weights between -sqrt(6 / inputs) and sqrt(6 / inputs), which keep the variance through a relu.
def uniform(shape, inputs:)
  ((OneFlow.rand(shape) * 2) - 1) * Math.sqrt(6.0 / inputs)
end

# Returns what the network learns, by name.
def initial_parameters
  {
    first_weight: uniform([16, 1, 3, 3], inputs: 9),
    first_bias: OneFlow.zeros([16]),
    second_weight: uniform([32, 16, 3, 3], inputs: 144),
    second_bias: OneFlow.zeros([32]),
    norm_weight: OneFlow.ones([32]),
    norm_bias: OneFlow.zeros([32]),
    last_weight: uniform([CLASSES, 512], inputs: 512),
    last_bias: OneFlow.zeros([CLASSES])
  }
end

# Returns the mean and variance of each channel, which batch_norm keeps for images that are not trained on.
def initial_statistics = [OneFlow.zeros([32]), OneFlow.ones([32])]

# Returns a score for each image and class.
def network(parameters, statistics, images, training:)
  parameters => {first_weight:, first_bias:, second_weight:, second_bias:, norm_weight:, norm_bias:, last_weight:,
                 last_bias:}
  x = images.conv2d(first_weight, bias: first_bias, padding: 1).relu
  x = x.conv2d(second_weight, bias: second_bias, padding: 1).relu
  x = x.batch_norm(*statistics, weight: norm_weight, bias: norm_bias, training:)
  x = x.max_pool2d(2).flatten(1)
  x *= OneFlow.dropout_mask(x.detach, DROPOUT) if training
  x.linear(last_weight, bias: last_bias)
end

# Changes parameters by Adam, with a learning rate that falls from LEARNING_RATE to 0 in a number of steps.
class Adam
  def initialize(parameters, steps)
    @parameters = parameters.each(&:requires_grad!)
    @averages, @squares = Array.new(2) { parameters.map { |each| OneFlow.zeros_like(each) } }
    @taken = 0
    @steps = steps
  end

  # Computes the gradients of a loss, and moves the parameters against them.
  def step(loss)
    gradients = OneFlow.grad(loss, @parameters)
    lr = LEARNING_RATE * (1 - @taken.fdiv(@steps))
    @taken += 1
    OneFlow::Optim.adam_(@parameters, gradients, @averages, @squares, step: @taken, lr:)
  end
end

# Trains on batches in a random order. Yields the mean loss of each epoch.
def train(parameters, statistics, images, labels, epochs)
  count = images.shape[0]
  adam = Adam.new(parameters.values, epochs * count.fdiv(BATCH).ceil)
  epochs.times do
    total = 0.0
    OneFlow.randperm(count).split(BATCH).each do |batch|
      loss = OneFlow.cross_entropy(network(parameters, statistics, images[batch], training: true), labels[batch])
      adam.step(loss)
      total += loss.item * batch.shape[0]
    end
    yield total / count
  end
end

# Returns how many images have their highest score at the label.
def count_right(parameters, statistics, images, labels)
  guess = OneFlow.no_grad { network(parameters, statistics, images, training: false).argmax(dim: 1) }
  guess.eq(labels).sum.item
end

# Returns the options of the command line.
def parse_options
  found = { seed: 0, epochs: 20 }
  OptionParser.new do |options|
    options.on("--seed N", Integer)
    options.on("--epochs N", Integer)
    options.on("--device NAME")
    options.on("--quiet")
  end.parse!(into: found)
  found
end

# Trains, and prints a line for each epoch unless `quiet`.
def run(parameters, statistics, images, labels, epochs:, quiet:)
  epoch = 0
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  train(parameters, statistics, images, labels, epochs) do |loss|
    now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    epoch += 1
    puts format("epoch %d: loss %.12f, %.0f images/s", epoch, loss, images.shape[0] / (now - start)) unless quiet
    start = now
  end
end

def main
  options = parse_options
  OneFlow.default_device = options[:device] if options[:device]
  OneFlow.manual_seed(options[:seed])
  images, labels = load_digits(ARGV[0] || File.join(__dir__, "..", "data", "digits.csv.gz"))
  held_out = (OneFlow.arange(images.shape[0]) % 3).eq(0)

  parameters = initial_parameters
  statistics = initial_statistics
  run(parameters, statistics, images[~held_out], labels[~held_out], epochs: options[:epochs], quiet: options[:quiet])
  right = count_right(parameters, statistics, images[held_out], labels[held_out])
  count = held_out.sum.item
  puts format("accuracy: %.6f (%d of %d)", right.fdiv(count), right, count)
end

main
