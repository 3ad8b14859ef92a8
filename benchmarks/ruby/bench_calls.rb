# frozen_string_literal: true

# Measures the cost of `a + b` on 4 floats, and of einsum for two 2 x 2 matrices, from Ruby. The peer is a minimal method
# of a C extension that returns a new typed-data object. All run once in each round.

require "fileutils"
require "json"

ROOT = File.expand_path("../..", __dir__)
$LOAD_PATH.unshift(File.join(ROOT, "bindings/ruby/lib"))
require "oneflow"

ROUNDS = 15
CALLS = 200_000

# Compiles bare/ into the build folder if it is missing there, and loads it.
def load_bare
  folder = File.join(ENV.fetch("OF_BUILD", File.join(ROOT, "build")), "bare-ruby")
  unless File.exist?(File.join(folder, "bare.so"))
    FileUtils.mkdir_p(folder)
    commands = "ruby #{File.join(__dir__, 'bare/extconf.rb')} && make"
    system(commands, chdir: folder, out: File::NULL, exception: true)
  end
  require File.join(folder, "bare.so")
end

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

# Returns the nanoseconds per `left + right`.
def time_of(left, right)
  start = now
  i = 0
  while i < CALLS
    left + right
    i += 1
  end
  (now - start) / CALLS.to_f
end

# Returns the nanoseconds per product. It repeats the loop above, because a block would add the cost of calling it.
def time_of_einsum(left, right)
  start = now
  i = 0
  while i < CALLS
    OneFlow.einsum("ij,jk->ik", left, right)
    i += 1
  end
  (now - start) / CALLS.to_f
end

def report(what, ours, peer, **rest)
  puts JSON.generate(what: what, unit: "ns", ours: ours, peers: { "bare typed data" => peer }, **rest)
end

load_bare
a = OneFlow.tensor([1.0, 2.0, 3.0, 4.0])
b = OneFlow.tensor([1.0, 2.0, 3.0, 4.0])
m, n = Array.new(2) { OneFlow.tensor([[1.0, 2.0], [3.0, 4.0]]) }
bare = Bare.new
round = -> { [time_of(a, b), time_of_einsum(m, n), time_of(bare, bare)] }
round.call
sum, product, peer = Array.new(ROUNDS) { round.call }.transpose.map { |times| times.sort[ROUNDS / 2].round(1) }
report("Ruby a + b, 4 floats", sum, peer, bounds: [{ peer: "bare typed data", at_most: 4.0 }])
report("Ruby einsum ij,jk->ik, 2 x 2", product, peer, references: { target: 450 }, bounds: [{ peer: "target", at_most: 1.0 }])
