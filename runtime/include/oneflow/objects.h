/* Objects in the languages of front ends: how arguments of methods are bound and converted, in one place for all.
 *
 * The generator writes a table of methods for each language from the records of classes. A front end says what a value
 * of its language is (of_language), and calls a method in three steps:
 *
 *     of_bound_call call;
 *     of_bind(&method, &language, context, self, values, count, names, name_count, &call);
 *     of_bound_call_run(call);                   without the lock of the language, or on another thread
 *     ... of_bound_call_result(call) ...         which it converts to values of its language
 *     of_bound_call_release(call);
 *
 * Error texts are those of operators: see docs/reference/errors.md.
 */
#ifndef ONEFLOW_OBJECTS_H_
#define ONEFLOW_OBJECTS_H_

#include <oneflow/oneflow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A class of objects. It lives as long as the process. */
typedef struct of_class {
  const char* name;
  void (*retain)(void* object); /* NULL: its objects have a single owner */
  void (*release)(void* object);
} of_class;
/* Looks up a class by its name: "Generator". Returns NULL if there is none. */
OF_API const of_class* of_class_find(const char* name);

/* ---------------------------------------------------------------- data */

/* What data is. */
typedef enum of_data_kind {
  OF_DATA_ABSENT = 0, /* an argument that was not given */
  OF_DATA_NONE = 1,
  OF_DATA_BOOL = 2,
  OF_DATA_INT = 3,
  OF_DATA_UINT = 4,  /* an integer above the range of int64 */
  OF_DATA_LARGE = 5, /* an integer beyond 64 bits */
  OF_DATA_FLOAT = 6,
  OF_DATA_TEXT = 7,     /* UTF-8, `count` bytes, with a zero byte after them */
  OF_DATA_BAD_TEXT = 8, /* a string that cannot be encoded as UTF-8 */
  OF_DATA_DTYPE = 9,
  OF_DATA_DEVICE = 10,
  OF_DATA_TENSOR = 11,
  OF_DATA_OBJECT = 12,   /* of a class */
  OF_DATA_DISPOSED = 13, /* an object whose memory the program has released */
  OF_DATA_LIST = 14,     /* `count` items; also a record, in the order of its fields */
  OF_DATA_MAP = 15,      /* `count` items, each with a key */
  OF_DATA_FUNCTION = 16,
  OF_DATA_OTHER = 17
} of_data_kind;

/* An argument or a result of a method. */
typedef struct of_data {
  int32_t kind; /* an of_data_kind */
  uint32_t count;
  union {
    bool boolean;
    int64_t integer;
    uint64_t natural;
    double real;
    const char* text;
    of_dtype dtype;
    of_device device;
    of_tensor tensor;
    void* object;
    const struct of_data* items;
  } as;
  union {
    const of_class* object;  /* of an OBJECT */
    const char* const* keys; /* of a MAP */
  } of;
} of_data;

/* ---------------------------------------------------------------- types */

/* What values a type has. */
typedef enum of_type_kind {
  OF_TYPE_NONE = 0, /* the result of a method that returns nothing, or its object */
  OF_TYPE_BOOL = 1,
  OF_TYPE_INT = 2,
  OF_TYPE_WORD = 3, /* 64 bits: integers from -2^63 to 2^64 - 1 as arguments, natural numbers as results */
  OF_TYPE_FLOAT = 4,
  OF_TYPE_TEXT = 5,
  OF_TYPE_DTYPE = 6,
  OF_TYPE_DEVICE = 7,
  OF_TYPE_TENSOR = 8,
  OF_TYPE_OBJECT = 9, /* of the class `name` */
  OF_TYPE_LIST = 10,  /* of `items` */
  OF_TYPE_MAP = 11,   /* from strings to `items` */
  OF_TYPE_RECORD = 12 /* of `count` fields: `names`, with the types in `items` */
} of_type_kind;

/* A type of arguments or results, in a language. */
typedef struct of_type {
  int32_t kind; /* an of_type_kind */
  bool is_optional;
  const char* word; /* its name in error texts: "int", "list of ints" */
  const char* name;
  uint32_t count;
  const struct of_type* items;
  const char* const* names;
} of_type;

/* A parameter of a method, in a language. */
typedef struct of_parameter {
  const char* name;
  const of_type* type;
  bool is_required;
  bool is_named; /* whether it is passed by name only */
} of_parameter;

/* What a method computes: a function of the library. */
typedef const struct of_implementation_object* of_implementation;
/* Looks up an implementation: "Generator.manual_seed", or "manual_seed" for a function. Returns NULL if there is
 * none. */
OF_API of_implementation of_implementation_find(const char* name);

/* A method in a language. */
typedef struct of_method {
  const char* name; /* which error texts begin with */
  of_implementation implementation;
  const of_parameter* parameters;
  uint32_t parameter_count;
  const of_type* result;
} of_method;

/* ---------------------------------------------------------------- languages */

/* A value of a language: a PyObject*, a VALUE, a napi_value. */
typedef void* of_native;

/* How values of a language are read. `context` is that of the call. Functions that fail return OF_INTERRUPTED after an
 * exception of the language, which the front end then raises. */
typedef struct of_language {
  uint32_t struct_size;
  bool has_options;      /* whether arguments by name are the entries of a map after the positional ones */
  bool names_fields;     /* whether records are maps of their fields, instead of lists */
  const char* too_large; /* "must ..." of an integer beyond 64 bits, after which "got <the integer>" follows; NULL: the
                            usual text */
  /* Says what a value is. Texts stay valid until the call is bound. Of a list or a map only the count is set. */
  of_status (*look)(void* context, of_native value, of_data* data);
  /* Gets an item of a list. */
  of_status (*item)(void* context, of_native list, uint32_t position, of_native* item);
  /* Gets an entry of a map: the key, UTF-8, stays valid until the call is bound; NULL for one that is not a string. */
  of_status (*entry)(void* context, of_native map, uint32_t position, const char** key, of_native* item);
  /* Gets the value of a map for a key: that of an absent one if there is none. Only where names_fields is set. */
  of_status (*field)(void* context, of_native map, const char* key, of_native* item);
  /* Returns the name of the type of a value for error texts: "str". It stays valid until the next call. */
  const char* (*type_name)(void* context, of_native value);
  /* Returns a value as the language prints it, such as a number of any length. It stays valid until the next call. */
  const char* (*print)(void* context, of_native value);
} of_language;

/* ---------------------------------------------------------------- calls */

/* A call of a method whose arguments are bound. */
typedef struct of_bound_call_object* of_bound_call;
/* Binds the arguments of a call to the parameters of a method, and converts them. `self` is the handle of the object,
 * NULL for functions. `values` has `count` positional arguments, then those named `names`. */
OF_API of_status of_bind(const of_method* method, const of_language* language, void* context, void* self,
                         const of_native* values, size_t count, const char* const* names, size_t name_count,
                         of_bound_call* result);
/* Keeps what the arguments refer to, with the present elements of tensors, until the release: for a call that runs on
 * another thread. `object` is the class of `self`. */
OF_API of_status of_bound_call_keep(of_bound_call call, const of_class* object);
/* Runs a call, once. */
OF_API of_status of_bound_call_run(of_bound_call call);
/* Returns the result of a call that has run: what it refers to is valid until the release. */
OF_API const of_data* of_bound_call_result(of_bound_call call);
/* Releases a call. NULL is allowed. */
OF_API void of_bound_call_release(of_bound_call call);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_OBJECTS_H_ */
