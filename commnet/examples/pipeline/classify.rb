# frozen_string_literal: true

# Rank 2 of the pipeline: has memory into which rank 1 writes features of digits, learns from the first of them, and
# sends rank 0 its guesses of the others: the labels of the nearest ones.

require "commnet"

TOKEN = 1 # numbers of handlers
ROWS = 2
LABELS = 3
GUESSES = 4
FEATURES = 16
ROW_BYTES = 4 * FEATURES
ROOM = 1000 # rows

# What is known of digits: pairs of features and labels.
class Classifier
  def initialize(rows, labels)
    @known = rows.zip(labels)
  end

  def classify(row) = @known.min_by { |other, _| distance(row, other) }.last

  private

  def distance(row, other)
    row.each_with_index.sum { |value, i| (value - other[i])**2 }
  end
end

# Returns rows of the memory, each as an Array.
def rows_of(buffer, first, count)
  buffer[first * ROW_BYTES, count * ROW_BYTES].unpack("e*").each_slice(FEATURES).to_a
end

Commnet::Endpoint.open(name: "ruby", secret: ENV.fetch("PIPELINE_SECRET")) do |endpoint|
  memory = endpoint.register(Commnet::Buffer.new(ROOM * ROW_BYTES), read: false, write: true)
  labels = Thread::Queue.new
  rows = Thread::Queue.new
  endpoint.on_message(LABELS) { |message| labels << message.data.bytes }
  endpoint.on_message(ROWS) { |message| rows << message.data.unpack("L<2") }
  endpoint.on_leave { rows.close }
  python, node, = endpoint.join
  node.send_message(memory.token(write: true).to_s, handler: TOKEN)

  classifier = nil
  while (first, count = rows.pop)
    batch = rows_of(memory.object, first, count)
    next classifier = Classifier.new(batch, labels.pop) unless classifier

    python.send_message(batch.map { |row| classifier.classify(row) }.pack("C*"), handler: GUESSES)
  end
end
