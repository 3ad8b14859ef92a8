#include "classes/classes.h"

#include <cstring>
#include <map>
#include <string_view>

#include "calls/operators.h"
#include "classes/class_table.h"
#include "classes/language.h"
#include "errors.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

// A class of the table as a Python class.
struct Type {
  const ClassRecord* record;
  const of_class* object_class;
  PyTypeObject* type;
};

// What was added to the module. It lives as long as the process.
std::vector<Type>& types() {
  static auto* found = new std::vector<Type>;
  return *found;
}
std::map<std::string_view, PyObject*>& records() {
  static auto* found = new std::map<std::string_view, PyObject*>;
  return *found;
}
std::map<std::string_view, PyObject*>& constants() {
  static auto* found = new std::map<std::string_view, PyObject*>;
  return *found;
}

// Returns the class that an object is an instance of, or NULL.
const Type* type_of(PyObject* object) {
  for (const Type& each : types())
    if (PyObject_TypeCheck(object, each.type)) return &each;
  return nullptr;
}

// Returns "oneflow_py.graph.Graph", and "oneflow_py.graph" without a name.
std::string full_name(const char* name_space, const char* name) {
  std::string text = "oneflow_py";
  for (const char* part : {name_space, name})
    if (*part != '\0') text += std::string(".") + part;
  return text;
}

Object* cast(PyObject* object) { return reinterpret_cast<Object*>(object); }

// ------------------------------------------------------------------------------------------------ calls

// A call of a method with its arguments bound.
class Call {
 public:
  ~Call() { of_bound_call_release(call_); }

  // Binds the arguments. Raises and returns false if they do not fit.
  bool bind(const MethodRecord& record, const of_class* object_class, void* handle, const Arguments& arguments) {
    const std::vector<const char*> names = names_of(arguments.keywords);
    const std::vector<of_native> values(arguments.values, arguments.values + arguments.count + names.size());
    context_.names = arguments.keywords;
    return check(of_bind(&record.method, &python_language, &context_, object_class, handle, values.data(),
                         static_cast<size_t>(arguments.count), names.data(), names.size(), &call_));
  }

  // Runs the method. Raises and returns NULL if it fails.
  const of_data* run() {
    const of_status status = [this] {
      UnlockedScope unlocked(of_bound_call_work(call_) != OF_WORK_SHORT);
      return of_bound_call_run(call_);
    }();
    if (!check(status)) return nullptr;
    const char* warning = of_bound_call_warning(call_);
    if (warning != nullptr && PyErr_WarnEx(PyExc_UserWarning, warning, 1) != 0) return nullptr;
    return of_bound_call_result(call_);
  }

 private:
  CallContext context_;  // the run of the method may ask what a value is
  of_bound_call call_ = nullptr;
};

// Returns the handle of the receiver of a method; raises and returns NULL if __init__ has not run.
void* handle_of_receiver(const MethodRecord& record, PyObject* self) {
  if (is_tensor(self)) return handle_of(self);
  if (cast(self)->handle == nullptr)
    raise(OF_INVALID_ARGUMENT,
          std::string(record.name) + ": __init__ of the class " + type_of(self)->record->name + " has not been called");
  return cast(self)->handle;
}

PyObject* call_bound(const MethodRecord& record, PyObject* self, PyObject* const* args, Py_ssize_t count,
                     PyObject* keywords) {
  void* handle = nullptr;
  if (self != nullptr && (handle = handle_of_receiver(record, self)) == nullptr) return nullptr;
  const of_class* object_class = self != nullptr && !is_tensor(self) ? type_of(self)->object_class : nullptr;
  Call call;
  if (!call.bind(record, object_class, handle, {args, count, keywords})) return nullptr;
  const of_data* result = call.run();
  if (result == nullptr) return nullptr;
  const of_type& type = *record.method.result;
  const bool returns_self = type.kind == OF_TYPE_OBJECT && !type.is_optional && result->kind == OF_DATA_NONE;
  return returns_self ? Py_NewRef(self) : to_python(type, *result);
}

// ------------------------------------------------------------------------------------------------ overriding

