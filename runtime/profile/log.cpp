#include "profile/log.h"

#include <sys/mman.h>

#include <bit>
#include <cstring>

namespace oneflow::profile {

namespace {

// The first word of a value. Its payload follows: the sizes of a tensor, the items of a list, the bytes of a string, or
// the word of any other value.
struct Head {
  int8_t kind;
  bool is_cut = false;  // whether the value was omitted
  uint8_t dtype = 0;
  int32_t count = 0;
};
static_assert(sizeof(Head) == sizeof(Word));

constexpr int8_t kAbsent = OF_VALUE_ABSENT;

Word* write_head(Word* at, const Head& head) noexcept {
  *at = std::bit_cast<Word>(head);
  return at + 1;
}

Head read_head(const Word* at) noexcept { return std::bit_cast<Head>(*at); }

size_t words_of(size_t bytes) { return (bytes + sizeof(Word) - 1) / sizeof(Word); }

// Returns null if there is no room.
Word* write_tensor(const Tensor* tensor, Word* at, const Word* limit) noexcept {
  if (!tensor) return at < limit ? write_head(at, {OF_VALUE_NONE}) : nullptr;
  const auto rank = static_cast<size_t>(tensor->rank());
  if (static_cast<size_t>(limit - at) < 1 + rank) return nullptr;
  at = write_head(at, {OF_VALUE_TENSOR, false, static_cast<uint8_t>(tensor->dtype()), tensor->rank()});
  for (size_t d = 0; d < rank; ++d) at[d] = static_cast<Word>(tensor->sizes()[static_cast<int>(d)]);
  return at + rank;
}

// Returns null if there is no room.
Word* write_items(const of_value& value, const void* items, size_t bytes, Word* at, const Word* limit) noexcept {
  const size_t words = words_of(bytes);
  if (static_cast<size_t>(limit - at) < 1 + words) return nullptr;
  at = write_head(at, {static_cast<int8_t>(value.kind), false, 0, value.count});
  if (bytes > 0) std::memcpy(at, items, bytes);
  return at + words;
}

// Returns null if there is no room.
Word* write_value(const of_value& value, Word* at, const Word* limit) noexcept {
  const auto count = static_cast<size_t>(value.count);
  switch (value.kind) {
    case OF_VALUE_TENSOR:
      return write_tensor(to_tensor(value.as.tensor), at, limit);
    case OF_VALUE_TENSOR_LIST:
      if (at == limit) return nullptr;
      at = write_head(at, {OF_VALUE_TENSOR_LIST, false, 0, value.count});
      for (size_t i = 0; at && i < count; ++i) at = write_tensor(to_tensor(value.as.tensors[i]), at, limit);
      return at;
    case OF_VALUE_STRING:
      return write_items(value, value.as.string, count, at, limit);
    case OF_VALUE_INT_LIST:
      return write_items(value, value.as.integers, count * sizeof(int64_t), at, limit);
    case OF_VALUE_DEVICE_LIST:
      return write_items(value, value.as.devices, count * sizeof(of_device), at, limit);
    case OF_VALUE_ABSENT:
    case OF_VALUE_NONE:
      return write_items(value, nullptr, 0, at, limit);
    default:
      return write_items(value, &value.as, sizeof(Word), at, limit);
  }
}

}  // namespace

void Log::Unmap::operator()(Word* chunk) const noexcept { munmap(chunk, kChunkWords * sizeof(Word)); }

void Log::grow() noexcept {
  if (at_ == nullptr && !chunks_.empty()) return;
  at_ = limit_ = nullptr;
  void* memory = mmap(nullptr, kChunkWords * sizeof(Word), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return;
  std::unique_ptr<Word[], Unmap> chunk(static_cast<Word*>(memory));
  try {
    used_.reserve(chunks_.size() + 1);
    chunks_.push_back(std::move(chunk));
  } catch (const std::bad_alloc&) {
    return;
  }
  used_.push_back(0);
  at_ = chunks_.back().get();
  limit_ = at_ + kChunkWords;
}

uint64_t TensorNote::bytes() const {
  uint64_t bytes = static_cast<uint64_t>(dtype_size(dtype));
  for (const int64_t size : sizes) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

Word* write_values(std::span<const of_value> values, Word* at, const Word* limit) noexcept {
  limit -= values.size();  // room for the marks of omitted values
  for (const of_value& value : values) {
    Word* end = write_value(value, at, limit);
    at = end ? end : write_head(at, {kAbsent, true});
    ++limit;
  }
  return at;
}

Values::Values(const Word* at, int count, of_device device) {
  values_.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) at = read(at, device);
}

TensorRef Values::read_tensor(const Word*& at, of_device device) {
  const Head head = read_head(at++);
  if (head.kind == OF_VALUE_NONE) return {};
  Shape sizes;
  for (int32_t d = 0; d < head.count; ++d) sizes.push_back(static_cast<int64_t>(*at++));
  return Tensor::without_memory(sizes, static_cast<of_dtype>(head.dtype), device);
}

const Word* Values::read(const Word* at, of_device device) {
  const Head head = read_head(at);
  const auto count = static_cast<size_t>(head.count);
  of_value value{head.kind, head.count, {}};
  is_cut_ |= head.is_cut;
  switch (head.kind) {
    case OF_VALUE_TENSOR:
      value.count = 0;
      value.as.tensor = to_handle(tensors_.emplace_back(read_tensor(at, device)).get());
      break;
    case OF_VALUE_TENSOR_LIST: {
      ++at;
      const auto& list = lists_.emplace_back(std::make_unique<of_tensor[]>(count + 1));
      for (size_t i = 0; i < count; ++i)
        if (TensorRef tensor = read_tensor(at, device))
          list[i] = to_handle(tensors_.emplace_back(std::move(tensor)).get());
      value.as.tensors = list.get();
      break;
    }
    case OF_VALUE_STRING:
      value.as.string = reinterpret_cast<const char*>(at + 1);
      at += 1 + words_of(count);
      break;
    case OF_VALUE_INT_LIST:
      value.as.integers = reinterpret_cast<const int64_t*>(at + 1);
      at += 1 + count;
      break;
    case OF_VALUE_DEVICE_LIST:
      value.as.devices = reinterpret_cast<const of_device*>(at + 1);
      at += 1 + words_of(count * sizeof(of_device));
      break;
    case OF_VALUE_NONE:
    case OF_VALUE_ABSENT:
      ++at;
      break;
    default:
      std::memcpy(&value.as, at + 1, sizeof(Word));
      at += 2;
  }
  values_.push_back(value);
  return at;
}

std::vector<TensorNote> Values::tensors() const {
  std::vector<TensorNote> notes;
  for (const TensorRef& tensor : tensors_) notes.push_back({tensor->dtype(), tensor->sizes()});
  return notes;
}

}  // namespace oneflow::profile
