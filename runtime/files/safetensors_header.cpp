#include "files/safetensors_header.h"

#include <algorithm>
#include <unordered_set>

#include "base/characters.h"
#include "files/json.h"
#include "files/names.h"

namespace oneflow::files {
namespace {

struct ElementType {
  const char* name;
  of_dtype dtype;
  int bits;
};

constexpr ElementType kTypes[] = {
    {"BOOL", OF_BOOL, 8},
    {"U8", OF_UINT8, 8},
    {"I8", OF_INT8, 8},
    {"I16", OF_INT16, 16},
    {"U16", OF_UINT16, 16},
    {"F16", OF_FLOAT16, 16},
    {"BF16", OF_BFLOAT16, 16},
    {"I32", OF_INT32, 32},
    {"U32", OF_UINT32, 32},
    {"F32", OF_FLOAT32, 32},
    {"I64", OF_INT64, 64},
    {"U64", OF_UINT64, 64},
    {"F64", OF_FLOAT64, 64},
    {"C64", OF_COMPLEX64, 64},
    {"F4", OF_DTYPE_NONE, 4},
    {"F6_E2M3", OF_DTYPE_NONE, 6},
    {"F6_E3M2", OF_DTYPE_NONE, 6},
    {"F8_E4M3", OF_DTYPE_NONE, 8},
    {"F8_E5M2", OF_DTYPE_NONE, 8},
    {"F8_E8M0", OF_DTYPE_NONE, 8},
    {"F8_E4M3FNUZ", OF_DTYPE_NONE, 8},
    {"F8_E5M2FNUZ", OF_DTYPE_NONE, 8},
};

// Reads {"<name>": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"<key>": "<value>"}}.
class HeaderReader : public JsonReader {
 public:
  Contents contents;

  bool start_object(size_t) override {
    if (++depth_ == 1) return true;
    if (depth_ == 3 || list_) return JsonReader::start_object(0);
    in_metadata_ = name_ == kMetadataKey;
    fields_ = 0;
    return true;
  }
  bool end_object() override {
    if (depth_-- == 1 || in_metadata_) {
      in_metadata_ = false;
      return true;
    }
    return fields_ == kAllFields ? check_entry() : refuse_entry("lacks dtype, shape or data_offsets");
  }
  bool key(std::string& text) override {
    if (depth_ == 1) return start_entry(text);
    if (in_metadata_) {
      if (!metadata_keys_.insert(text).second) return refuse("metadata '" + printable(text) + "' occurs twice");
      contents.metadata.emplace_back(text, "");
      return true;
    }
    const auto* const known = std::find(std::begin(kFields), std::end(kFields), text);
    if (known == std::end(kFields)) return refuse_entry("has the unknown property '" + printable(text) + "'");
    field_ = 1 << (known - kFields);
    if (fields_ & field_) return refuse_entry("has " + text + " twice");
    fields_ |= field_;
    return true;
  }
  bool string(std::string& text) override {
    if (in_metadata_) {
      contents.metadata.back().second = text;
      return true;
    }
    if (depth_ != 2 || list_ || field_ != kDtype) return JsonReader::string(text);
    const auto* const known =
        std::find_if(std::begin(kTypes), std::end(kTypes), [&](const ElementType& type) { return text == type.name; });
    if (known == std::end(kTypes)) return refuse_entry("has the unknown dtype '" + printable(text) + "'");
    entry().type = known->name;
    entry().dtype = known->dtype;
    bits_ = known->bits;
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ != 2 || in_metadata_ || list_ || field_ == kDtype) return JsonReader::start_array(0);
    list_ = true;
    offsets_ = 0;
    return true;
  }
  bool end_array() override {
    list_ = false;
    return field_ == kShape || offsets_ == 2 || refuse_entry("must have two data_offsets");
  }
  bool number_unsigned(uint64_t number) override {
    if (!list_) return JsonReader::number_unsigned(number);
    if (field_ == kShape) {
      if (number > INT64_MAX) return refuse_entry("has a dimension that is too large");
      entry().sizes.push_back(static_cast<int64_t>(number));
      return true;
    }
    if (offsets_++ == 0) {
      entry().offset = number;
      return true;
    }
    if (offsets_ > 2 || number < entry().offset) return refuse_entry("has data_offsets out of order");
    entry().bytes = number - entry().offset;
    return true;
  }

 private:
  enum : int { kDtype = 1, kShape = 2, kOffsets = 4, kAllFields = 7 };
  static constexpr const char* kFields[] = {"dtype", "shape", "data_offsets"};

  Entry& entry() { return contents.entries.back(); }

  bool refuse_entry(const std::string& what) { return refuse("tensor '" + printable(name_) + "' " + what); }

  bool start_entry(const std::string& name) {
    name_ = name;
    if (!names_.insert(name).second) return refuse("the name '" + printable(name) + "' occurs twice");
    if (name == kMetadataKey) return true;
    check_name("a name", name);
    contents.entries.emplace_back().name = name;
    return true;
  }

  // Checks that the range of the elements has the size that follows from the shape.
  bool check_entry() {
    const auto count = static_cast<uint64_t>(count_elements(entry().sizes));
    uint64_t bits;
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(bits_), &bits) || bits % 8 != 0)
      return refuse_entry("has a shape whose elements are no number of bytes");
    if (bits / 8 != entry().bytes)
      return refuse_entry("has " + std::to_string(entry().bytes) + " bytes, but its shape " + to_text(entry().sizes) +
                          " needs " + std::to_string(bits / 8));
    return true;
  }

  int depth_ = 0;      // of objects
  bool list_ = false;  // whether a list is open
  bool in_metadata_ = false;
  int field_ = 0, fields_ = 0;  // the current one, and those that the tensor has
  int offsets_ = 0;
  int bits_ = 0;  // of an element
  std::string name_;
  std::unordered_set<std::string> names_, metadata_keys_;
};

}  // namespace

Contents read_safetensors_header(std::string_view text) {
  HeaderReader reader;
  reader.read(text);
  return std::move(reader.contents);
}

const char* safetensors_type(of_dtype dtype) {
  for (const ElementType& type : kTypes)
    if (type.dtype == dtype) return type.name;
  return nullptr;
}

}  // namespace oneflow::files
