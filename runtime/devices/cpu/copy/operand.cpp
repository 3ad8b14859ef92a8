#include "copy/operand.h"

#include "simd/element.h"

namespace oneflow::cpu {

static Convert conversion_unless_same(of_dtype from, of_dtype to) {
  return from == to ? nullptr : find_conversion(from, to);
}

void pad(ChunkBuffer& buffer, int64_t count, int64_t padded_count, int64_t item_size) {
  if (count == padded_count) return;
  copy_strided(buffer.bytes + (count - 1) * item_size, 0, buffer.bytes + count * item_size, 1, item_size,
               padded_count - count);
}

Reader::Reader(const of_kernel_tensor& tensor, of_dtype wanted)
    : data_(static_cast<const char*>(tensor.data)),
      layout_{tensor.rank, tensor.sizes, tensor.strides},
      stored_size_(0),
      wanted_size_(item_size(wanted)),
      convert_(nullptr),
      contiguous_(false),
      period_(1),
      number_(tensor.data == nullptr ? &tensor : nullptr),
      wanted_(wanted) {
  if (number_ != nullptr) return;
  stored_size_ = item_size(tensor.dtype);
  convert_ = conversion_unless_same(tensor.dtype, wanted);
  contiguous_ = cpu::is_contiguous(layout_);
  period_ = cpu::period(layout_);
}

const void* Reader::find(int64_t begin, int64_t count) const {
  return convert_ == nullptr ? find_stored(begin, count) : nullptr;
}

const void* Reader::find_stored(int64_t begin, int64_t count) const {
  if (contiguous_) return direct(begin);
  const int32_t last = layout_.rank - 1;
  if (period_ == 1 || layout_.strides[last] != 1) return nullptr;
  int64_t offset = begin % layout_.sizes[last], row = begin / layout_.sizes[last];
  if (offset + count > layout_.sizes[last]) return nullptr;
  for (int32_t d = last - 1; d >= 0; row /= layout_.sizes[d], --d)
    offset += row % layout_.sizes[d] * layout_.strides[d];
  return direct(offset);
}

void Reader::read(int64_t begin, int64_t count, int64_t padded_count, ChunkBuffer& buffer) const {
  if (number_ != nullptr) {
    visit_dtype(wanted_, [&](auto type) {
      *reinterpret_cast<decltype(type)*>(buffer.bytes) = scalar_to<decltype(type)>(number_->scalar);
    });
    count = 1;
  } else {
    if (period_ == 1) count = 1;
    if (convert_ == nullptr) {
      gather(data_, layout_, wanted_size_, begin, count, buffer.bytes);
    } else if (const void* found = find_stored(begin, count)) {
      convert_(found, buffer.bytes, count);
    } else {
      ChunkBuffer stored;
      gather(data_, layout_, stored_size_, begin, count, stored.bytes);
      convert_(stored.bytes, buffer.bytes, count);
    }
  }
  pad(buffer, count, padded_count, wanted_size_);
}

Writer::Writer(const of_kernel_tensor& tensor, of_dtype given)
    : data_(static_cast<char*>(tensor.data)),
      layout_{tensor.rank, tensor.sizes, tensor.strides},
      stored_size_(item_size(tensor.dtype)),
      convert_(conversion_unless_same(given, tensor.dtype)),
      contiguous_(cpu::is_contiguous(layout_)) {}

void Writer::write(int64_t begin, int64_t count, const void* buffer) const {
  if (convert_ == nullptr) {
    scatter(buffer, data_, layout_, stored_size_, begin, count);
  } else if (contiguous_) {
    convert_(buffer, direct(begin), count);
  } else {
    ChunkBuffer stored;
    convert_(buffer, stored.bytes, count);
    scatter(stored.bytes, data_, layout_, stored_size_, begin, count);
  }
}

}  // namespace oneflow::cpu
