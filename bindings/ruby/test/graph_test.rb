# frozen_string_literal: true

require_relative "helper"
require "pathname"
require "tmpdir"

# Tests graphs: capture with fixed and varying sizes, what cannot be captured, states, files, runs on threads.
class GraphTest < OneFlowTest
  def ones(...) = OneFlow.ones(...)

  def randn(...) = OneFlow.randn(...)

  def capture(...) = OneFlow::Graph.capture(...)

  # Replaces tensors by their properties and elements.
  def plain(value)
    case value
    when OneFlow::Tensor then [value.dtype, value.shape, value.to_binary]
    when Array then value.map { |item| plain(item) }
    else value.transform_values { |item| plain(item) }
    end
  end

  # Captures a block with the first arguments, and asserts that the graph computes what it does for all.
  def agrees(*examples, **options, &block)
    graph = capture(examples[0], **options, &block)
    examples.each { |arguments| assert_equal plain(block.call(*arguments)), plain(graph.call(*arguments)) }
    graph
  end

  # ---------------------------------------------------------------- capture

  def test_a_graph_computes_what_the_block_does
    weight = randn(4, 3)
    bias = randn(3)
    graph = agrees([randn(2, 4), randn(3)], [randn(2, 4), randn(3)]) do |x, scale|
      OneFlow.softmax((x.matmul(weight) + bias).tanh * scale, dim: -1)
    end
    assert_equal %w[x scale], graph.inputs.map(&:name)
    assert_equal ["x", :float32, "cpu:0", %w[2 4]], graph.inputs[0].to_a
    assert_equal [%w[2 3]], graph.outputs.map(&:shape)
    assert_equal "#<OneFlow::Graph(x: float32[2, 4], scale: float32[3]) of 5 calls>", graph.inspect
    assert_equal plain({ "constant" => weight, "constant.1" => bias }), plain(graph.constants)
    assert_includes graph.to_s, "matmul(input=%0, other=%"
  end

  def test_the_only_argument_may_stand_alone
    graph = capture(ones(2)) { |x| x + 1 }
    assert_equal [2.0, 2.0], graph.call(ones(2)).to_a
    graph = capture({ "a" => ones(2), "b" => [ones(2)] }) { |x| x["a"] + x["b"][0] }
    assert_equal %w[x.a x.b.0], graph.inputs.map(&:name)
    assert_equal [[2.0, 2.0], [4.0, 4.0]], [ones(2), ones(2) * 3].map(&capture(ones(2)) { |x| x + 1 }).map(&:to_a)
  end

  def test_nested_arguments_and_results
    state = { layers: [randn(3, 3), OneFlow.arange(2)], unused: ones(1) }
    step = lambda do |given, x|
      first, second = given[:layers]
      { "y" => first.matmul(x), "rest" => [second + 1, { "x" => x, "empty" => {} }] }
    end
    graph = agrees([state, randn(3)], &step)
    assert_equal %w[given.layers.0 given.layers.1 given.unused x], graph.inputs.map(&:name)
    assert_equal [1.0] * 3, graph.call(x: ones(3), given: state)["rest"][1]["x"].to_a
    assert_equal %w[y], capture(ones(1)) { |x| { y: x } }.call(ones(1)).keys
    assert_error(OneFlow::TypeMismatch, "run: the arguments are nested in another way than at the capture; " \
                                        "see inputs") { graph.call({ layers: [] }, ones(3)) }
  end

  def test_names_of_arguments
    x = ones(2)
    graphs = [
      capture([x, x]) { |a, b = nil, *, c: 1| a + b + c }, capture([x], &:relu), capture(x) { _1 * 2 },
      capture([x, x]) { |*all| all.sum }, capture([x, x]) { |_, _| x }, capture([[x], x]) { |(a), b| a + b },
      capture([]) { x }
    ]
    two = %w[input0 input1]
    assert_equal [%w[a b], %w[input0], %w[input0], two, two, %w[input0.0 input1], []],
                 (graphs.map { |graph| graph.inputs.map(&:name) })
  end

  def test_weights_have_names
    weight = randn(3, 2)
    bias = OneFlow.zeros(2)
    graph = capture(ones(1, 3), weights: { layers: [{ weight: }], "bias" => bias }) { |x| x.matmul(weight) + bias }
    assert_equal %w[layers.0.weight bias], graph.constants.keys
  end

  def test_later_writes_to_weights_do_not_reach_the_graph
    weight = ones(2)
    graph = capture(ones(2)) { |x| x * weight }
    weight.fill!(0)
    graph.constants["constant"].fill!(7)
    assert_equal [1.0, 1.0], graph.call(ones(2)).to_a
  end

  def test_gradients
    weight = ones(2).requires_grad!
    graph = capture(ones(2)) { |x| (x * weight).sum }
    refute_predicate graph.call(ones(2)), :requires_grad?
    x = tensor([1.0, 2.0]).requires_grad!
    graph.call(x).backward
    assert_equal [1.0, 1.0], x.grad.to_a
    agrees([randn(3)], [randn(3)]) do |y|
      y = y.detach.requires_grad!
      OneFlow.grad((y.sin * y).sum, [y])[0]
    end
  end

  def test_random_operators_draw_from_the_generator_of_the_run
    own = OneFlow::Generator.new(3)
    graph = capture(OneFlow.zeros(3)) { |x| x + OneFlow.rand(3) + OneFlow.rand(3, generator: own) }
    assert_equal OneFlow::Generator.new(3).state, own.state
    refute_equal graph.call(OneFlow.zeros(3)).to_a, graph.call(OneFlow.zeros(3)).to_a
    runs = Array.new(2) { graph.call(OneFlow.zeros(3), generator: OneFlow::Generator.new(5)).to_a }
    assert_equal(*runs)
  end

  def test_states
    total = OneFlow.zeros(2)
    count = OneFlow.zeros(1)
    graph = capture(ones(2), weights: { total:, count: }) do |x|
      total.add!(x)
      count[0] += 1
      x.mul!(0)
      total / count
    end
    assert_equal [0.0, 0.0], total.to_a
    x = tensor([2.0, 4.0])
    result, states = graph.call(x, states: true)
    assert_equal [2.0, 4.0], result.to_a
    assert_equal({ "x" => [0.0, 0.0], "total" => [2.0, 4.0], "count" => [1.0] }, states.transform_values(&:to_a))
    assert_equal [[2.0, 4.0], [0.0, 0.0]], [x.to_a, total.to_a]
    assert_equal %w[x total count], graph.states.map(&:name)
    assert_equal 1, graph.outputs.size
  end

  # ---------------------------------------------------------------- varying sizes

  def test_sizes_follow_from_those_of_the_inputs
    weight = randn(4, 3, 3, 3)
    examples = [[2, 16, 16], [1, 9, 31], [5, 22, 6]].map { |n, height, width| [randn(n, 3, height, width)] }
    graph = agrees(*examples, dynamic: { image: ["n", nil, :height, "width"] }) do |image|
      n, _, height, width = image.shape
      x = OneFlow.conv2d(image, weight, stride: 2, padding: 1)
      rows = x.shape[2] * x.shape[3]
      x = x.reshape(n, 4, rows).transpose(1, 2)
      { "x" => x, "first" => image[nil.., nil.., ...(height - 3), (width / 2)..], "mean" => image.sum / image.size }
    end
    assert_equal "n", graph.outputs[0].shape[0]
    assert_equal %w[n height width], graph.sizes.keys
    assert_includes graph.to_s, "[n, 4, (height + 1)/2, (width + 1)/2]"
  end

  def test_one_name_is_the_first_dimension_of_all_inputs
    [:batch, "batch", [:batch], { 0 => { 0 => :batch }, "y" => ["batch"] }].each do |dynamic|
      graph = agrees([ones(2, 3), ones(2)], [ones(7, 3), ones(7)], dynamic:) { |x, y| x + y[nil.., nil] }
      assert_equal({ "batch" => 1.. }, graph.sizes)
      assert_error(OneFlow::ShapeError, "run: dimension 0 of input 'y' must be 7, as 'batch' is elsewhere, got 6") do
        graph.call(ones(7, 3), ones(6))
      end
    end
  end

  def test_ranges
    ranges = [(4..64) % 4, (4...68) % 4, (4..) % 4, 2.., 2..9, 2...10]
    found = ranges.map do |range|
      capture(ones(8), dynamic: :time, ranges: { time: range }) { |x| x * x.size }.sizes["time"]
    end
    assert_equal [ranges[0], ranges[0], *ranges[2..4], 2..9], found
    graph = capture(ones(8), dynamic: "time", ranges: { "time" => (4..64) % 4 }) { |x| x.reshape(x.size / 4, 4).sum(1) }
    assert_equal [16], graph.call(ones(64)).shape
    [6, 68].each do |size|
      text = "run: 'time' must be between 4 and 64 in steps of 4, got #{size} in dimension 0 of input 'x'"
      assert_error(OneFlow::ShapeError, text) { graph.call(ones(size)) }
    end
  end

  def test_control_flow_on_sizes_is_an_error
    error = assert_raises(OneFlow::InvalidArgument) do
      capture(ones(3), dynamic: :n) { |x| x.shape[0] > 3 ? x.relu : x.tanh }
    end
    assert_match(/call 0 is relu, not tanh/, error.message)
    error = assert_raises(OneFlow::InvalidArgument) do
      capture(ones(3), dynamic: :n) { |x| x + tensor([*0...x.shape[0]]) }
    end
    assert_match(/whose elements depend on sizes/, error.message)
  end

  # ---------------------------------------------------------------- refusals

  def test_elements_cannot_be_read
    reads = [
      ->(x) { x.sum.item }, :to_a, :inspect, ->(x) { x.sum.to_f }, ->(x) { OneFlow.equal(x, x) }, ->(x) { x[x > 1] },
      ->(x) { OneFlow.nonzero(x) }, ->(x) { OneFlow.save(x, "never.npy") }, ->(x) { x.each(&:abs) }, :to_binary
    ]
    reads.each do |read|
      error = assert_raises(OneFlow::Unsupported, read.to_s) do
        capture(ones(3)) do |x|
          read.to_proc.call(x + 1)
          x
        end
      end
      assert_includes error.backtrace.join, __FILE__
      assert_equal [2.0, 2.0], (ones(2) + 1).to_a
    end
  end

  def test_constants_can_be_read
    scale = tensor(2.0)
    assert_in_delta 2.0, capture(ones(1)) { |x| x * scale.item }.call(ones(1)).item
  end

  # A block may end in any way: the calls after it compute again.
  def test_blocks_that_do_not_return
    assert_raises(KeyError) { capture(ones(3)) { raise KeyError } }
    assert_equal 5, capture(ones(3)) { break 5 }
    assert_equal 6, catch(:done) { capture(ones(3)) { throw :done, 6 } }
    thread = Thread.new { capture(ones(3)) { Thread.stop } }
    Thread.pass until thread.stop?
    thread.kill.join
    assert_in_delta 3.0, ones(3).sum.item
    values = [nil, 3, [nil], { 1 => ones(1) }]
    values.each { |value| assert_raises(OneFlow::TypeMismatch) { capture(ones(3)) { value } } }
    assert_in_delta 3.0, ones(3).sum.item
  end

  def test_values_of_an_ended_capture_are_useless
    kept = nil
    capture(ones(2)) { |x| (kept = x + 1) && x }
    errors = [-> { kept + 1 }, -> { capture(ones(2)) { |x| x + kept } }].map do |use|
      assert_raises(OneFlow::InvalidArgument, &use).message
    end
    errors.each { |text| assert_match(/one that has ended/, text) }
  end

  def test_captures_nest
    agrees([ones(2)]) { |x| capture(ones(2)) { |y| y * 2 }.call(x) + 1 }
  end

  def test_a_block_that_changes_the_examples
    examples = { "x" => [ones(2)] }
    graph = capture(examples, dynamic: :n) do |given|
      examples.clear
      given["x"].pop + 1
    end
    assert_equal [2.0] * 3, graph.call({ "x" => [ones(3)] }).to_a
  end

  def test_wrong_arguments
    graph = capture([ones(2, 3), ones(3)]) { |x, y| x.matmul(y) }
    x = ones(2, 3)
    y = ones(3)
    mismatch = OneFlow::TypeMismatch
    [
      [-> { graph.call(x) }, mismatch, "run: missing argument 'y'"],
      [-> { graph.call(x, y, y) }, mismatch, "run: the graph takes 2 arguments, got 3"],
      [-> { graph.call(x, z: y) }, mismatch, "run: there is no argument 'z'; the graph takes x, y"],
      [-> { graph.call(x, x: y) }, mismatch, "run: the argument 'x' is given twice"],
      [-> { graph.call(x, 3) }, mismatch, "run: an item of the arguments must be Tensor, Hash or Array, got Integer"],
      [-> { graph.call(x, y, states: 1) }, mismatch, "run: states must be bool, got Integer"],
      [-> { graph.call(x, y, generator: 1) }, mismatch, "run: generator must be Generator or nil, got Integer"],
      [-> { graph.call(x, OneFlow::Tensor.allocate) }, OneFlow::InvalidArgument,
       "run: an item of the arguments must be a live Tensor, got one that was never given a value"],
      [-> { graph.call(ones(2, 4), y) }, OneFlow::ShapeError,
       "run: dimension 1 of input 'x' must be 3, got shape [2, 4]"],
      [-> { graph.call(x, ones(3, 1)) }, OneFlow::ShapeError,
       "run: input 'y' must have 1 dimensions, got shape [3, 1]"],
      [-> { graph.call(x, OneFlow.arange(3)) }, OneFlow::DTypeError,
       "run: input 'y' must be a float32 tensor, got int64"]
    ].each { |call, error, text| assert_error(error, text, &call) }
  end

  def test_wrong_captures
    mismatch = OneFlow::TypeMismatch
    invalid = OneFlow::InvalidArgument
    of = ->(example = ones(2, 3), **options) { -> { capture(example, **options) { |x| x } } }
    one_name = "capture: dynamic must be one name for the first dimension of all inputs, or a Hash of the inputs' " \
               "dimensions, got "
    no_range = "capture: ranges['n'] must be a Range or an arithmetic sequence of sizes that is not empty, got "
    [
      [-> { capture(ones(1)) }, mismatch, "capture: missing block"],
      [of.call(3), mismatch, "capture: example_inputs must be Tensor, Hash or Array, got Integer"],
      [of.call(dynamic: 3), mismatch, "#{one_name}Integer"],
      [of.call(dynamic: %w[a b]), mismatch, "#{one_name}[\"a\", \"b\"]"],
      [of.call(dynamic: { z: ["n"] }), invalid, "capture: dynamic has no input :z; there are x"],
      [of.call(dynamic: { 1 => ["n"] }), invalid, "capture: dynamic has no input 1; there are x"],
      [of.call(dynamic: { x: "n" }), mismatch, "capture: dynamic[:x] must be Hash or Array, got String"],
      [of.call(dynamic: { x: [3] }), mismatch,
       "capture: dynamic must give names of sizes by dimension, got 3 for 0"],
      [of.call(dynamic: { x: { "0" => "n" } }), mismatch,
       'capture: dynamic must give names of sizes by dimension, got "n" for "0"'],
      [of.call(dynamic: { x: %w[n n] }), invalid,
       "capture: the size 'n' is 2 in one dimension, and 3 in dimension 1 of 'x'"],
      [of.call(dynamic: { x: { 5 => "n" } }), OneFlow::IndexOutOfRange,
       "capture: input 'x' has no dimension 5 for size 'n': its shape is [2, 3]"],
      [of.call(dynamic: :n, ranges: 3), mismatch, "capture: ranges must be Hash or nil, got Integer"],
      [of.call(dynamic: :n, ranges: { m: 1..3 }), invalid,
       "capture: ranges has 'm', which no dimension has in dynamic"],
      *[3, 3..2, "a".."b", 1.5..3, -1..3, nil..3, (2**64).., (9..2) % -1, (1..) % (2**64)].map do |range|
        [of.call(dynamic: :n, ranges: { n: range }), mismatch, "#{no_range}#{range.inspect}"]
      end,
      [of.call(weights: 3), mismatch, "capture: weights must be Hash or nil, got Integer"],
      [of.call(weights: { a: [3] }), mismatch,
       "capture: an item of weights must be Tensor, Hash or Array, got Integer"],
      [of.call(weights: { a: OneFlow::Tensor.allocate }), invalid,
       "capture: an item of weights must be a live Tensor, got one that was never given a value"]
    ].each { |call, error, text| assert_error(error, text, &call) }
    assert_raises(invalid) { of.call(dynamic: :n, ranges: { n: 3..9 }).call }
  end

  def test_objects_without_a_graph
    assert_raises(NoMethodError) { OneFlow::Graph.new }
    assert_raises(TypeError) { OneFlow::Graph.allocate }
    graph = capture(ones(1), &:exp)
    assert_predicate graph, :frozen?
    [-> { graph.dup }, -> { graph.clone }, -> { Marshal.dump(graph) }].each { |copy| assert_raises(TypeError, &copy) }
  end

  # ---------------------------------------------------------------- files

  def in_folder(&) = Dir.mktmpdir { |folder| Dir.chdir(folder, &) }

  def test_files
    in_folder do
      weight = randn(3, 3, dtype: :bfloat16)
      graph = capture(ones(2, 3, dtype: :bfloat16), dynamic: :n, weights: { weight: }) do |x, *|
        { a: OneFlow.einsum("ij,jk->ik", x, weight).clamp(-1.5, Float::INFINITY), b: [x.to(:int8)] }
      end
      assert_nil graph.save(Pathname("model.flow"))
      [{}, { verify: true }, { mmap: true }].each do |options|
        loaded = OneFlow::Graph.load("model.flow", **options)
        assert_equal graph.to_s, loaded.to_s
        x = randn(5, 3, dtype: :bfloat16)
        assert_equal plain(graph.call(x)), plain(loaded.call(x:))
        assert_equal plain({ "weight" => weight }), plain(loaded.constants)
      end
      loaded = OneFlow::Graph.load("model.flow")
      File.truncate("model.flow", 0)
      assert_equal plain({ "weight" => weight }), plain(loaded.constants)
    end
  end

  def test_errors_of_files
    in_folder do
      OneFlow.save({ x: ones(1) }, "other.safetensors")
      graph = capture(ones(64)) { |x| x * 2 }
      graph.save("model.flow")
      content = File.binread("model.flow")
      content.setbyte(content.size / 2, content.getbyte(content.size / 2) ^ 1)
      File.binwrite("model.flow", content)
      error = assert_raises(OneFlow::InvalidArgument) { OneFlow::Graph.load("other.safetensors") }
      assert_match(/the file holds no graph/, error.message)
      assert_raises(OneFlow::InvalidArgument) { OneFlow::Graph.load("model.flow", verify: true) }
      assert_raises(OneFlow::FileError) { OneFlow::Graph.load("missing.flow") }
      assert_raises(OneFlow::FileError) { graph.save("missing/model.flow") }
      %i[verify mmap].each do |name|
        text = "load: #{name} must be bool, got Integer"
        assert_error(OneFlow::TypeMismatch, text) { OneFlow::Graph.load("model.flow", name => 1) }
      end
      text = "save: path must be String or Pathname, got Integer"
      assert_error(OneFlow::TypeMismatch, text) { graph.save(3) }
    end
  end

  # ---------------------------------------------------------------- runs

  def test_threads_run_one_graph
    weight = randn(16, 16)
    graph = capture(ones(2, 16), dynamic: :n) { |x| x.matmul(weight).relu.matmul(weight) }
    threads = Array.new(4) do |seed|
      Thread.new do
        x = randn(seed + 1, 16)
        expected = plain(x.matmul(weight).relu.matmul(weight))
        Array.new(50) { plain(graph.call(x)) == expected }
      end
    end
    assert_equal [true], threads.flat_map(&:value).uniq
  end

  def test_ractors_share_a_graph
    output = run_alone(<<~PROGRAM, { "RUBYOPT" => "-W:no-experimental" })
      graph = OneFlow::Graph.capture(OneFlow.ones(2), dynamic: :n) { |x| { a: x * 2, b: x.sum } }
      ractors = Array.new(3) { |i| Ractor.new(graph, i) { |one, n| one.call(OneFlow.ones(n + 1))["b"].item } }
      puts ractors.map(&:take).inspect
      puts Ractor.new { OneFlow::Graph.capture(OneFlow.ones(2)) { |x| x + 1 }.call(OneFlow.ones(2)).to_a }.take.inspect
    PROGRAM
    assert_equal ["[1.0, 2.0, 3.0]", "[2.0, 2.0]"], output
  end

  def test_threads_capture_at_once
    threads = Array.new(4) do |i|
      Thread.new { Array.new(20) { capture(ones(3)) { |x| x * i }.call(ones(3)).sum.item }.uniq }
    end
    assert_equal [[0.0], [3.0], [6.0], [9.0]], threads.map(&:value)
  end

  def test_interrupts
    weight = randn(600, 600) / 100
    graph = capture(ones(600, 600)) { |x| 200.times.inject(x) { |y, _| y.matmul(weight) } }
    x = ones(600, 600)
    thread = Thread.new { loop { graph.call(x) } }
    sleep(0.05)
    thread.kill.join
    assert_equal [600, 600], x.shape
  end

  # Runs in a process of its own, where a collection has few objects to look through.
  def test_garbage_collection_during_a_capture
    lines = run_alone(<<~RUBY, {})
      ones = OneFlow.method(:ones)
      weights = { w: [OneFlow.randn(2, 2)] }
      GC.stress = true
      graph = OneFlow::Graph.capture([ones.(1, 2), { a: ones.(2) }], dynamic: { x: [:n] }, weights:) do |x, y|
        { r: x.matmul(weights[:w][0]) + y[:a] }
      end
      found = graph.call(ones.(3, 2), { a: ones.(2) })["r"]
      texts = [found.shape, graph, graph.outputs, graph.sizes, graph.constants.keys].map(&:inspect)
      GC.stress = false
      puts texts
    RUBY
    assert_equal ["[3, 2]", "#<OneFlow::Graph(x: float32[n, 2], y.a: float32[2]) of 2 calls>", '{"n"=>1..}', '["w.0"]'],
                 lines.values_at(0, 1, 3, 4)
  end

  def test_runs_leave_no_memory
    graph = capture(ones(1 << 14)) { |x| ((x * 2).cumsum(0) + 1).relu }
    x = ones(1 << 14)
    2.times { graph.call(x) }
    with_room(4 << 20) do # for results of 64 KiB
      1000.times { graph.call(x) }
      assert_raises(OneFlow::ShapeError) { graph.call(ones(3)) }
    end
  end

  # Calls everything with a tensor that stands for a value, while it does, and after the capture has ended.
  SWEEP = <<~RUBY
    def attempt
      yield
    rescue StandardError, NotImplementedError # most calls are refused; what counts is that the process goes on
      nil
    end

    def sweep(value)
      things = [[], [1], [0, 1], [value], [value, value], [[0, 1]], [:float64], [true], [[value, value]]]
      (value.public_methods(false) + OneFlow::Tensor.public_instance_methods(false)).uniq.each do |name|
        things.each { |arguments| attempt { value.public_send(name, *arguments) { |x| x } } }
      end
      [OneFlow, OneFlow::Optim, OneFlow::NN].each do |owner|
        (owner.singleton_methods(false) - %i[manual_seed]).reject { |name| name.match?(/=|^set_|^load/) }.each do |name|
          things.each { |arguments| attempt { owner.public_send(name, *arguments) { |x| x } } }
        end
      end
      [-> { value.to_a }, -> { value.item }, -> { value.inspect }, -> { Marshal.dump(value) }, -> { value.to_binary },
       -> { value.dup }, -> { value.each { |x| x } }, -> { Float(value) }, -> { value == 1 }, -> { [1, 2][value] }]
        .each { |use| attempt(&use) }
    end

    $stdout = File.open(File::NULL, "w")
    kept = nil
    OneFlow::Graph.capture(OneFlow.ones(2, 2)) do |x|
      sweep(kept = x.clone)
      x * 2
    end
    sweep(kept)
    STDOUT.puts "alive"
  RUBY

  def test_values_belong_to_the_thread_that_captures
    graph = capture(ones(2)) do |x|
      Thread.new { assert_raises(OneFlow::Unsupported) { x + 1 } }.join
      x * 2
    end
    assert_equal [2.0, 2.0], graph.call(ones(2)).to_a
  end

  # ---------------------------------------------------------------- fibers

  def test_a_capture_belongs_to_the_fiber_that_runs_it
    weight = OneFlow.tensor([1.0, 2.0])
    fibers = [2, 3].map do |factor|
      Fiber.new do
        capture(ones(2)) do |x|
          scaled = weight * factor
          Fiber.yield
          x * scaled
        end
      end
    end
    fibers.each(&:resume)
    assert_equal [2.0, 3.0], (weight + 1).to_a
    assert_equal [2.0, 3.0], Enumerator.new { |items| items << (weight + 1).to_a }.next
    graphs = fibers.map(&:resume)
    assert_equal [2, 2], graphs.map(&:call_count)
    assert_equal [[2.0, 4.0], [3.0, 6.0]], (graphs.map { |graph| graph.call(ones(2)).to_a })
    assert_equal [2.0, 3.0], (weight + 1).to_a
  end

  def test_fibers_that_never_end_their_capture
    20.times { Fiber.new { capture(ones(2)) { Fiber.yield } }.resume }
    GC.start
    assert_equal [2.0, 2.0], (ones(2) + 1).to_a
    assert_equal [3.0, 3.0], capture(ones(2)) { |x| x * 3 }.call(ones(2)).to_a
  end

  def test_fibers_that_a_block_creates_are_captured
    weight = OneFlow.tensor([1.0, 2.0])
    sum = OneFlow.zeros(2)
    graph = capture(ones(2)) do |x|
      sum.add!(x)
      items = Enumerator.new do |yielder|
        yielder << (sum * 2)
        yielder << OneFlow.rand(2)
      end
      (items.next + Fiber.new { weight * 3 }.resume + items.next).floor
    end
    assert_equal [5.0, 8.0], graph.call(ones(2)).to_a
    assert_includes graph.to_s, "rand(size=[2])"
    assert_equal [0.0, 0.0], sum.to_a
    error = assert_raises(RuntimeError) { capture(ones(2)) { Enumerator.new { raise "found" }.next } }
    assert_equal "found", error.message
    assert_equal [1.0, 1.0], ones(2).to_a
  end

  def test_no_use_of_a_value_ends_the_process
    assert_equal ["alive"], run_alone(SWEEP, {})
  end
end