// Calls the method of a subclass, for the library. `self` is a tuple of a weak reference to the object and the name.
PyObject* call_overriding(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject*) {
  const Ref object(PyObject_CallNoArgs(PyTuple_GET_ITEM(self, 0)));
  if (!object) return nullptr;
  if (object.get() == Py_None) {
    const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(self, 1));
    return raise(OF_INVALID_ARGUMENT,
                 std::string(name) + ": the object whose class overrides it does not exist any more");
  }
  const Ref method(PyObject_GetAttr(object.get(), PyTuple_GET_ITEM(self, 1)));
  return method ? PyObject_Vectorcall(method.get(), args, static_cast<size_t>(count), nullptr) : nullptr;
}

// Tells the library which methods the class of an object overrides. Raises and returns false on failure.
bool set_overrides(PyObject* self, const Type& type) {
  static PyMethodDef definition = fast_method("override", call_overriding, nullptr);
  PyObject* own_type = reinterpret_cast<PyObject*>(Py_TYPE(self));
  for (const MethodRecord* each : type.record->methods) {
    if (!each->is_overridable) continue;
    const Ref own(PyObject_GetAttrString(own_type, each->name));
    const Ref inherited(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type.type), each->name));
    if (!own || !inherited) return false;
    if (own.get() == inherited.get()) continue;
    const Ref weak(PyWeakref_NewRef(self, nullptr));
    const Ref target(weak ? Py_BuildValue("(Os)", weak.get(), each->name) : nullptr);
    const Ref function(target ? PyCFunction_NewEx(&definition, target.get(), nullptr) : nullptr);
    if (!function) return false;
    CallContext context;
    if (!check(of_override(type.object_class, cast(self)->handle, &each->method, &python_language, &context,
                           function.get())))
      return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------ slots

// Creates the handle of an object.
int create(PyObject* self, const Type& type, PyObject* arguments, PyObject* keywords) {
  if (type.record->create == nullptr) {
    raise(OF_TYPE_MISMATCH, std::string(type.record->name) + ": " + type.record->made_by);
    return -1;
  }
  UnpackedArguments unpacked;
  Call call;
  if (!unpacked.unpack(arguments, keywords) || !call.bind(*type.record->create, nullptr, nullptr, unpacked.get()))
    return -1;
  const of_data* result = call.run();
  if (result == nullptr) return -1;
  if (cast(self)->handle != nullptr) {  // which calls on other threads may use
    raise(OF_INVALID_ARGUMENT, std::string(type.record->name) + ": the object was created before");
    return -1;
  }
  cast(self)->handle = result->as.object;
  type.object_class->retain(result->as.object);
  return Py_TYPE(self) == type.type || set_overrides(self, type) ? 0 : -1;
}

int initialize(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return create(self, *type_of(self), arguments, keywords);
}

void destroy(PyObject* self) {
  PyTypeObject* own = Py_TYPE(self);
  Object* object = cast(self);
  if (object->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  if (object->handle != nullptr) {
    const Type& type = *type_of(self);
    const UnlockedScope unlocked(type.record->context.leave != nullptr);  // the end of what has begun may wait
    type.object_class->release(object->handle);
  }
  reinterpret_cast<freefunc>(PyType_GetSlot(own, Py_tp_free))(self);
  Py_DECREF(reinterpret_cast<PyObject*>(own));
}

// Returns "Generator(seed=5, offset=0)" for a class with a state, "<oneflow_py.Graph object>" for others.
PyObject* represent(PyObject* self) {
  const Type& type = *type_of(self);
  if (type.record->state.get == nullptr || cast(self)->handle == nullptr)
    return PyUnicode_FromFormat("<oneflow_py.%s object at %p>", type.record->name, static_cast<void*>(self));
  const Ref state(call_bound(*type.record->state.get, self, nullptr, 0, nullptr));
  if (!state) return nullptr;
  const Ref own_name(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(self)), "__name__"));
  const char* class_name = own_name ? PyUnicode_AsUTF8(own_name.get()) : nullptr;
  if (class_name == nullptr) return nullptr;
  std::string text = class_name;
  const of_type& fields = *type.record->state.get->method.result;
  for (uint32_t i = 0; i < fields.count; ++i) {
    const Ref value(PyObject_Repr(PyTuple_GET_ITEM(state.get(), i)));
    const char* words = value ? PyUnicode_AsUTF8(value.get()) : nullptr;
    if (words == nullptr) return nullptr;
    text += (i == 0 ? "(" : ", ") + std::string(fields.names[i]) + "=" + words;
  }
  return PyUnicode_FromString((text + ")").c_str());
}

