// Objects that one rank sends to all others: numbers, texts, and lists and maps of them, in any language.
#include <oneflow/processes.h>
#include <oneflow/values.h>

#include <nlohmann/json.hpp>

#include "objects/handle.h"
#include "objects/results.h"
#include "objects/values.h"

namespace oneflow::objects {
namespace {

using Json = nlohmann::ordered_json;
using OwnedTensor = Owned<of_tensor, of_tensor_release>;

const char* word_of(const of_data& data) {
  if (data.kind == OF_DATA_TENSOR) return "a Tensor";
  return data.kind == OF_DATA_OBJECT ? data.of.object->name : "another value";
}

Json encoded(const of_data& data, const Results& results) {
  switch (data.kind) {
    case OF_DATA_ABSENT:
    case OF_DATA_NONE:
      return nullptr;
    case OF_DATA_BOOL:
      return data.as.boolean;
    case OF_DATA_INT:
      return data.as.integer;
    case OF_DATA_UINT:
      return data.as.natural;
    case OF_DATA_FLOAT:
      return data.as.real;
    case OF_DATA_TEXT:
      return std::string(data.as.text, data.count);
    case OF_DATA_LIST: {
      Json list = Json::array();
      for (uint32_t i = 0; i < data.count; ++i) list.push_back(encoded(data.as.items[i], results));
      return list;
    }
    case OF_DATA_MAP: {
      Json map = Json::object();
      for (uint32_t i = 0; i < data.count; ++i) map[data.of.keys[i]] = encoded(data.as.items[i], results);
      return map;
    }
    default:  // the language's lock is not held, so that it cannot say more
      results.fail(OF_TYPE_MISMATCH,
                   results.parameter(0) + " must consist of numbers, texts, lists and maps, got " + word_of(data));
  }
}

of_data decoded(const Json& json, Results& results) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return results.boolean(json.get<bool>());
    case Json::value_t::number_integer:
      return results.integer(json.get<int64_t>());
    case Json::value_t::number_unsigned: {
      const auto number = json.get<uint64_t>();
      return number <= INT64_MAX ? results.integer(static_cast<int64_t>(number)) : results.natural(number);
    }
    case Json::value_t::number_float:
      return results.real(json.get<double>());
    case Json::value_t::string:
      return results.text(json.get_ref<const std::string&>());
    case Json::value_t::array: {
      std::vector<of_data> items;
      for (const Json& each : json) items.push_back(decoded(each, results));
      return results.list(items);
    }
    case Json::value_t::object: {
      std::vector<of_data> items;
      std::vector<std::string> keys;
      for (const auto& [key, item] : json.items()) {
        keys.push_back(key);
        items.push_back(decoded(item, results));
      }
      return results.map(items, keys);
    }
    default:
      return results.none();
  }
}

// Replaces bytes by those of the root; their number must be the same on all ranks.
void broadcast(void* bytes, int64_t size, const of_data& root, const of_data& group) {
  auto source = sized<of_tensor_source>();
  source.data = bytes;
  source.dtype = OF_UINT8;
  source.rank = 1;
  source.sizes = &size;
  source.bytes = static_cast<uint64_t>(size);
  of_tensor made = nullptr;
  check(of_tensor_create(&source, &made));
  const OwnedTensor tensor(made);
  of_value arguments[] = {of_tensor_value(made), of_int_value(root.as.integer), of_none()};
  if (group.kind == OF_DATA_OBJECT)
    arguments[2] = of_string_value(of_group_text(static_cast<of_group>(group.as.object)));
  of_value result = of_absent();
  check(of_call(of_op_find("comm.broadcast"), arguments, 3, &result, 1));
  const OwnedTensor received(result.as.tensor);
  check(of_tensor_read(result.as.tensor, bytes, static_cast<uint64_t>(size)));
}

}  // namespace

// broadcast_object(object, root, group)
of_status comm_broadcast_object(void*, const of_data* given, Results& results) {
  int64_t size = 0, position = 0, root = given[1].as.integer, rank = 0;
  auto* const group = given[2].kind == OF_DATA_OBJECT ? static_cast<of_group>(given[2].as.object) : nullptr;
  check(of_group_position(group, &position));
  if (position >= 0) check(of_group_rank_at(group, position, &rank));
  std::vector<uint8_t> bytes;
  if (rank == root) bytes = Json::to_cbor(encoded(given[0], results));
  size = static_cast<int64_t>(bytes.size());
  broadcast(&size, sizeof size, given[1], given[2]);
  bytes.resize(static_cast<size_t>(size));
  broadcast(bytes.data(), size, given[1], given[2]);
  results.give(decoded(Json::from_cbor(bytes), results));
  return OF_OK;
}

}  // namespace oneflow::objects
