# frozen_string_literal: true

require_relative "helper"
require "pathname"
require "tmpdir"

# Tests save, load and open_file: nested data, options, errors, and threads.
class FilesTest < OneFlowTest
  FORMATS = %w[a.safetensors a.npz].freeze

  def setup
    @before = Dir.pwd
    @folder = Dir.mktmpdir
    Dir.chdir(@folder)
  end

  def teardown
    Dir.chdir(@before)
    FileUtils.remove_entry(@folder)
  end

  def data
    { "layers" => [{ "weight" => OneFlow.ones(2, 3) }, { "weight" => OneFlow.ones(1, dtype: :float16) }],
      "a.b" => tensor([true, false]), "empty" => {}, "none" => [], "scalar" => tensor(2.5),
      "nothing" => OneFlow.zeros(0, 4), "Größe 日本" => OneFlow.arange(6).reshape(2, 3).t }
  end

  # Replaces tensors by their properties and elements.
  def plain(value)
    case value
    when OneFlow::Tensor then [value.dtype, value.shape, value.to_a]
    when Array then value.map { |item| plain(item) }
    else value.transform_values { |item| plain(item) }
    end
  end

  def test_round_trip
    FORMATS.each do |path|
      OneFlow.save(data, Pathname(path), metadata: { "made by": "ä test" })
      assert_equal plain(data), plain(OneFlow.load(path))
      assert_equal plain(data), plain(OneFlow.load(Pathname(path), mmap: false, device: "cpu"))
      names = ["layers.0.weight", "layers.1.weight", "a.b", "scalar", "nothing", "Größe 日本"]
      assert_equal names, OneFlow.load(path, flat: true).keys
    end
  end

  # Files were mapped, and reading what was cut off ended the process.
  def test_a_file_can_be_truncated_after_it_is_loaded
    x = OneFlow.arange(10_000)
    FORMATS.each do |path|
      OneFlow.save({ x: }, path)
      loaded = [OneFlow.load(path)["x"], OneFlow.open_file(path) { |file| file["x"] }]
      File.truncate(path, 0)
      loaded.each { |each| assert OneFlow.equal(each, x) }
    end
  end

  def test_data_of_other_kinds
    FORMATS.each do |path|
      [tensor(3), [tensor(3), []], {}, { "" => { "" => tensor(1) } }].each do |value|
        OneFlow.save(value, path)
        assert_equal plain(value), plain(OneFlow.load(path))
      end
      OneFlow.save({ a: { b: tensor(1) } }, path)
      assert_equal %w[a], OneFlow.load(path).keys
    end
    OneFlow.save(tensor([1, 2]), "a.npy")
    assert_equal [1, 2], OneFlow.load("a.npy").to_a
  end

  def test_open_file
    FORMATS.each do |path|
      OneFlow.save(data, path, metadata: { "made by": "ä test" })
      scalar = OneFlow.open_file(path) do |file|
        assert_equal "#<OneFlow::TensorFile of 6 tensors>", file.inspect
        assert_equal({ "made by" => "ä test" }, file.metadata)
        type = path.end_with?("npz") ? "<f2" : "F16"
        assert_equal [:float16, type, [1], 2], file.info("layers.1.weight").to_a
        assert_includes file, "a.b"
        assert_equal file.names, file.map(&:first)
        assert_equal 6, file.size
        refute_includes file, "b"
        assert_equal [true, false], file[:"a.b"].to_a
        assert_equal plain(data), plain(file.load)
        file.read(:scalar)
      end
      assert_in_delta 2.5, scalar.item
    end
  end

  def test_closed_files
    OneFlow.save({ x: tensor(1) }, "a.npz")
    file = OneFlow.open_file("a.npz")
    refute_predicate file, :closed?
    2.times { file.close }
    assert_predicate file, :closed?
    assert_equal "#<OneFlow::TensorFile (closed)>", file.inspect
    calls = { read: -> { file[:x] }, names: -> { file.names }, metadata: -> { file.metadata }, load: -> { file.load },
              info: -> { file.info(:x) } }
    calls.each { |name, call| assert_error(OneFlow::InvalidArgument, "#{name}: the file is closed", &call) }
    assert_raises(NoMethodError) { OneFlow::TensorFile.new }
  end

  def test_writes_do_not_reach_the_file
    OneFlow.save({ x: OneFlow.zeros(3) }, "a.npz")
    before = File.binread("a.npz")
    OneFlow.load("a.npz")["x"].add!(1)
    assert_equal before, File.binread("a.npz")
  end

  def test_compression
    OneFlow.save({ x: OneFlow.zeros(10_000) }, "a.npz", compress: true)
    assert_operator File.size("a.npz"), :<, 2000
  end

  def test_threads
    OneFlow.save(Array.new(20) { |i| OneFlow.full([1000], i) }, "a.npz", compress: true)
    OneFlow.open_file("a.npz") do |file|
      sums = Array.new(8) { Thread.new { Array.new(20) { |i| file[i.to_s].sum.item } } }.map(&:value)
      assert_equal [Array.new(20) { |i| 1000 * i }] * 8, sums
    end
    threads = Array.new(8) { |i| Thread.new { 20.times { OneFlow.save({ x: OneFlow.full([500], i) }, "b.npz") } } }
    20.times { assert_operator OneFlow.load("b.npz")["x"].max.item, :<, 8 if File.exist?("b.npz") }
    threads.each(&:join)
    assert_equal %w[a.npz b.npz], Dir.children(".").sort
  end

  def test_open_files_are_closed_when_they_are_collected
    OneFlow.save({ x: tensor(1) }, "a.npz")
    count = -> { Dir.children("/proc/self/fd").size }
    before = count.call
    200.times { OneFlow.open_file("a.npz") }
    GC.start
    assert_operator count.call, :<, before + 200 # the stack may hold some of them
  end

  def test_errors_of_saving
    x = tensor(1)
    cycle = []
    cycle << cycle
    mismatch = OneFlow::TypeMismatch
    invalid = OneFlow::InvalidArgument
    [
      [-> { OneFlow.save(3, "a.npz") }, mismatch, "save: data must be Tensor, Hash or Array, got Integer"],
      [-> { OneFlow.save([nil], "a.npz") }, mismatch,
       "save: an item of data must be Tensor, Hash or Array, got nil"],
      [-> { OneFlow.save({ 1 => x }, "a.npz") }, mismatch, "save: a key must be String or Symbol, got Integer"],
      [-> { OneFlow.save({ "a\0" => x }, "a.npz") }, invalid, "save: a key must not have a null byte"],
      [-> { OneFlow.save({ "\xff" => x }, "a.npz") }, invalid, "save: a key must be valid Unicode"],
      [-> { OneFlow.save({ "\xff".b => x }, "a.npz") }, invalid, "save: a key must be valid Unicode"],
      [-> { OneFlow.save(cycle, "a.npz") }, invalid, "save: data must not be nested more than 64 deep"],
      [-> { OneFlow.save({}, 3) }, mismatch, "save: path must be String or Pathname, got Integer"],
      [-> { OneFlow.save({}, "a\0.npz") }, invalid, "save: path must not have a null byte"],
      [-> { OneFlow.save({}, "a.npz", compress: 1) }, mismatch, "save: compress must be bool, got Integer"],
      [-> { OneFlow.save({}, "a.npz", metadata: []) }, mismatch, "save: metadata must be Hash or nil, got Array"],
      [-> { OneFlow.save({ a: { b: x }, "a.b": x }, "a.npz") }, invalid,
       "save: two tensors have the name 'a.b', which joins their keys"],
      [-> { OneFlow.save({ a: x }, "a.npy") }, invalid,
       "save: an .npy file holds one tensor; save a dictionary or a list as .npz or .safetensors"],
      [-> { OneFlow.save(x, "b/a.npy") }, OneFlow::FileError,
       "save: 'b/a.npy' cannot be written: No such file or directory"]
    ].each { |call, error, text| assert_error(error, text, &call) }
    assert_empty Dir.children(".")
  end

  def test_errors_of_loading
    File.write("bad.npz", "nothing")
    OneFlow.save({ x: tensor(1) }, "a.npz")
    file = OneFlow.open_file("a.npz")
    [
      [-> { OneFlow.load(nil) }, OneFlow::TypeMismatch, "load: path must be String or Pathname, got nil"],
      [-> { OneFlow.load("c.npz") }, OneFlow::FileError, "load: 'c.npz' cannot be opened: No such file or directory"],
      [-> { OneFlow.load("bad.npz") }, OneFlow::InvalidArgument,
       "load: 'bad.npz' is malformed: it is not a zip archive, or was cut off"],
      [-> { file.load(mmap: 1) }, OneFlow::TypeMismatch, "load: mmap must be bool, got Integer"],
      [-> { file[:y] }, OneFlow::InvalidArgument, "read: there is no tensor 'y'"],
      [-> { file.info(3) }, OneFlow::TypeMismatch, "info: name must be String, got Integer"]
    ].each { |call, error, text| assert_error(error, text, &call) }
    assert_raises(OneFlow::DeviceError) { file.read(:x, device: "moon") }
  end

  def test_a_limit_of_file_sizes_is_an_error
    output = run_alone(<<~PROGRAM, {})
      Dir.chdir(#{@folder.dump})
      OneFlow.save(OneFlow.ones(2), "a.npy")
      Process.setrlimit(:FSIZE, 100_000)
      begin
        OneFlow.save(OneFlow.ones(1_000_000), "a.npy")
      rescue OneFlow::FileError => error
        puts error.message, OneFlow.load("a.npy").to_a.inspect, Dir.children(".").inspect
      end
    PROGRAM
    assert_equal ["save: 'a.npy' cannot be written: File too large", "[1.0, 1.0]", '["a.npy"]'], output
  end
end
