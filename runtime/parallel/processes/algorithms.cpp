#include "parallel/processes/algorithms.h"

#include <algorithm>
#include <cstring>

#include "device/device.h"
#include "dispatch/dispatch.h"
#include "ops/parts.h"
#include "parallel/local/access.h"
#include "parallel/local/ranks.h"

namespace oneflow::processes {

namespace {

using collective::flat;
using collective::Job;
using collective::MergeOperators;

// The size of the pieces of which parts are sent: a rank merges one while others are under way.
constexpr int64_t kPieceBytes = 1 << 20;
// The most memory for the pieces that a rank receives at a time.
constexpr int64_t kScratchBytes = 16 << 20;

int64_t piece_elements(const Operation& operation, int64_t element_bytes) {
  const int64_t others = std::max<int64_t>(1, int64_t{operation.size()} - 1);
  return std::max<int64_t>(1, std::min(kPieceBytes, kScratchBytes / others) / element_bytes);
}

void send_part(Operation& operation, uint32_t to, const Tensor& part) {
  operation.send(to, part, part.data(), static_cast<size_t>(part.bytes()), part.count());
}

// Copies the elements of a vector.
void copy(const Tensor& target, const Tensor& source) {
  if (source.count() > 0) std::memcpy(target.mutable_data(), source.data(), static_cast<size_t>(source.bytes()));
}

// Returns the bytes of a message as a vector, without a copy.
TensorRef over(const Message& message, of_dtype dtype, int64_t count) {
  Ref<Buffer> buffer = Buffer::adopt(kHost, message.bytes.get(), message.count, false);
  return Tensor::over(Storage::create(std::move(buffer)), dtype, Shape{count}, Shape{1}, 0);
}

// Receives a vector of `count` elements: in the message, which must outlive it, or in memory that it allocates.
struct Received {
  Message message;
  TensorRef vector;
};
Received receive_vector(Operation& operation, Message message, of_dtype dtype, int64_t count) {
  const auto bytes = static_cast<size_t>(count * dtype_size(dtype));
  if (message.envelope.kind == MessageKind::kData && message.count == bytes && count > 0) {
    TensorRef vector = over(message, dtype, count);
    return {std::move(message), std::move(vector)};
  }
  TensorRef vector = Tensor::allocate(Shape{count}, dtype, kHost);
  operation.take(message, *vector, vector->mutable_data(), bytes);
  return {std::move(message), std::move(vector)};
}

// Merges vectors in their order.
void merge(const MergeOperators& operators, const std::vector<Received>& sources, const TensorRef& target) {
  // Two vectors take one kernel, and no memory for what is in between.
  if (sources.size() == 2 && !operators.then)
    return call_into(operators.name, *target, *operators.by, sources[0].vector, sources[1].vector);
  Job job{kHost, {}, {target}};
  for (const Received& each : sources) job.sources.push_back(each.vector);
  collective::run_jobs(operators, {job});
}

}  // namespace

Task exchange_and_merge(Operation& operation, const Tensors& parts, const TensorRef& target,
                        const MergeOperators& operators) {
  const uint32_t size = operation.size(), own = operation.position();
  const of_dtype dtype = target->dtype();
  const int64_t most = piece_elements(operation, target->element_bytes());
  for (uint32_t step = 1; step < size; ++step) {
    const uint32_t to = (own + step) % size;
    const Tensor& part = *parts[to];
    for (int64_t start = 0; start == 0 || start < part.count(); start += most)
      send_part(operation, to, *flat(part, {start, std::min(most, part.count() - start)}));
  }
  for (int64_t start = 0; start == 0 || start < target->count(); start += most) {
    const Part piece{start, std::min(most, target->count() - start)};
    std::vector<Received> received(size);
    for (uint32_t from = 0; from < size; ++from) {
      if (from == own) continue;
      Message message = co_await operation.receive(from);
      received[from] = receive_vector(operation, std::move(message), dtype, piece.size);
    }
    co_await operation.fetched();
    received[own].vector = flat(*parts[own], piece);
    merge(operators, received, flat(*target, piece));
  }
  co_await operation.sent();
}

Task gather_by_doubling(Operation& operation, const TensorRef& own, const std::vector<int64_t>& counts,
                        TensorRef& gathered) {
  const uint32_t size = operation.size(), position = operation.position();
  // Begins with the own vector, after which come those of the next ranks: in each step twice as many.
  std::vector<int64_t> starts{0};
  for (uint32_t i = 0; i < size; ++i) starts.push_back(starts.back() + counts[(position + i) % size]);
  const TensorRef held = Tensor::allocate(Shape{starts.back()}, own->dtype(), kHost);
  copy(*flat(*held, {0, own->count()}), *own);
  for (uint32_t distance = 1; distance < size; distance *= 2) {
    const uint32_t added = std::min(distance, size - distance);
    send_part(operation, (position + size - distance) % size, *flat(*held, {0, starts[added]}));
    const Message message = co_await operation.receive((position + distance) % size);
    const TensorRef part = flat(*held, {starts[distance], starts[distance + added] - starts[distance]});
    operation.take(message, *held, part->mutable_data(), static_cast<size_t>(part->bytes()));
    co_await operation.fetched();
  }
  co_await operation.sent();
  gathered = Tensor::allocate(held->sizes(), own->dtype(), kHost);
  const int64_t behind = starts[size - position], before = held->count() - behind;
  copy(*flat(*gathered, {0, before}), *flat(*held, {behind, before}));
  copy(*flat(*gathered, {before, behind}), *flat(*held, {0, behind}));
}

Task merge_of_all(Operation& operation, const TensorRef& input, const TensorRef& target,
                  const MergeOperators& operators) {
  const uint32_t size = operation.size(), own = operation.position();
  if (size > kDirectRanks) {
    const int64_t count = input->count();
    TensorRef gathered;
    co_await gather_by_doubling(operation, input, std::vector<int64_t>(size, count), gathered);
    std::vector<Received> all(size);
    for (uint32_t from = 0; from < size; ++from) all[from].vector = flat(*gathered, {from * count, count});
    merge(operators, all, target);
    co_return;
  }
  for (uint32_t step = 1; step < size; ++step) send_part(operation, (own + step) % size, *input);
  std::vector<Received> received(size);
  for (uint32_t from = 0; from < size; ++from) {
    if (from == own) continue;
    Message message = co_await operation.receive(from);
    received[from] = receive_vector(operation, std::move(message), input->dtype(), input->count());
  }
  co_await operation.fetched();
  co_await operation.sent();
  received[own].vector = input;
  merge(operators, received, target);
}

Task exchange(Operation& operation, const char* caller, const Tensors& parts, const Shape& like, int dim,
              TensorRef& result) {
  const uint32_t size = operation.size(), own = operation.position();
  for (uint32_t step = 1; step < size; ++step) {
    const uint32_t to = (own + step) % size;
    const Tensor& part = *parts[to];
    operation.send(to, part, part.data(), static_cast<size_t>(part.bytes()), part.size(dim));
  }
  std::vector<Message> messages(size);
  std::vector<Part> cuts(size);
  int64_t total = 0;
  for (uint32_t from = 0; from < size; ++from) {
    if (from != own) messages[from] = co_await operation.receive(from);
    cuts[from] = {total, from == own ? parts[own]->size(dim) : messages[from].envelope.extent};
    if (cuts[from].size < 0 || __builtin_add_overflow(total, cuts[from].size, &total))
      fail(OF_SHAPE_ERROR, "the result has more elements than can be counted");
  }
  Shape sizes = like;
  sizes[dim] = total;
  result = Tensor::allocate(sizes, parts[own]->dtype(), kHost);
  // What does not go to its place as a whole is copied there when it has come.
  Tensors places(size), received(size);
  for (uint32_t step = 0; step < size; ++step) {
    const uint32_t from = (own + step) % size;
    places[from] = narrow(*result, dim, cuts[from]);
    if (from == own) {
      collective::copy_elements(caller, *places[own], *parts[own]);
      continue;
    }
    const bool is_whole = places[from]->is_contiguous();
    received[from] = is_whole ? places[from] : Tensor::allocate(places[from]->sizes(), result->dtype(), kHost);
    operation.take(messages[from], *received[from], received[from]->mutable_data(),
                   static_cast<size_t>(received[from]->bytes()));
  }
  co_await operation.fetched();
  for (uint32_t from = 0; from < size; ++from)
    if (from != own && received[from].get() != places[from].get())
      collective::copy_elements(caller, *places[from], *received[from]);
  co_await operation.sent();
}

Task exchange_numbers(Operation& operation, int64_t own, std::vector<int64_t>& numbers) {
  const uint32_t size = operation.size();
  if (size > kDirectRanks) {
    const TensorRef number = Tensor::allocate(Shape{1}, OF_INT64, kHost);
    *static_cast<int64_t*>(number->mutable_data()) = own;
    TensorRef gathered;
    co_await gather_by_doubling(operation, number, std::vector<int64_t>(size, 1), gathered);
    numbers.resize(size);
    std::memcpy(numbers.data(), gathered->data(), static_cast<size_t>(gathered->bytes()));
    co_return;
  }
  co_await trade_numbers(operation, std::vector<int64_t>(size, own), numbers);
}

Task trade_numbers(Operation& operation, const std::vector<int64_t>& numbers, std::vector<int64_t>& got) {
  const uint32_t size = operation.size(), own = operation.position();
  got.assign(size, numbers[own]);
  for (uint32_t to = 0; to < size; ++to)
    if (to != own) operation.notify(to, numbers[to]);
  for (uint32_t from = 0; from < size; ++from) {
    if (from == own) continue;
    const Message message = co_await operation.receive(from);
    got[from] = message.envelope.extent;
  }
}

Task agree(Operation& operation, int64_t& number) {
  const uint32_t size = operation.size(), own = operation.position();
  for (uint32_t distance = 1; distance < size; distance *= 2) {
    operation.notify((own + distance) % size, number);
    const Message message = co_await operation.receive((own + size - distance) % size);
    if (message.envelope.extent != number) number = 0;
  }
}

Task receive_whole(Operation& operation, uint32_t from, const TensorRef& target) {
  const Message message = co_await operation.receive(from);
  operation.take(message, *target, target->mutable_data(), static_cast<size_t>(target->bytes()));
  co_await operation.fetched();
}

Task send_whole(Operation& operation, uint32_t to, const TensorRef& source) {
  send_part(operation, to, *source);
  co_await operation.sent();
}

Task broadcast_by_tree(Operation& operation, uint32_t root, const TensorRef& tensor) {
  const uint32_t size = operation.size();
  // Positions are counted from the root: rank r gets it from r without its highest bit.
  const uint32_t own = (operation.position() + size - root) % size;
  uint32_t bit = 1;
  while (bit <= own) bit *= 2;
  if (own > 0) co_await receive_whole(operation, (own - bit / 2 + root) % size, tensor);
  for (; own + bit < size; bit *= 2) send_part(operation, (own + bit + root) % size, *tensor);
  co_await operation.sent();
}

Task share_parts(Operation& operation, const TensorRef& whole) {
  const uint32_t size = operation.size(), own = operation.position();
  const int64_t most = piece_elements(operation, whole->element_bytes());
  const auto part_of = [&](uint32_t rank) { return even_part(whole->count(), rank, size); };
  if (size > kDirectRanks && whole->bytes() <= kPieceBytes) {
    std::vector<int64_t> counts;
    for (uint32_t rank = 0; rank < size; ++rank) counts.push_back(part_of(rank).size);
    const TensorRef part = flat(*whole, part_of(own));
    TensorRef gathered;
    co_await gather_by_doubling(operation, part, counts, gathered);
    copy(*whole, *gathered);
    co_return;
  }
  const Part sent = part_of(own);
  for (int64_t start = 0; start == 0 || start < sent.size; start += most)
    for (uint32_t step = 1; step < size; ++step)
      send_part(operation, (own + step) % size, *flat(*whole, {sent.start + start, std::min(most, sent.size - start)}));
  for (uint32_t step = 1; step < size; ++step) {
    const uint32_t from = (own + size - step) % size;
    const Part part = part_of(from);
    for (int64_t start = 0; start == 0 || start < part.size; start += most) {
      const Message message = co_await operation.receive(from);
      const TensorRef piece = flat(*whole, {part.start + start, std::min(most, part.size - start)});
      operation.take(message, *whole, piece->mutable_data(), static_cast<size_t>(piece->bytes()));
    }
  }
  co_await operation.fetched();
  co_await operation.sent();
}

}  // namespace oneflow::processes