// Returns what pickle and copy make an independent object in the same state of.
PyObject* reduce(PyObject* self, PyObject*) {
  const Ref state(call_bound(*type_of(self)->record->state.get, self, nullptr, 0, nullptr));
  const Ref values(state ? PySequence_Tuple(state.get()) : nullptr);
  const Ref copyreg(values ? PyImport_ImportModule("copyreg") : nullptr);
  const Ref new_object(copyreg ? PyObject_GetAttrString(copyreg.get(), "__newobj__") : nullptr);
  if (!new_object) return nullptr;
  // Subclasses have attributes of their own.
  const Ref attributes(PyObject_GetAttrString(self, "__dict__"));
  if (!attributes) PyErr_Clear();
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(self));
  if (!attributes) return Py_BuildValue("O(O)O", new_object.get(), type, values.get());
  return Py_BuildValue("O(O)(OO)", new_object.get(), type, values.get(), attributes.get());
}

PyObject* set_state(PyObject* self, PyObject* state) {
  if (cast(self)->handle == nullptr) {
    const Ref none(PyTuple_New(0));
    if (!none || create(self, *type_of(self), none.get(), nullptr) != 0) return nullptr;
  }
  if (PyTuple_Check(state) && PyTuple_GET_SIZE(state) == 2 && PyDict_Check(PyTuple_GET_ITEM(state, 1))) {
    const Ref attributes(PyObject_GetAttrString(self, "__dict__"));
    if (!attributes || PyDict_Update(attributes.get(), PyTuple_GET_ITEM(state, 1)) != 0) return nullptr;
    state = PyTuple_GET_ITEM(state, 0);
  }
  return call_bound(*type_of(self)->record->state.set, self, &state, 1, nullptr);
}

// __enter__ and __exit__.
PyObject* enter(PyObject* self, PyObject*) {
  const Ref done(call_bound(*type_of(self)->record->context.enter, self, nullptr, 0, nullptr));
  return done ? Py_NewRef(self) : nullptr;
}

PyObject* leave(PyObject* self, PyObject* exception) {
  const Ref done(call_bound(*type_of(self)->record->context.leave, self, nullptr, 0, nullptr));
  // The exception of the block, if there is one, is more important than an error of the end.
  const bool has_exception = PyTuple_GET_SIZE(exception) > 0 && PyTuple_GET_ITEM(exception, 0) != Py_None;
  if (!done && !has_exception) return nullptr;
  PyErr_Clear();
  Py_RETURN_NONE;
}

// ------------------------------------------------------------------------------------------------ equality

PyObject* value_of(PyObject* self) { return call_bound(*type_of(self)->record->equality, self, nullptr, 0, nullptr); }

PyObject* compare(PyObject* self, PyObject* other, int relation) {
  const Type* type = type_of(other);
  if ((relation != Py_EQ && relation != Py_NE) || type == nullptr || type->record != type_of(self)->record)
    return Py_NewRef(Py_NotImplemented);
  const Ref own(value_of(self));
  const Ref others(own ? value_of(other) : nullptr);
  return others ? PyObject_RichCompare(own.get(), others.get(), relation) : nullptr;
}

Py_hash_t hash(PyObject* self) {
  const Ref value(value_of(self));
  return value ? PyObject_Hash(value.get()) : -1;
}

// ------------------------------------------------------------------------------------------------ items

PyObject* keys_of(PyObject* self) { return call_bound(*type_of(self)->record->items.keys, self, nullptr, 0, nullptr); }

PyObject* keys_of_object(PyObject* self, PyObject*) { return keys_of(self); }

PyObject* get_item(PyObject* self, PyObject* key) {
  return call_bound(*type_of(self)->record->items.get, self, &key, 1, nullptr);
}

Py_ssize_t count_items(PyObject* self) {
  const Ref keys(keys_of(self));
  return keys ? PyList_Size(keys.get()) : -1;
}

int contains(PyObject* self, PyObject* key) {
  const Ref keys(keys_of(self));
  return keys ? PySequence_Contains(keys.get(), key) : -1;
}

PyObject* iterate(PyObject* self) {
  const Ref keys(keys_of(self));
  return keys ? PyObject_GetIter(keys.get()) : nullptr;
}

