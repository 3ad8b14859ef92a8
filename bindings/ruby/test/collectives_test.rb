# frozen_string_literal: true

require_relative "helper"

# Tests functions over lists of tensors and devices, where the conformance vectors do not cover them.
class CollectivesTest < OneFlowTest
  def ranks = [tensor([1.0, 2.0]), tensor([10.0, 20.0])]

  def test_send_stands_for_that_of_objects
    error = assert_raises(OneFlow::TypeMismatch) { OneFlow::Comm.send(:rank) }
    assert_includes error.message, "send: "
    assert_equal [0, 0], [OneFlow::Comm.public_send(:rank), OneFlow::Comm.__send__(:rank)]
    error = assert_raises(OneFlow::InvalidArgument) { OneFlow::Comm.send(tensor([1.0]), 1) }
    assert_includes error.message, "send: "
  end

  def test_a_list_of_results_is_an_array
    parts = OneFlow::Comm::Local.scatter(tensor([1, 2, 3]), %w[cpu cpu:0])
    assert_equal [[1, 2], [3]], parts.map(&:to_a)
    assert_equal [[1, 2, 3]], OneFlow::Comm::Local.scatter(tensor([1, 2, 3]), :cpu).map(&:to_a)
    assert_equal [[1], [1]], OneFlow::Comm::Local.broadcast(tensor([1]), "cpu", "cpu").map(&:to_a)
    assert_equal [1, 2, 3], OneFlow::Comm::Local.gather(*parts).to_a
  end

  def test_the_in_place_form_writes_to_the_tensors_and_returns_them
    a, b = given = ranks
    assert_same given, OneFlow::Comm::Local.all_reduce!(given, op: :max)
    assert_equal [[10.0, 20.0]] * 2, [a, b].map(&:to_a)
    written = OneFlow::Comm::Local.all_reduce!(a, b)
    assert_same b, written[1]
    assert_equal [[20.0, 40.0]] * 2, [a, b].map(&:to_a)
    refute_respond_to a, :all_reduce!
  end

  def test_no_tensor_is_written_if_one_is_not_writable
    ranks = [OneFlow.ones(2), OneFlow.ones(1).expand(2)]
    error = assert_raises(OneFlow::InvalidArgument) { OneFlow::Comm::Local.all_reduce!(ranks) }
    assert_includes error.message, "several elements share memory"
    assert_equal [[1.0, 1.0]] * 2, ranks.map(&:to_a)
  end

  def test_frozen_tensors_are_not_written_to
    a, b = ranks
    b.freeze
    assert_raises(FrozenError) { OneFlow::Comm::Local.all_reduce!([a, b]) }
    assert_raises(FrozenError) { OneFlow::Comm::Local.all_reduce!(a, b) }
    assert_equal [1.0, 2.0], a.to_a
  end

  def test_parts_of_a_frozen_tensor_are_frozen
    parts = tensor([1.0, 2.0, 3.0]).freeze.split(2)
    assert_equal [[1.0, 2.0], [3.0]], parts.map(&:to_a)
    assert(parts.all?(&:frozen?))
    assert_raises(FrozenError) { parts[0].add!(1) }
  end

  def test_the_error_names_an_unknown_device
    x = tensor([1])
    error = assert_raises(OneFlow::DeviceError) { OneFlow::Comm::Local.broadcast(x, %w[cpu cpu:9]) }
    assert_match(/\AComm::Local.broadcast: there is no device 'cpu:9'/, error.message)
    assert_error(OneFlow::TypeMismatch, "Comm::Local.broadcast: devices must be Array of devices, got Integer") do
      OneFlow::Comm::Local.broadcast(x, 3)
    end
  end

  def test_collectives_do_not_leak
    given = Array.new(2) { OneFlow.ones(1 << 14) } # of 64 KiB
    with_room(4 << 20) { 1000.times { OneFlow::Comm::Local.all_reduce(given) } }
  end
end
