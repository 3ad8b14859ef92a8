// The table of classes, which the generator defines in generated/class_table.cpp.
#pragma once

#include <oneflow/objects.h>

#include <span>

namespace oneflow::node {

// A method, a function or a constructor. JavaScript refers to it by its position.
struct MethodRecord {
  of_method method;            // its implementation is looked up when the addon is loaded
  const char* implementation;  // the name of it
};

// An object that lives as long as the process.
struct ConstantRecord {
  const char* name;
  const char* class_name;
  void* (*get)();
};

extern const std::span<MethodRecord> method_records;
extern const std::span<const ConstantRecord> constant_records;

}  // namespace oneflow::node