// ------------------------------------------------------------------------------------------------ definitions

const PyMemberDef kMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Object, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyObject* text_of(PyObject* self) { return call_bound(*type_of(self)->record->text, self, nullptr, 0, nullptr); }

PyObject* get_property(PyObject* self, void* property) {
  return call_bound(*static_cast<const PropertyRecord*>(property)->get, self, nullptr, 0, nullptr);
}

int set_property(PyObject* self, PyObject* value, void* property) {
  const MethodRecord& set = *static_cast<const PropertyRecord*>(property)->set;
  if (value == nullptr) {
    PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", set.name);
    return -1;
  }
  const Ref done(call_bound(set, self, &value, 1, nullptr));
  return done ? 0 : -1;
}

// Returns the methods of a class, which live as long as the process.
PyMethodDef* methods_of(const ClassRecord& record) {
  auto* methods = new std::vector<PyMethodDef>;
  for (const MethodRecord* each : record.methods)
    methods->push_back(fast_method(each->name, each->function, each->documentation));
  if (record.state.get != nullptr) {
    methods->push_back({"__reduce__", reduce, METH_NOARGS, nullptr});
    methods->push_back({"__setstate__", set_state, METH_O, nullptr});
  }
  if (record.context.enter != nullptr) {
    methods->push_back({"__enter__", enter, METH_NOARGS, nullptr});
    methods->push_back({"__exit__", leave, METH_VARARGS, nullptr});
  }
  if (record.items.keys != nullptr)
    methods->push_back({"keys", keys_of_object, METH_NOARGS, "keys($self)\n--\n\nReturns the names of the items."});
  methods->push_back({nullptr, nullptr, 0, nullptr});
  return methods->data();
}

PyGetSetDef* properties_of(const ClassRecord& record) {
  auto* properties = new std::vector<PyGetSetDef>;
  for (const PropertyRecord& each : record.properties) {
    properties->push_back({each.get->name, get_property, each.set != nullptr ? set_property : nullptr,
                           each.get->documentation, const_cast<PropertyRecord*>(&each)});
  }
  properties->push_back({nullptr, nullptr, nullptr, nullptr, nullptr});
  return properties->data();
}

// Assigns the special methods of a class to it once more: only then does Python's syntax call them.
bool install_special_methods(PyObject* type, const ClassRecord& record) {
  for (const MethodRecord* each : record.methods) {
    if (std::strncmp(each->name, "__", 2) != 0) continue;
    const Ref method(PyObject_GetAttrString(type, each->name));
    if (!method || PyObject_SetAttrString(type, each->name, method.get()) != 0) return false;
  }
  return true;
}

bool add_class(PyObject* module, const ClassRecord& record) {
  const bool has_items = record.items.keys != nullptr, has_equality = record.equality != nullptr;
  const auto default_hash = reinterpret_cast<hashfunc>(PyType_GetSlot(&PyBaseObject_Type, Py_tp_hash));
  const auto default_comparison = reinterpret_cast<richcmpfunc>(PyType_GetSlot(&PyBaseObject_Type, Py_tp_richcompare));
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>(record.documentation)},
      {Py_tp_init, reinterpret_cast<void*>(initialize)},
      {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
      {Py_tp_repr, reinterpret_cast<void*>(represent)},
      {Py_tp_methods, methods_of(record)},
      {Py_tp_getset, properties_of(record)},
      {Py_tp_members, const_cast<PyMemberDef*>(kMembers)},
      {Py_tp_hash, reinterpret_cast<void*>(has_equality ? hash : default_hash)},
      {Py_tp_richcompare, reinterpret_cast<void*>(has_equality ? compare : default_comparison)},
      {Py_tp_str, reinterpret_cast<void*>(record.text != nullptr ? text_of : PyObject_Repr)},
      // Of an object that is no map, these end the list.
      {has_items ? Py_mp_subscript : 0, reinterpret_cast<void*>(get_item)},
      {Py_mp_length, reinterpret_cast<void*>(count_items)},
      {Py_sq_contains, reinterpret_cast<void*>(contains)},
      {Py_tp_iter, reinterpret_cast<void*>(iterate)},
      {0, nullptr},
  };
  const auto* name = new std::string(full_name(record.name_space, record.name));
  PyType_Spec spec = {name->c_str(), sizeof(Object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) return false;
  types().push_back({&record, of_class_find(record.name), reinterpret_cast<PyTypeObject*>(type)});
  const Ref home = namespace_module(module, record.name_space);
  return home && PyModule_AddObjectRef(home.get(), record.name, type) == 0 && install_special_methods(type, record);
}

