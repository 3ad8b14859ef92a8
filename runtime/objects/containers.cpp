// Converts values that have items.
#include <algorithm>

#include "objects/binder.h"
#include "objects/language.h"

namespace oneflow::objects {
namespace {

constexpr int kMaxNesting = 64;

}  // namespace

// Returns the items of a list, which do not change any more.
std::span<const of_native> Binder::items_of(of_native list, uint32_t count) {
  if (count == 0) return {};
  of_native* items = store_.memory.allocate<of_native>(count);
  check_language(language_.items(context_, list, count, items));
  return {items, count};
}

of_data Binder::convert_item(const std::string& name, size_t position, const of_type& type, of_native value) {
  const of_data found = look(value);
  if (accepts(type, found)) return keep(found);
  progress_.is_likely = true;
  const bool is_object = type.kind == OF_TYPE_OBJECT;
  const bool is_disposed = found.kind == OF_DATA_DISPOSED && found.of.object == nullptr;
  const bool is_device = type.kind == OF_TYPE_DEVICE && (found.kind == OF_DATA_TEXT || found.kind == OF_DATA_BAD_TEXT);
  const bool is_hidden = language_.hides_positions && (is_disposed || is_device);
  const std::string part = is_object ? "an item of " + name : name + "[" + std::to_string(position) + "]";
  const of_data item = convert(is_hidden ? name : part, type, value);
  progress_.is_likely = is_refused();
  return item;
}

of_data Binder::convert_items(const std::string& name, const of_type& type, std::span<const of_native> values) {
  of_data* items = store_.memory.allocate<of_data>(values.size());
  for (size_t i = 0; i < values.size() && !is_refused(); ++i) items[i] = convert_item(name, i, *type.items, values[i]);
  return {OF_DATA_LIST, static_cast<uint32_t>(values.size()), {.items = items}, {}, nullptr};
}

// Returns whether a list is short enough, and refuses it otherwise.
bool Binder::has_length(const std::string& name, const of_data& list) {
  if (list.count <= language_.longest_list) return true;
  const uint64_t count = list.count == UINT32_MAX ? list.as.natural : list.count;
  refuse(OF_INVALID_ARGUMENT, name + " must have at most " + std::to_string(language_.longest_list) + " items, got " +
                                  std::to_string(count));
  return false;
}

of_data Binder::convert_list(const std::string& name, const of_type& type, of_data found, of_native value) {
  if (!has_length(name, found)) return {};
  return convert_items(name, type, items_of(value, found.count));
}

// Converts a single value that stands for a list of it. What stands for a tensor does so in a list only.
of_data Binder::convert_single(const std::string& name, const of_type& type, const of_data& found, of_native value) {
  const bool may_be_array = device_ != nullptr && type.items->kind == OF_TYPE_INT && found.kind == OF_DATA_OTHER;
  const bool is_array = may_be_array && language_.is_array(context_, value);
  const of_data array = is_array ? make_tensor(function_, name, type, value) : found;
  if (is_list_of_integers(type, array)) return integers_in(array.as.tensor);
  of_type item = *type.items;
  const bool is_of_tensors = item.kind == OF_TYPE_TENSOR || item.kind == OF_TYPE_INTEGERS;
  if (is_of_tensors) item.kind = OF_TYPE_WRITTEN;
  item.word = type.word;
  item.is_optional = false;
  of_data* items = store_.memory.allocate<of_data>(1);
  items[0] = convert(name, item, value);
  return {OF_DATA_LIST, 1, {.items = items}, {}, nullptr};
}

// Converts an item of a list of pairs, or of lists of integers.
of_data Binder::convert_pair(const std::string& name, const of_type& type, const of_data& found, of_native value) {
  const of_type list = {OF_TYPE_LIST, false, type.word, nullptr, 0, type.items, nullptr};
  if (type.kind == OF_TYPE_INTS && found.kind != OF_DATA_LIST) return convert_single(name, list, found, value);
  if (found.kind != OF_DATA_LIST || (type.kind == OF_TYPE_PAIR && found.count != 2))
    return refuse_type(name, type, value);
  return convert_list(name, list, found, value);
}

of_data Binder::convert_outputs(const std::string& name, const of_type& type, const of_data& found, of_native value) {
  if (found.kind != OF_DATA_LIST || found.count != type.count) return refuse_type(name, type, value);
  const std::span<const of_native> outputs = items_of(value, found.count);
  const auto is_tensor = [this](of_native each) {
    const int32_t kind = look(each).kind;
    return kind == OF_DATA_TENSOR || kind == OF_DATA_DISPOSED;
  };
  if (!std::all_of(outputs.begin(), outputs.end(), is_tensor)) return refuse_type(name, type, value);
  of_data tensors = convert_items(name, type, outputs);
  tensors.own = outputs.data();
  return tensors;
}

// Returns the name of a part of an argument: "sizes['n']" or "sizes.n".
std::string Binder::part(const std::string& name, const std::string& key) const {
  return language_.names_fields ? name + "." + printable(key) : name + "[" + quoted(key) + "]";
}

// Returns the text of a key; NULL for one that is refused.
const char* Binder::key_text(const std::string& name, const of_data& key, of_native value) {
  if (key.kind == OF_DATA_TEXT || key.kind == OF_DATA_BAD_TEXT) return convert_text("a key of " + name, key).as.text;
  refuse(OF_TYPE_MISMATCH,
         "a key of " + name + " must be " + language_.text_word + ", got " + language_.type_name(context_, value));
  return nullptr;
}

of_data Binder::convert_map(const std::string& name, const of_type& type, of_data found, of_native value) {
  of_data* items = store_.memory.allocate<of_data>(found.count);
  const char** keys = store_.memory.allocate<const char*>(found.count);
  for (uint32_t i = 0; i < found.count; ++i) {
    of_native key = nullptr, item = nullptr;
    check_language(language_.entry(context_, value, i, &key, &item));
    keys[i] = key_text(name, look(key), key);
    if (is_refused()) return {};
    items[i] = type.items->kind == OF_TYPE_NESTED ? convert_nested(name, *type.items, item, 1)
                                                  : convert(part(name, keys[i]), *type.items, item);
  }
  found.as.items = items;
  found.of.keys = keys;
  return found;
}

of_data Binder::convert_nested(const std::string& name, const of_type& type, of_native value, int depth) {
  of_data found = look(value);
  if (found.kind == OF_DATA_TENSOR) return keep(found);
  if (found.kind == OF_DATA_DISPOSED && found.of.object == nullptr)
    return refuse_disposed(depth == 0 ? name : "an item of " + name, type);
  if (found.kind != OF_DATA_LIST && found.kind != OF_DATA_MAP)
    return refuse_type(depth == 0 ? name : "an item of " + name, type, value);
  if (depth == kMaxNesting)
    return refuse(OF_INVALID_ARGUMENT, name + " must not be nested more than " + std::to_string(kMaxNesting) + " deep");
  if (!has_length(depth == 0 ? name : "an item of " + name, found)) return {};
  of_data* items = store_.memory.allocate<of_data>(found.count);
  const char** keys = store_.memory.allocate<const char*>(found.count);
  of_native* own_keys = store_.memory.allocate<of_native>(found.count);
  const bool is_list = found.kind == OF_DATA_LIST;
  const std::span<const of_native> own_items = items_of(value, is_list ? found.count : 0);
  for (uint32_t i = 0; i < found.count; ++i) {
    of_native item = is_list ? own_items[i] : nullptr;
    if (!is_list) {
      check_language(language_.entry(context_, value, i, &own_keys[i], &item));
      const of_native key = own_keys[i];
      const of_data text = look(key);
      const bool is_text = text.kind == OF_DATA_TEXT || text.kind == OF_DATA_BAD_TEXT;
      if (!is_text) {
        return refuse(OF_TYPE_MISMATCH, std::string("a key must be ") + language_.text_word + ", got " +
                                            language_.type_name(context_, key));
      }
      keys[i] = convert_text("a key", text).as.text;
    }
    if (is_refused()) return {};
    items[i] = convert_nested(name, type, item, depth + 1);
  }
  found.as.items = items;
  if (found.kind == OF_DATA_MAP) {
    found.of.keys = keys;
    found.own = own_keys;
  }
  return found;
}

of_data Binder::convert_any(const std::string& name, of_native value, int depth) {
  of_data found = look(value);
  const bool is_map = found.kind == OF_DATA_MAP;
  of_native* own = store_.memory.allocate<of_native>(is_map ? found.count + 1 : 1);
  own[is_map ? found.count : 0] = value;
  if (found.kind == OF_DATA_TEXT || found.kind == OF_DATA_BAD_TEXT) found = convert_text(name, found);
  found.own = own;
  if (!is_map && found.kind != OF_DATA_LIST) return found;
  if (depth == kMaxNesting)
    return refuse(OF_INVALID_ARGUMENT, name + " must not be nested more than " + std::to_string(kMaxNesting) + " deep");
  if (!has_length(depth == 0 ? name : "an item of " + name, found)) return {};
  of_data* items = store_.memory.allocate<of_data>(found.count);
  const char** keys = store_.memory.allocate<const char*>(found.count);
  const std::span<const of_native> own_items = items_of(value, is_map ? 0 : found.count);
  for (uint32_t i = 0; i < found.count; ++i) {
    of_native item = is_map ? nullptr : own_items[i];
    if (is_map) {
      check_language(language_.entry(context_, value, i, &own[i], &item));
      const of_data key = look(own[i]);
      keys[i] =
          key.kind == OF_DATA_INT ? store_.memory.copy(std::to_string(key.as.integer)) : key_text(name, key, own[i]);
    }
    if (is_refused()) return {};
    items[i] = convert_any(name, item, depth + 1);
  }
  found.as.items = items;
  if (is_map) found.of.keys = keys;
  return found;
}

of_data Binder::convert_record(const std::string& name, const of_type& type, of_data found, of_native value) {
  of_data* fields = store_.memory.allocate<of_data>(type.count);
  if (!language_.names_fields && found.count != type.count)
    return refuse(OF_TYPE_MISMATCH, name + " must be " + type.word + ", got " + printed(language_, context_, value));
  const std::span<const of_native> own_items = items_of(value, language_.names_fields ? 0 : type.count);
  for (uint32_t i = 0; i < type.count; ++i) {
    of_native item = language_.names_fields ? nullptr : own_items[i];
    if (language_.names_fields) check_language(language_.field(context_, value, type.names[i], &item));
    fields[i] = convert(type.names[i], type.items[i], item);
    if (is_refused()) return {};
  }
  return {OF_DATA_LIST, type.count, {.items = fields}, {}, nullptr};
}

}  // namespace oneflow::objects
