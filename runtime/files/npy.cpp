#include "files/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/characters.h"
#include "base/error.h"
#include "files/little_endian.h"

namespace oneflow::files {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = sizeof(kMagic) - 1;
constexpr size_t kAlignment = 64;
// Longer headers describe records, which are no tensors.
constexpr uint32_t kMostHeaderBytes = 1 << 16;
constexpr char kNativeOrder = std::endian::native == std::endian::little ? '<' : '>';

struct NpyType {
  const char* code;  // without the byte order
  of_dtype dtype;
};

constexpr NpyType kTypes[] = {
    {"b1", OF_BOOL},    {"u1", OF_UINT8},   {"i1", OF_INT8},      {"i2", OF_INT16},       {"i4", OF_INT32},
    {"i8", OF_INT64},   {"u2", OF_UINT16},  {"u4", OF_UINT32},    {"u8", OF_UINT64},      {"f2", OF_FLOAT16},
    {"f4", OF_FLOAT32}, {"f8", OF_FLOAT64}, {"c8", OF_COMPLEX64}, {"c16", OF_COMPLEX128},
};

of_dtype dtype_of(std::string_view code) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](auto& type) { return type.code == code; });
  return found == std::end(kTypes) ? OF_DTYPE_NONE : found->dtype;
}

// Reads the literal of a dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}.
class HeaderParser {
 public:
  HeaderParser(const SourceFile& file, std::string_view text) : file_(file), text_(text) {}

  // Reads the whole text into an entry.
  void read(Entry* entry) {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !std::exchange(has_type_, true)) {
        read_type(entry);
      } else if (key == "fortran_order" && !std::exchange(has_order_, true)) {
        entry->is_column_major = read_bool();
      } else if (key == "shape" && !std::exchange(has_shape_, true)) {
        read_shape(entry);
      } else {
        refuse();
      }
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_spaces();
    if (at_ != text_.size() || !has_type_ || !has_order_ || !has_shape_) refuse();
  }

 private:
  [[noreturn]] void refuse() const {
    file_.refuse("the header of an array is %s, and not a dictionary of descr, fortran_order and shape",
                 printable(text_).c_str());
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) && text_[at_] != '\0') ++at_;
  }
  bool accept(char wanted) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) refuse();
  }
  bool accept_word(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string_view quoted() {
    skip_spaces();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) refuse();
    const size_t begin = at_ + 1;
    const size_t end = text_.find(text_[at_], begin);
    if (end == std::string_view::npos) refuse();
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  bool read_bool() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) refuse();
    return false;
  }

  void read_type(Entry* entry) {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '[') return read_record(entry);
    const std::string_view type = quoted();
    entry->type = printable(type);
    if (type.empty()) refuse();
    if (type == "|O") entry->type += " (pickled Python objects, which are not read because they can run code)";
    const char order = type.front();
    const bool has_order = std::strchr("<>=|", order) != nullptr;
    entry->dtype = dtype_of(has_order ? type.substr(1) : type);
    if (!is_valid(entry->dtype)) return;
    entry->is_swapped = (order == '<' || order == '>') && order != kNativeOrder && dtype_size(entry->dtype) > 1;
  }

  // Skips the list that describes a record.
  void read_record(Entry* entry) {
    const size_t begin = at_;
    int depth = 0;
    do {
      if (at_ == text_.size()) refuse();
      const char next = text_[at_];
      if (next == '\'' || next == '"') {
        quoted();
        continue;
      }
      depth += (next == '[' || next == '(') - (next == ']' || next == ')');
      ++at_;
    } while (depth > 0);
    entry->type = printable(text_.substr(begin, at_ - begin));
  }

  void read_shape(Entry* entry) {
    expect('(');
    while (!accept(')')) {
      entry->sizes.push_back(read_size());
      if (accept(',')) continue;
      expect(')');
      break;
    }
  }

  int64_t read_size() {
    skip_spaces();
    int64_t size = 0;
    const size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, text_[at_] - '0', &size)) refuse();
    }
    if (at_ == begin) refuse();
    accept('L');  // Python 2 wrote long integers so
    return size;
  }

  const SourceFile& file_;
  const std::string_view text_;
  size_t at_ = 0;
  bool has_type_ = false, has_order_ = false, has_shape_ = false;
};

}  // namespace

Entry read_npy_header(const SourceFile& file, const ReadBytes& read) {
  char begin[kMagicBytes + 2];
  read(begin, sizeof(begin));
  if (std::memcmp(begin, kMagic, kMagicBytes) != 0) file.refuse("an array does not begin with the signature of NumPy");
  const int version = static_cast<unsigned char>(begin[kMagicBytes]);
  if (version < 1 || version > 3 || begin[kMagicBytes + 1] != 0)
    file.refuse("version %d.%d of NumPy's format is not known", version, begin[kMagicBytes + 1]);

  char length[4];
  const int length_bytes = version == 1 ? 2 : 4;
  read(length, length_bytes);
  const uint64_t count = from_little_endian(length, length_bytes);
  if (count > kMostHeaderBytes) file.refuse("the header of an array has %lu bytes", count);
  std::string text(count, '\0');
  read(text.data(), count);

  Entry entry;
  HeaderParser(file, text).read(&entry);
  entry.offset = sizeof(begin) + length_bytes + count;
  const of_dtype counted = is_valid(entry.dtype) ? entry.dtype : OF_UINT8;
  entry.bytes = static_cast<uint64_t>(count_bytes(entry.sizes, counted));
  return entry;
}

std::string npy_header(of_dtype dtype, Sizes sizes) {
  const auto* type =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](auto& each) { return each.dtype == dtype; });
  if (type == std::end(kTypes))
    fail(OF_DTYPE_ERROR, "NumPy has no type for %s; save it in a safetensors file, or convert it", dtype_name(dtype));
  std::string text = "{'descr': '";
  text += dtype_size(dtype) == 1 ? '|' : kNativeOrder;
  text += std::string(type->code) + "', 'fortran_order': False, 'shape': (";
  for (const int64_t size : sizes) text += std::to_string(size) + ", ";
  text += "), }";

  constexpr size_t kBefore = kMagicBytes + 4;
  const size_t total = (kBefore + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.append(total - kBefore - text.size() - 1, ' ');
  text += '\n';
  return std::string(kMagic) + std::string("\x01\x00", 2) + little_endian(text.size(), 2) + text;
}

}  // namespace oneflow::files
