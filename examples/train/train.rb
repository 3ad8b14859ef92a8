# frozen_string_literal: true

# Trains a convolutional network to read handwritten digits.
#
# Usage: ruby train.rb [--seed N] [--epochs N] [--device NAME] [--quiet] [--save GRAPH] [DATA]. This folder has the
# same program in Python and JavaScript. All of them print the same losses.

require "optparse"
require "zlib"
require "oneflow"

BATCH = 64
LEARNING_RATE = 5e-3
DROPOUT = 0.5
CLASSES = 10

# Returns the images (n, 1, 8, 8) and labels (n) to learn from, and those of every third image, held out.
def load_digits(path)
  lines = Zlib::GzipReader.open(path, &:readlines)
  table = OneFlow.tensor(lines.map { |line| line.split(",").map(&:to_i) })
  images = table[:all, 0...64].cast(:float32).reshape(-1, 1, 8, 8) / 16
  labels = table[:all, 64]
  held_out = (OneFlow.arange(labels.size) % 3).eq(0)
  [~held_out, held_out].map { |chosen| [images[chosen], labels[chosen]] }
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

# Returns the mean and the variance of each channel, which batch_norm moves in training and uses otherwise.
def initial_statistics = [OneFlow.zeros([32]), OneFlow.ones([32])]

# Returns a score for each image and class.
def network(params, statistics, images, training:)
  x = images.conv2d(params[:first_weight], bias: params[:first_bias], padding: 1).relu
  x = x.conv2d(params[:second_weight], bias: params[:second_bias], padding: 1).relu
  x = x.batch_norm(*statistics, weight: params[:norm_weight], bias: params[:norm_bias], training:)
  x = x.max_pool2d(2).flatten(1).dropout(p: DROPOUT, training:)
  x.linear(params[:last_weight], bias: params[:last_bias])
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
    OneFlow::Optim.adam!(@parameters, gradients, @averages, @squares, step: @taken, lr:)
  end
end

# Returns the time in seconds.
def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# Yields the images and labels in a random order, BATCH at a time.
def each_batch(images, labels)
  OneFlow.randperm(labels.size).split(BATCH).each { |chosen| yield images[chosen], labels[chosen] }
end

# Trains on all images in each epoch. Yields each epoch, its mean loss, and the images per second.
def train(params, statistics, images, labels, epochs)
  count = labels.size
  adam = Adam.new(params.values, epochs * count.fdiv(BATCH).ceil)
  1.upto(epochs) do |epoch|
    start = now
    total = 0.0
    each_batch(images, labels) do |some, truth|
      loss = OneFlow.cross_entropy(network(params, statistics, some, training: true), truth)
      adam.step(loss)
      total += loss.item * truth.size
    end
    yield epoch, total / count, count / (now - start)
  end
end

# Returns how many images have their highest score at the label.
def count_right(params, statistics, images, labels)
  guess = OneFlow.no_grad { network(params, statistics, images, training: false).argmax(dim: 1) }
  guess.eq(labels).sum.item
end

# Saves the network as a graph for any number of images: examples/c/classify.c runs it.
def save(params, statistics, path)
  weights = { **params, mean: statistics[0], variance: statistics[1] }
  graph = OneFlow::Graph.capture(OneFlow.ones(1, 1, 8, 8), dynamic: "count", weights:) do |images|
    network(params, statistics, images, training: false)
  end
  graph.save(path)
end

# Returns the options of the command line.
def parse_options
  options = { seed: 0, epochs: 20, device: OneFlow.default_device }
  OptionParser.new do |parser|
    parser.on("--seed N", Integer)
    parser.on("--epochs N", Integer)
    parser.on("--device NAME")
    parser.on("--quiet")
    parser.on("--save GRAPH")
  end.parse!(into: options)
  options
end

def main
  options = parse_options
  OneFlow.default_device = options[:device]
  OneFlow.manual_seed(options[:seed])
  learned, held_out = load_digits(ARGV[0] || File.join(__dir__, "..", "data", "digits.csv.gz"))

  params = initial_parameters
  statistics = initial_statistics
  train(params, statistics, *learned, options[:epochs]) do |epoch, loss, rate|
    puts format("epoch #{epoch}: loss %<loss>.10f, %<rate>.0f images/s", loss:, rate:) unless options[:quiet]
  end
  right = count_right(params, statistics, *held_out)
  count = held_out[1].size
  puts format("accuracy: %.6f (#{right} of #{count})", right.fdiv(count))
  save(params, statistics, options[:save]) if options[:save]
end

main
