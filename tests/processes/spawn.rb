# frozen_string_literal: true

# Runs scenarios of comm.spawn, and prints a line of JSON for each outcome.

require "json"
require "oneflow"

Comm = OneFlow::Comm

# Prints the result of a call, or its error.
def attempt(name)
  begin
    outcome = yield
  rescue OneFlow::Error => e
    outcome = { class: e.class.name.split("::").last, text: e.message, cause: e.cause && e.cause.class.name }
  end
  puts JSON.generate([name, outcome])
  $stdout.flush
end

def values
  raise "it is in a job of its own" unless Comm.rank.zero?

  Comm.finalize

  two = 2
  x = OneFlow.tensor([1, 2], dtype: :float16)
  bias = OneFlow.tensor(0.5).requires_grad!
  results = Comm.spawn(3, x) do |given|
    places = [Comm.rank, Comm.world_size, Comm.local_rank, Comm.local_world_size]
    { sum: Comm.all_reduce(given * two) + bias, places: }
  end
  results.each { |each| raise each.inspect unless each[:sum].dtype == x.dtype && each[:sum].device == x.device }
  results.map { |each| [each[:sum].to_a, each[:places]] }
end

def output
  Comm.spawn(2) do
    $stdout.puts "out #{Comm.rank}"
    $stderr.puts "err #{Comm.rank}"
  end
end

# Runs a job whose rank 1 does something, while rank 0 waits for it, and rank 2 works.
def fails
  Comm.spawn(3) do
    Comm.barrier
    yield if Comm.rank == 1
    Comm.barrier if Comm.rank.zero?
    sleep 100
  end
end

def unlucky = raise(IndexError, "no luck")

def returns = Comm.spawn(1) { return 1 }

def scenarios
  at_exit { puts JSON.generate(["at_exit", true]) }
  attempt("values") { values }
  attempt("output") { output }
  attempt("raises") { fails { unlucky } }
  attempt("killed") { fails { Process.kill(:KILL, Process.pid) } }
  attempt("exits") { fails { exit!(3) } }
  attempt("leaves") { Comm.spawn(2) { exit!(0) if Comm.rank == 1 } }
  attempt("result") { Comm.spawn(1) { -> {} } }
  attempt("function") { Comm.spawn(1) }
  ["2", 1.5, true, nil, 0, -1].each { |n| attempt("n") { Comm.spawn(n) { 1 } } }
  attempt("nested") { Comm.spawn(1) { [0, Comm.spawn(2) { Comm.world_size }] } }
  attempt("joined") { Comm.spawn(2) { Comm.barrier || Comm.spawn(1) { 1 } } }
  attempt("returns") { returns }
  own = -> { Object.const_set(:Own, Struct.new(:x)).new(1) }
  attempt("class") { Comm.spawn(1) { own.call } }
  attempt("raised class") { Comm.spawn(1) { raise Object.const_set(:Strange, Class.new(StandardError)), "strange" } }
  attempt("exit") { Comm.spawn(1) { exit } }
end

def waits
  Comm.spawn(2) do
    Comm.barrier
    puts "ready"
    sleep 100
  end
rescue Interrupt
  puts "interrupted"
end

ARGV == ["all"] ? scenarios : waits
