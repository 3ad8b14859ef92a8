// Tests methods that subclasses override, in a language whose values are the data itself.
#include "objects/overridable.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "objects/results.h"

namespace oneflow::objects {
namespace {

using NativeFunction = std::function<const of_data*(std::span<const of_data>)>;  // NULL: it raises an exception

int held_functions = 0;

of_status look(void*, of_native value, of_data* data) {
  *data = *static_cast<const of_data*>(value);
  return OF_OK;
}

const char* type_name(void*, of_native) { return "thing"; }

of_status parameters(void*, of_native, uint32_t, const char**) { return OF_OK; }

void* hold(void*, of_native function) {
  ++held_functions;
  return function;
}

void drop(void*) { --held_functions; }

of_status call(void* held, const of_data* arguments, uint32_t count, of_receiver receive, void* receiver) {
  const of_data* result = (*static_cast<NativeFunction*>(held))({arguments, count});
  return result != nullptr ? receive(receiver, nullptr, const_cast<of_data*>(result)) : OF_INTERRUPTED;
}

of_language make_language() {
  of_language language{};
  language.struct_size = sizeof language;
  language.look = look;
  language.type_name = type_name;
  language.parameters = parameters;
  language.hold = hold;
  language.drop = drop;
  language.call = call;
  return language;
}

const of_language kLanguage = make_language();

// An object with the overridable methods "Walk.step" and "Walk.name".
struct Walk : Overridable {
  int64_t step(int64_t position) const {
    Store store;
    const of_data given = integer(position);
    of_data next = integer(position + 1);
    call_override("Walk.step", {&given, 1}, store, &next);
    return next.as.integer;
  }
  std::string name() const {
    Store store;
    of_data found{};
    return call_override("Walk.name", {}, store, &found) ? found.as.text : "walk";
  }
  static of_data integer(int64_t value) { return {OF_DATA_INT, 0, {.integer = value}, {}, nullptr}; }
};

const of_class kWalk = {"Walk", nullptr, nullptr, nullptr,
                        [](void* object, const of_method* method, of_function function) {
                          static_cast<Walk*>(object)->override_method(method, function);
                        }};
const of_class kPlain = {"Plain", nullptr, nullptr, nullptr, nullptr};

const of_implementation_object kStep = {"Walk.step", nullptr, nullptr}, kName = {"Walk.name", nullptr, nullptr};
const of_type kInt = {OF_TYPE_INT, false, "int", nullptr, 0, nullptr, nullptr};
const of_type kText = {OF_TYPE_TEXT, false, "str", nullptr, 0, nullptr, nullptr};
const of_method kStepMethod = {"step", &kStep, nullptr, 0, &kInt};
const of_method kNameMethod = {"name", &kName, nullptr, 0, &kText};

of_status override_with(Walk& walk, const of_method& method, NativeFunction& function) {
  return of_override(&kWalk, &walk, &method, &kLanguage, nullptr, &function);
}

TEST(Overridable, OwnMethodsAreCalledWithoutAnOverride) {
  const Walk walk;
  EXPECT_EQ(walk.step(3), 4);
  EXPECT_EQ(walk.name(), "walk");
}

TEST(Overridable, TheFunctionOfASubclassIsCalledAndReleasedWithTheObject) {
  {
    Walk walk;
    of_data result{};
    NativeFunction doubled = [&](std::span<const of_data> given) {
      result = Walk::integer(2 * given[0].as.integer);
      return &result;
    };
    ASSERT_EQ(override_with(walk, kStepMethod, doubled), OF_OK);
    EXPECT_EQ(walk.step(3), 6);
    EXPECT_EQ(held_functions, 1);
  }
  EXPECT_EQ(held_functions, 0);
}

TEST(Overridable, ATextOutlivesTheValueOfTheLanguage) {
  Walk walk;
  std::string text = "a long walk in the mountains";
  of_data result{OF_DATA_TEXT, static_cast<uint32_t>(text.size()), {.text = text.c_str()}, {}, nullptr};
  NativeFunction named = [&](std::span<const of_data>) { return &result; };
  ASSERT_EQ(override_with(walk, kNameMethod, named), OF_OK);
  EXPECT_EQ(walk.name(), text);
}

TEST(Overridable, AResultOfAnotherTypeIsRefused) {
  Walk walk;
  of_data result{OF_DATA_OTHER, 0, {}, {}, nullptr};
  NativeFunction wrong = [&](std::span<const of_data>) { return &result; };
  ASSERT_EQ(override_with(walk, kStepMethod, wrong), OF_OK);
  try {
    walk.step(3);
    FAIL() << "the result was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), OF_TYPE_MISMATCH);
    EXPECT_STREQ(error.what(), "step: the result must be int, got thing");
  }
}

TEST(Overridable, AnExceptionOfTheLanguagePasses) {
  Walk walk;
  NativeFunction failing = [](std::span<const of_data>) { return nullptr; };
  ASSERT_EQ(override_with(walk, kStepMethod, failing), OF_OK);
  EXPECT_THROW(walk.step(3), Raised);
}

TEST(Overridable, OtherClassesHaveNoOverrides) {
  Walk walk;
  NativeFunction any = [](std::span<const of_data>) { return nullptr; };
  EXPECT_EQ(of_override(&kPlain, &walk, &kStepMethod, &kLanguage, nullptr, &any), OF_UNSUPPORTED);
  EXPECT_STREQ(of_last_error(), "step: the methods of Plain cannot be overridden");
}

}  // namespace
}  // namespace oneflow::objects