bool add_record(PyObject* module, const RecordRecord& record) {
  const Ref home = namespace_module(module, record.name_space);
  PyObject* type = home ? named_tuple(home.get(), record.name, record.fields) : nullptr;
  const Ref owner(type != nullptr ? PyUnicode_FromString(full_name(record.name_space, "").c_str()) : nullptr);
  if (!owner || PyObject_SetAttrString(type, "__module__", owner.get()) != 0) return false;
  records()[record.name] = type;
  if (record.text == nullptr) return true;
  const std::string source = "lambda self: self." + std::string(record.text) + ".removesuffix('\\n')";
  const Ref code(Py_CompileString(source.c_str(), "oneflow_py", Py_eval_input));
  const Ref names(code ? PyDict_New() : nullptr);
  const Ref text(names ? PyEval_EvalCode(code.get(), names.get(), names.get()) : nullptr);
  return text && PyObject_SetAttrString(type, "__str__", text.get()) == 0;
}

bool add_function(PyObject* module, const MethodRecord& record) {
  const Ref home = namespace_module(module, record.name_space);
  const Ref owner(PyUnicode_FromString(full_name(record.name_space, "").c_str()));
  auto* definition = new PyMethodDef(fast_method(record.name, record.function, record.documentation));
  const Ref function(home && owner ? PyCFunction_NewEx(definition, nullptr, owner.get()) : nullptr);
  return function && PyModule_AddObjectRef(home.get(), record.name, function.get()) == 0;
}

}  // namespace

PyObject* call_method(const MethodRecord& record, PyObject* self, PyObject* const* args, Py_ssize_t count,
                      PyObject* keywords) {
  for (const FunctionOfRecord& each : function_of_records)
    if (each.method == &record) self = each.constant != nullptr ? constants()[each.constant] : nullptr;
  return call_bound(record, self, args, count, keywords);
}

std::vector<PyMethodDef> methods_of_tensors() {
  std::vector<PyMethodDef> methods;
  for (const MethodRecord* each : tensor_methods)
    methods.push_back(fast_method(each->name, each->function, each->documentation));
  return methods;
}

const Object* as_object(PyObject* object) { return type_of(object) != nullptr ? cast(object) : nullptr; }

const of_class* class_of(PyObject* object) { return type_of(object)->object_class; }

void* handle_of_class(PyObject* object, const char* class_name) {
  const Type* type = type_of(object);
  return type != nullptr && std::strcmp(type->record->name, class_name) == 0 ? cast(object)->handle : nullptr;
}

PyObject* new_object(const of_class* object_class, void* handle) {
  for (const ConstantRecord& each : constant_records) {
    const auto constant = constants().find(each.name);
    if (constant != constants().end() && each.get() == handle) return Py_NewRef(constant->second);
  }
  for (const Type& each : types()) {
    if (each.object_class != object_class) continue;
    PyObject* object = PyType_GenericAlloc(each.type, 0);
    if (object == nullptr) return nullptr;
    cast(object)->handle = handle;
    object_class->retain(handle);
    return object;
  }
  return raise(OF_INTERNAL_ERROR, "the class of a result does not exist");
}

PyObject* record_class(const char* name) { return records()[name]; }

bool add_classes(PyObject* module) {
  for (MethodRecord& each : method_records) each.method.implementation = of_implementation_find(each.implementation);
  for (const RecordRecord& each : record_records)
    if (!add_record(module, each)) return false;
  for (const ClassRecord& each : class_records)
    if (!add_class(module, each)) return false;
  for (const ConstantRecord& each : constant_records) {
    PyObject* object = new_object(of_class_find(each.class_name), each.get());
    if (object == nullptr || PyModule_AddObjectRef(module, each.name, object) != 0) return false;
    constants()[each.name] = object;
  }
  for (const FunctionOfRecord& each : function_of_records)
    if (!add_function(module, *each.method)) return false;
  return true;
}

}  // namespace oneflow::python
