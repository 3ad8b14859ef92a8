# frozen_string_literal: true

# Classifies handwritten digits: standardises the pixels, projects them with PCA, and finds the k nearest neighbours.
#
# Usage: ruby digits.rb [--device NAME] [--profile FILE] [DATA]. This folder has the same program in Python and
# JavaScript.

require "optparse"
require "zlib"
require "oneflow"

COMPONENTS = 16
STEPS = 100
NEIGHBOURS = 5
CLASSES = 10

# Returns the images (n, 64) as float64 and the labels (n) as int64.
def load_digits(path)
  lines = Zlib::GzipReader.open(path, &:readlines)
  table = OneFlow.tensor(lines.map { |line| line.split(",").map(&:to_i) })
  [table[:all, 0...64].cast(:float64), table[:all, 64]]
end

# Scales each pixel to zero mean and unit variance over the training images. Constant pixels become zero.
def standardise(train, test)
  mean = train.mean(dim: 0)
  std = train.std(dim: 0)
  scale = OneFlow.where(std > 0, std, 1.0)
  [(train - mean) / scale, (test - mean) / scale]
end

# Returns the leading eigenvectors (64, COMPONENTS) of the covariance, and their share of the variance. Computes them by
# power iteration with deflation.
def principal_components(data)
  covariance = OneFlow.einsum("ni,nj->ij", data, data) / (data.shape[0] - 1)
  total = covariance.diagonal.sum
  explained = 0.0
  vectors = Array.new(COMPONENTS) do |component|
    vector = leading_vector(covariance)
    value = OneFlow.einsum("i,ij,j->", vector, covariance, vector)
    covariance -= value * OneFlow.outer(vector, vector)
    explained += value / total
    $stderr.print "\rcomponent #{component + 1} of #{COMPONENTS}"
    vector
  end
  $stderr.puts
  [OneFlow.stack(vectors, dim: 1), explained.item]
end

# Returns the eigenvector (n) of the largest eigenvalue of a symmetric matrix (n, n).
def leading_vector(matrix)
  vector = OneFlow.ones([matrix.shape[0]], dtype: :float64)
  STEPS.times do
    vector = OneFlow.matmul(matrix, vector)
    vector /= (vector * vector).sum.sqrt
  end
  vector
end

# Returns the most frequent label among the nearest training points; of equally frequent ones, the smallest.
def classify(train, labels, test)
  squares = (test * test).sum(dim: 1, keepdim: true) + (train * train).sum(dim: 1)
  distances = squares - (OneFlow.einsum("ik,jk->ij", test, train) * 2)
  _, nearest = OneFlow.topk(distances, NEIGHBOURS, dim: 1, largest: false)
  votes = labels[nearest].unsqueeze(2).eq(OneFlow.arange(CLASSES))
  votes.sum(dim: 1).argmax(dim: 1)
end

# Counts how often each digit (row) was classified as each digit (column).
def confusion_matrix(truth, guess)
  matrix = OneFlow.zeros([CLASSES, CLASSES], dtype: :int64)
  matrix.index_put!([truth, guess], OneFlow.ones([truth.shape[0]], dtype: :int64), accumulate: true)
end

# Learns from two thirds of the images, and classifies the others.
def compute(images, labels)
  held_out = (OneFlow.arange(images.shape[0]) % 3).eq(0)
  train, test = standardise(images[~held_out], images[held_out])
  basis, explained = principal_components(train)
  guess = classify(train.matmul(basis), labels[~held_out], test.matmul(basis))
  truth = labels[held_out]
  [train, test, explained, truth, guess, guess.eq(truth).sum.item]
end

# Returns the file that the trace is to be written to; nil if there is to be no profile.
def parse_options
  trace = nil
  OptionParser.new do |options|
    options.on("--device NAME") { |name| OneFlow.default_device = name }
    options.on("--profile FILE") { |file| trace = file }
  end.parse!
  trace
end

def main
  trace = parse_options
  images, labels = load_digits(ARGV[0] || File.join(__dir__, "..", "data", "digits.csv.gz"))
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  found = nil
  profile = OneFlow.profile { found = compute(images, labels) } if trace
  train, test, explained, truth, guess, right = found || compute(images, labels)
  seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  puts "device: #{images.device}"
  puts "images: #{train.shape[0]} to learn from, #{test.shape[0]} to classify"
  puts format("variance explained by #{COMPONENTS} components: %.12f", explained)
  puts format("accuracy: %.6f (#{right} of #{test.shape[0]})", right.to_f / test.shape[0])
  puts "confusion matrix:"
  puts confusion_matrix(truth, guess).to_s
  puts format("time: %.3f s", seconds)
  return unless profile

  profile.save(trace)
  puts profile.table
end

main
