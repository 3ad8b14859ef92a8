#include "objects/binder.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "objects/language.h"

namespace oneflow::objects {
namespace {

// Returns "; pass dtype or device by name" for parameters of which some are passed by name only; else "".
std::string by_name(std::span<const of_parameter> parameters) {
  std::vector<std::string> names;
  for (const of_parameter& each : parameters)
    if (each.is_named && each.name != nullptr) names.emplace_back(each.name);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text.empty() ? "" : "; pass " + text + " by name";
}

// Returns whether a name is one of those in a text that separates them by spaces.
bool is_among(std::string_view name, std::string_view names) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

}  // namespace

of_data Binder::refuse(of_status status, const std::string& text) {
  if (!is_refused()) refusal_ = {status, std::string(function_) + ": " + text};
  return {};
}

of_data Binder::refuse_count(size_t count, size_t most) {
  return refuse(OF_TYPE_MISMATCH, "takes at most " + std::to_string(most) + " positional argument" +
                                      (most == 1 ? "" : "s") + ", got " + std::to_string(count) + by_name(own_));
}

of_data Binder::refuse_name(const Given& given, size_t position) {
  const char* word = given.names[position];
  const char* literal = nullptr;  // of a key that is not a name
  if (word == nullptr) check_language(language_.show_name(context_, position, &literal, &word));
  std::vector<const char*> names;
  for (const of_parameter& each : parameters_) names.push_back(each.name);
  const int32_t nearest = of_nearest_name(word, names.data(), names.size());
  const std::string hint = nearest < 0 ? "" : std::string("; did you mean ") + names[nearest] + "?";
  progress_ = {OF_REFUSAL_NAME, static_cast<int32_t>(position), nearest >= 0};
  return refuse(OF_TYPE_MISMATCH, "unknown argument " + (literal ? literal : printable(word)) + hint);
}

uint32_t Binder::positional_count() const {
  const auto is_positional = [](const of_parameter& each) { return !each.is_named; };
  return static_cast<uint32_t>(std::count_if(parameters_.begin(), parameters_.end(), is_positional));
}

// Returns the positions of the parameters in the order of positional arguments.
std::span<const uint32_t> Binder::order() {
  uint32_t* found = store_.memory.allocate<uint32_t>(own_.size());
  size_t count = 0;
  if (receiver_ >= 0) found[count++] = static_cast<uint32_t>(receiver_);
  for (uint32_t i = 0; i < own_.size(); ++i)
    if (!own_[i].is_named && static_cast<int32_t>(i) != receiver_) found[count++] = i;
  return {found, count};
}

of_data Binder::look(of_native value) {
  of_data found{};
  check_language(language_.look(context_, value, &found));
  return found;
}

uint32_t Binder::collector(of_collects sort) const {
  const auto collects = [=](const of_parameter& each) { return (each.collects & sort) != 0; };
  return static_cast<uint32_t>(std::find_if(parameters_.begin(), parameters_.end(), collects) - parameters_.begin());
}

uint32_t Binder::find(const char* name) const {
  const auto is_named = [=](const of_parameter& each) {
    if (name == nullptr || each.name == nullptr) return false;
    return std::strcmp(each.name, name) == 0 || (each.other_names != nullptr && is_among(name, each.other_names));
  };
  return static_cast<uint32_t>(std::find_if(parameters_.begin(), parameters_.end(), is_named) - parameters_.begin());
}

of_data* Binder::bind(const Given& given) {
  const auto count = static_cast<uint32_t>(parameters_.size());
  natives_ = store_.memory.allocate<Native>(count);
  std::span<const of_native> positional = given.positional;
  const bool has_options = is_options(positional);
  if (has_options) positional = positional.first(positional.size() - 1);
  assign_positional(positional);
  assign_named(given);
  if (has_options) assign_options(given.positional.back());
  if (is_refused()) return nullptr;

  const Progress incomplete = {OF_REFUSAL_ABSENT, static_cast<int32_t>(given.names.size()), false};
  const char* missing = nullptr;
  of_data* arguments = store_.memory.allocate<of_data>(count);
  for (uint32_t i = 0; i < count; ++i) {
    Native& native = natives_[i];
    // What is assigned to a property is never absent; it has a description for its name.
    const auto is_assigned = [&] { return std::strchr(parameters_[i].name, ' ') != nullptr; };
    if (native.is_given && look(native.value).kind == OF_DATA_ABSENT && !is_assigned()) native.is_given = false;
    const bool is_missing =
        !native.is_given && native.items.empty() && parameters_[i].is_required && !parameters_[i].collects;
    if (is_missing && missing == nullptr) missing = parameters_[i].name;
  }
  for (uint32_t i = 0; i < count && !is_refused(); ++i) {
    const of_parameter& parameter = parameters_[i];
    const Native& native = natives_[i];
    progress_ = {OF_REFUSAL_VALUE, static_cast<int32_t>(i), false};
    if (i >= own_.size()) says_types_ = true;  // options are not converted once more
    if (parameter.collects) {
      arguments[i] = native.is_given ? spread(parameter, native.value) : collected(i);
    } else if (!native.items.empty()) {
      arguments[i] = convert_items(parameter.name, *parameter.type, native.items);
    } else if (native.is_given) {
      const bool may_stand_for_default = !parameter.is_required && !parameter.type->is_optional;
      if (may_stand_for_default && look(native.value).kind == OF_DATA_NONE) continue;
      arguments[i] = convert(parameter.name, *parameter.type, native.value);
    }
  }
  if (missing != nullptr) {
    progress_ = incomplete;
    refuse(OF_TYPE_MISMATCH, std::string("missing argument ") + missing);
  }
  return arguments;
}

// Returns whether positional arguments are the items of one list, rather than the list itself and too many others. A
// list is an item only where it may stand for a tensor, among other lists and tensors.
bool Binder::are_items(const of_type& type, std::span<const of_native> values) {
  if (type.kind != OF_TYPE_ITEMS) return false;
  if (look(values.front()).kind != OF_DATA_LIST) return true;
  if (type.items->kind != OF_TYPE_TENSOR && type.items->kind != OF_TYPE_INTEGERS) return false;
  return std::all_of(values.begin(), values.end(), [this](of_native value) {
    const int32_t kind = look(value).kind;
    return kind == OF_DATA_LIST || kind == OF_DATA_TENSOR;
  });
}

void Binder::assign_positional(std::span<const of_native> positional) {
  const std::span<const uint32_t> places = order();
  const bool has_items = is_function_ && !places.empty() && positional.size() > places.size() &&
                         are_items(*parameters_[places.back()].type, positional.subspan(places.size() - 1));
  // In a language with options, the value of a parameter that collects arguments is a single argument.
  const uint32_t rest =
      language_.has_options ? static_cast<uint32_t>(parameters_.size()) : collector(OF_COLLECTS_POSITIONAL);
  for (size_t i = 0; i < positional.size(); ++i) {
    if (has_items && i + 1 == places.size()) {
      natives_[places[i]].items = positional.subspan(i);
      return;
    }
    if (rest < parameters_.size() && (i >= places.size() || places[i] >= rest)) {
      collected_[0].emplace_back(nullptr, positional[i]);
    } else if (i < places.size()) {
      natives_[places[i]] = {positional[i], true, {}};
    } else {
      const size_t receivers = receiver_ >= 0 ? 1 : 0;
      progress_ = {OF_REFUSAL_TOO_MANY, static_cast<int32_t>(places.size()), false};
      refuse_count(positional.size() - receivers, places.size() - receivers);
      return;
    }
  }
}

void Binder::assign_named(const Given& given) {
  if (is_refused()) return;
  uint32_t* places = store_.memory.allocate<uint32_t>(given.names.size());
  for (size_t i = 0; i < given.names.size(); ++i) {
    places[i] = find(given.names[i]);
    if (places[i] < parameters_.size()) continue;
    const bool is_null = is_function_ && language_.has_options && look(given.named[i]).kind == OF_DATA_NONE;
    const bool is_collected = !language_.has_options && collector(OF_COLLECTS_NAMED) < parameters_.size();
    if (is_collected && given.names[i] != nullptr)
      collected_[1].emplace_back(given.names[i], given.named[i]);
    else if (!is_null)
      refuse_name(given, i);
    if (is_refused()) return;
  }
  progress_ = {OF_REFUSAL_ABSENT, static_cast<int32_t>(given.names.size()), false};
  for (size_t i = 0; i < given.names.size(); ++i) {
    if (places[i] == parameters_.size()) continue;
    const of_parameter& parameter = parameters_[places[i]];
    Native& native = natives_[places[i]];
    const bool is_option = is_function_ && language_.has_options && !parameter.type->is_optional;
    if (is_option && look(given.named[i]).kind == OF_DATA_NONE) continue;
    const bool is_absent = native.is_given && look(native.value).kind == OF_DATA_ABSENT;
    if ((native.is_given && !is_absent) || !native.items.empty())
      refuse(OF_TYPE_MISMATCH, std::string("argument ") + parameter.name + " given twice");
    native = {given.named[i], true, {}};
  }
}

// Returns whether the last positional argument has the arguments by name: a map where the parameter is no map, or after
// the last one.
bool Binder::is_options(std::span<const of_native> positional) {
  if (is_function_ || !language_.has_options || positional.empty() || parameters_.empty()) return false;
  const size_t last = positional.size() - 1;
  if (last > positional_count() || look(positional[last]).kind != OF_DATA_MAP) return false;
  if (last == positional_count()) return last < parameters_.size();
  return !parameters_[last].is_required && !parameters_[last].collects && parameters_.back().is_named;
}

void Binder::assign_options(of_native options) {
  const uint32_t count = look(options).count;
  std::vector<const char*> names;
  std::vector<of_native> values;
  for (uint32_t i = 0; i < count; ++i) {
    of_native key = nullptr, value = nullptr;
    check_language(language_.entry(context_, options, i, &key, &value));
    if (look(value).kind == OF_DATA_ABSENT) continue;
    names.push_back(key_text("options", look(key), key));
    if (is_refused()) return;
    values.push_back(value);
  }
  assign_named({{}, names, values.data()});
}

// Returns the arguments that a parameter collects.
of_data Binder::collected(uint32_t position) {
  const of_parameter& parameter = parameters_[position];
  std::vector<std::pair<const char*, of_native>> found;
  for (int sort = 0; sort < 2; ++sort)
    if (parameter.collects & (1 << sort)) found.insert(found.end(), collected_[sort].begin(), collected_[sort].end());
  of_data* items = store_.memory.allocate<of_data>(found.size());
  const char** keys = store_.memory.allocate<const char*>(found.size());
  const bool has_items = parameter.type->kind == OF_TYPE_LIST || parameter.type->kind == OF_TYPE_MAP;
  const of_type& type = has_items ? *parameter.type->items : *parameter.type;
  for (size_t i = 0; i < found.size(); ++i) {
    keys[i] = found[i].first;
    // A named argument is named by itself: "batch must be int".
    const std::string name = keys[i] != nullptr ? keys[i] : std::string("an item of ") + parameter.name;
    items[i] = has_items ? convert(name, type, found[i].second)
                         : convert_nested(std::string("the ") + parameter.name, type, found[i].second, 1);
  }
  const int32_t kind = parameter.collects == OF_COLLECTS_BOTH         ? OF_DATA_ARGUMENTS
                       : parameter.collects == OF_COLLECTS_POSITIONAL ? OF_DATA_LIST
                                                                      : OF_DATA_MAP;
  return {kind, static_cast<uint32_t>(found.size()), {.items = items}, {.keys = keys}, nullptr};
}

// Returns the arguments that a single value has for a parameter that collects them: a list for positional ones, a map
// for named ones, and any other value for itself.
of_data Binder::spread(const of_parameter& parameter, of_native value) {
  const of_data found = look(value);
  const bool is_list = found.kind == OF_DATA_LIST && (parameter.collects & OF_COLLECTS_POSITIONAL);
  if (found.kind == OF_DATA_MAP && (parameter.collects & OF_COLLECTS_NAMED)) {
    if (parameter.collects == OF_COLLECTS_BOTH) return convert(parameter.name, *parameter.type, value);
    for (uint32_t i = 0; i < found.count; ++i) {
      of_native key = nullptr, item = nullptr;
      check_language(language_.entry(context_, value, i, &key, &item));
      collected_[1].emplace_back(key_text(parameter.name, look(key), key), item);
      if (is_refused()) return {};
    }
  } else if (parameter.collects == OF_COLLECTS_NAMED) {
    if (found.kind != OF_DATA_NONE) return refuse_type(parameter.name, *parameter.type, value);
  } else if (is_list) {
    if (!has_length(parameter.name, found)) return {};
    for (of_native item : items_of(value, found.count)) collected_[0].emplace_back(nullptr, item);
  } else {
    collected_[0].emplace_back(nullptr, value);
  }
  return collected(static_cast<uint32_t>(&parameter - parameters_.data()));
}

}  // namespace oneflow::objects
