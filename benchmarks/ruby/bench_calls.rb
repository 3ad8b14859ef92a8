# frozen_string_literal: true

# What `a + b` on 4 floats costs from Ruby. Peer: a bare C-extension method that returns a new typed-data object. Both take a turn in
# each round.

require "fileutils"
require "json"

ROOT = File.expand_path("../..", __dir__)
$LOAD_PATH.unshift(File.join(ROOT, "bindings/ruby/lib"))
require "oneflow"

ROUNDS = 15
CALLS = 200_000

# Compiles bare/ into the build folder when it is missing there, and loads it.
def load_bare
  folder = File.join(ENV.fetch("OF_BUILD", File.join(ROOT, "build")), "bare-ruby")
  unless File.exist?(File.join(folder, "bare.so"))
    FileUtils.mkdir_p(folder)
    commands = "ruby #{File.join(__dir__, 'bare/extconf.rb')} && make"
    system(commands, chdir: folder, out: File::NULL, exception: true)
  end
  require File.join(folder, "bare.so")
end

# Nanoseconds per `left + right`.
def time_of(left, right)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  i = 0
  while i < CALLS
    left + right
    i += 1
  end
  (Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - start) / CALLS.to_f
end

load_bare
a = OneFlow.tensor([1.0, 2.0, 3.0, 4.0])
b = OneFlow.tensor([1.0, 2.0, 3.0, 4.0])
bare = Bare.new
time_of(a, b)
time_of(bare, bare)
rounds = Array.new(ROUNDS) { [time_of(a, b), time_of(bare, bare)] }
ours, peer = rounds.transpose.map { |times| times.sort[ROUNDS / 2].round(1) }
puts JSON.generate(what: "Ruby a + b, 4 floats", unit: "ns", ours: ours, peers: { "bare typed data" => peer },
                   bounds: [{ peer: "bare typed data", at_most: 4.0 }])
