# frozen_string_literal: true

# Rank 2 of the pipeline: has memory into which rank 1 writes features of digits, learns from the first of them, and
# writes its guesses of the others into a tensor of rank 0.

require "commnet"
require "oneflow"

TOKEN = 1 # numbers of handlers
ROWS = 2
LABELS = 3
DONE = 4
FEATURES = 16
ROW_BYTES = 4 * FEATURES
ROOM = 2000 # rows
GUESS_BYTES = 8

# Returns rows of the memory as a tensor (count, FEATURES).
def rows_of(buffer, first, count)
  OneFlow.from_binary(buffer[first * ROW_BYTES, count * ROW_BYTES], dtype: :float32, shape: [count, FEATURES])
end

# Returns the labels of the nearest rows of those that are known.
def classify(known, labels, rows)
  squares = (rows * rows).sum(dim: 1, keepdim: true) + (known * known).sum(dim: 1)
  labels[(squares - (OneFlow.einsum("ik,jk->ij", rows, known) * 2)).argmin(dim: 1)]
end

Commnet::Endpoint.open(name: "ruby", secret: ENV.fetch("PIPELINE_SECRET")) do |endpoint|
  memory = endpoint.register(Commnet::Buffer.new(ROOM * ROW_BYTES), read: false, write: true)
  labels = Thread::Queue.new
  tokens = Thread::Queue.new
  rows = Thread::Queue.new
  endpoint.on_message(LABELS) { |message| labels << OneFlow.from_binary(message.data, dtype: :int64) }
  endpoint.on_message(TOKEN) { |message| tokens << Commnet::Token.new(message.data) }
  endpoint.on_message(ROWS) { |message| rows << message.data.unpack("L<2") }
  endpoint.on_leave { rows.close }
  python, node, = endpoint.join
  node.send_message(memory.token(write: true).to_s, handler: TOKEN)
  guesses = tokens.pop
  known_labels = labels.pop

  known = nil
  while (first, count = rows.pop)
    batch = rows_of(memory.object, first, count)
    next known = batch unless known

    python.write(guesses, classify(known, known_labels, batch).to_binary, offset: first * GUESS_BYTES).wait
    python.send_message([first, count].pack("L<2"), handler: DONE)
  end
end
