/* What arguments mean in the languages of front ends: how those of functions, and of methods of objects, are bound and
 * converted, in one place for all.
 *
 * The generator writes tables for each language: of methods from the records of classes, of functions from those of
 * operators. A front end says what a value of its language is (of_language), and calls a method in three steps:
 *
 *     of_bound_call call;
 *     of_bind(&method, &language, context, object_class, self, values, count, names, name_count, &call);
 *     of_bound_call_run(call);                   without the lock of the language, or on another thread
 *     ... of_bound_call_result(call) ...         which it converts to values of its language
 *     of_bound_call_release(call);
 *
 * For a function, of_bind_function() selects the overload, whose operator the front end then calls. Calls whose
 * arguments are all of plain types need none of this: see short_call.hpp. docs/reference/errors.md has the error texts.
 */
#ifndef ONEFLOW_OBJECTS_H_
#define ONEFLOW_OBJECTS_H_

#include <oneflow/oneflow.h>

#ifdef __cplusplus
extern "C" {
#endif

struct of_method;

/* A function of a language that the library may call. */
typedef struct of_function_object* of_function;

/* A class of objects. It lives as long as the process. */
typedef struct of_class {
  const char* name;
  void (*retain)(void* object); /* NULL: its objects have a single owner */
  void (*release)(void* object);
  void* (*snapshot)(void* object); /* returns a new object in the present state, for a call on another thread; NULL: the
                                      object itself is kept */
  void (*override_method)(void* object, const struct of_method* method, of_function function); /* see of_override();
                                      NULL: subclasses override no methods */
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
  OF_DATA_BAD_TEXT = 8, /* a string that is not valid as UTF-8; `text` is NULL if it cannot be encoded */
  OF_DATA_DTYPE = 9,
  OF_DATA_DEVICE = 10,
  OF_DATA_TENSOR = 11,
  OF_DATA_OBJECT = 12,   /* of a class */
  OF_DATA_DISPOSED = 13, /* an object, or a tensor, that holds nothing any more, or not yet */
  OF_DATA_LIST = 14,     /* `count` items; also a record, in the order of its fields. Of a list of the language with
                            UINT32_MAX items or more, `natural` is their number */
  OF_DATA_MAP = 15,      /* `count` items, each with a key */
  OF_DATA_FUNCTION = 16,
  OF_DATA_ARGUMENTS = 17, /* `count` arguments of a call, each with a key; NULL for those without a name */
  OF_DATA_RECORD = 18,    /* `count` values, each with the name of its field */
  OF_DATA_OTHER = 19
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
    of_function function;
  } as;
  union {
    const of_class* object;  /* of an OBJECT */
    const char* const* keys; /* of a MAP, ARGUMENTS or a RECORD */
  } of;
  /* Of an argument, as values of the language: the keys of a MAP; then, for any data, the value itself. NULL for
   * others. */
  void* const* own;
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
  OF_TYPE_OBJECT = 9,  /* of the class `name` */
  OF_TYPE_LIST = 10,   /* of `items` */
  OF_TYPE_MAP = 11,    /* from strings to `items` */
  OF_TYPE_RECORD = 12, /* of `count` fields: `names`, with the types in `items` */
  OF_TYPE_PATH = 13,   /* of a file */
  OF_TYPE_NESTED = 14, /* a tensor, or maps and lists of them */
  OF_TYPE_RANGE = 15,  /* a list of the minimum, the maximum and the step of a size */
  OF_TYPE_FUNCTION = 16,
  OF_TYPE_SIZE = 17,  /* what is known of a size: a number or a range, as a list of three integers; or a TEXT, the name
                         of  an equal one */
  OF_TYPE_ARRAY = 18, /* a tensor, or what stands for one */
  OF_TYPE_POSITIVE = 19, /* an integer above 0 */
  OF_TYPE_DATA = 20,     /* any data; of an argument: numbers and texts, and maps and lists of them */
  /* Types of functions: */
  OF_TYPE_OPERAND = 21,  /* a tensor or a number; `items` is the type of tensors, or NULL */
  OF_TYPE_NUMBER = 22,   /* a bool, an integer of 64 bits, or a floating-point number */
  OF_TYPE_TRUE = 23,     /* true only */
  OF_TYPE_FALSE = 24,    /* false only */
  OF_TYPE_STRING = 25,   /* a text that the runtime checks; it may be invalid UTF-8 */
  OF_TYPE_WRITTEN = 26,  /* a tensor that is written to, for which nothing else stands */
  OF_TYPE_INTEGERS = 27, /* a tensor of integers, also where the language has only floating-point numbers */
  OF_TYPE_ITEMS = 28,    /* a list of `items`, or a single one; the last list also as separate arguments */
  OF_TYPE_PAIR = 29,     /* a list of two integers, in a list of them; `items` is the type of integers */
  OF_TYPE_INTS = 30,     /* a list of integers, or one, in a list of them */
  OF_TYPE_OUTPUTS = 31,  /* a list of `count` tensors that are written to */
  OF_TYPE_VALUE = 32,    /* any value of the language, which the front end converts itself */
  OF_TYPE_GROUP = 33,    /* an object of a class, or the text that stands for one */
  OF_TYPE_SINGLE = 34    /* a tensor, but not what stands for one if it is a list of tensors: the functions of the
                            namespace `name` take these */
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

/* What a parameter gets besides the argument of its position or name. */
typedef enum of_collects {
  OF_COLLECTS_NOTHING = 0,
  OF_COLLECTS_POSITIONAL = 1, /* a list of all further positional arguments */
  OF_COLLECTS_NAMED = 2,      /* a map of all further named arguments */
  OF_COLLECTS_BOTH = 3        /* ARGUMENTS: both. In a language with options: a list, a map or a single argument */
} of_collects;

/* A parameter of a method, in a language. */
typedef struct of_parameter {
  const char* name;
  const of_type* type;
  bool is_required;
  bool is_named;           /* whether it is passed by name only */
  int32_t collects;        /* an of_collects */
  const char* other_names; /* separated by spaces; NULL: none */
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

/* ---------------------------------------------------------------- functions */

/* The most parameters of an overload, and the most results. */
#define OF_MAX_PARAMETERS 16
#define OF_MAX_RESULTS 4

/* An operator as an overload of a function, in a language. It is plain data, which any library may contain. */
typedef struct of_overload {
  const char* op;                 /* the operator: "max.dim"; NULL: the front end does the work */
  const of_parameter* parameters; /* first those that may be passed by position */
  int32_t parameter_count;
  int32_t positional_count;
  int32_t result_count;
  const char* result_names; /* of several results, separated by spaces; NULL: they have none */
  int32_t receiver;         /* the parameter that is the object of a method call; -1: it is no method */
  int32_t replaced;         /* the parameter that the in-place form overwrites with the result; -1: no such form */
  int32_t written;          /* the parameter that the operator writes to and returns; -1: none */
  int32_t viewed;           /* the parameter whose memory the results share; -1: none */
  bool gives_list;          /* whether the single result is a list of tensors */
  bool has_out;             /* whether `out` is accepted, for tensors that the results are written to */
  bool makes_leaves;        /* whether `requires_grad` is accepted, for the result */
} of_overload;

/* A function in a language: the overloads that share a name, in the order in which a call tries them. */
typedef struct of_public_function {
  const char* name;          /* which error texts begin with: "comm.local.all_reduce" */
  const char* in_place_name; /* that of the in-place form; NULL: there is none */
  const of_overload* overloads;
  int32_t overload_count;
  bool takes_labels; /* whether operands with labels may replace the equation */
  bool starts; /* whether calls only begin, and return an object of the class Work; where there are promises, whether
                  those of the promise variant do */
} of_public_function;

/* ---------------------------------------------------------------- languages */

/* A value of a language: a PyObject*, a VALUE, a napi_value. */
typedef void* of_native;

/* Receives what a function of the language has returned, with the context of that call. */
typedef of_status (*of_receiver)(void* receiver, void* context, of_native value);

/* A tensor to be made of what stands for one. The text of a failure begins with "<function>: <argument>". */
typedef struct of_tensor_request {
  const char* function;
  const char* argument;
  const of_device* device; /* NULL: the default device, or that of a tensor */
  bool of_integers;        /* whether integers stay integers where the language has only floating-point numbers */
} of_tensor_request;

/* How values of a language are read. `context` is that of the call. Functions that fail return OF_INTERRUPTED after an
 * exception of the language, which the front end then raises. */
typedef struct of_language {
  uint32_t struct_size;
  bool has_options;          /* whether arguments by name are the entries of a map after the positional ones */
  bool names_fields;         /* whether records are maps of their fields, instead of lists */
  const char* text_word;     /* what keys are: "str", "string", "String or Symbol" */
  const char* nested_word;   /* what nested data is: "Tensor, dict, list or tuple" */
  const char* list_word;     /* "list", "array", "Array" */
  const char* nothing_word;  /* what a function returns that has no result: "None" */
  const char* map_word;      /* "dict", "object", "Hash" */
  const char* disposed_word; /* "a disposed one" */
  bool hides_positions;      /* whether errors do not say which item of a list is a disposed tensor or no device */
  const char* disposed_text; /* what functions say of such a tensor: "must be a live Tensor, got a disposed one" */
  const char* outputs_word;  /* the list that `out` is for several results: "tuple" */
  const char* flag_name;     /* "requires_grad" */
  const char* flag_word;     /* "bool" */
  bool counts_flags;         /* whether truth values are floating-point numbers, too */
  uint32_t longest_list;     /* the most items that a list may have */
  uint32_t longest_text;     /* the most characters of a text; look() gives a longer one as their number only. 0: any */
  const char* too_large; /* "must ..." of an integer beyond 64 bits, after which "got <the integer>" follows; NULL: the
                        usual text */
  /* Says what a value is. Texts stay valid until the call is bound. Of a list or a map only the count is set. */
  of_status (*look)(void* context, of_native value, of_data* data);
  /* Says what integer a value stands for that is none itself, such as an object or a floating-point number; leaves the
   * data of one that stands for none. NULL: no value does. */
  of_status (*index)(void* context, of_native value, of_data* data);
  /* Gets the first `count` items of a list as they are now; they stay valid until the call is bound. Items of a list
   * that has become shorter are absent. */
  of_status (*items)(void* context, of_native list, uint32_t count, of_native* items);
  /* Gets an entry of a map, as it was when look() first saw the map. */
  of_status (*entry)(void* context, of_native map, uint32_t position, of_native* key, of_native* item);
  /* Gets the value of a map for a key, likewise: that of an absent one if there is none. Only where names_fields is
   * set. */
  of_status (*field)(void* context, of_native map, const char* key, of_native* item);
  /* Returns the name of the type of a value for error texts: "str". It stays valid until the next call. */
  const char* (*type_name)(void* context, of_native value);
  /* Returns a value as the language prints it, such as a number of any length. It stays valid until the next call. */
  const char* (*print)(void* context, of_native value);
  /* Returns whether a condition of the language holds for a value. */
  bool (*is_true)(void* context, of_native value);
  /* Says what a path is: a TEXT in the encoding of the system; OTHER for a value that is none. The text of a failure
   * continues "path must ". */
  of_status (*path)(void* context, of_native value, of_data* data);
  /* Gets the minimum, the maximum (INT64_MAX: none) and the step of a range of sizes. The text of a failure continues
   * "<name> must ". */
  of_status (*range)(void* context, of_native value, int64_t bounds[3]);
  /* Returns whether a value stands for a tensor: a number, an array, or lists of them. */
  bool (*is_array)(void* context, of_native value);
  /* Makes a tensor of what stands for one. It belongs to the caller. */
  of_status (*tensor)(void* context, of_native value, const of_tensor_request* request, of_tensor* tensor);
  /* Returns the tensor that a value is, or the first one among the items of a list, borrowed; NULL: there is none. */
  of_tensor (*find_tensor)(void* context, of_native value);
  /* Returns what a text must be that cannot be encoded: "valid Unicode". It stays valid until the next call. */
  const char* (*text_condition)(void* context, of_native value);
  /* Gets how error texts show the name at a position among those of a call, which is NULL because it is no text without
   * zero bytes, and the word that it is like. NULL: all names are texts. */
  of_status (*show_name)(void* context, size_t position, const char** shown, const char** word);
  /* Gets the names of the first `count` parameters of a function; NULL for one that has none. */
  of_status (*parameters)(void* context, of_native function, uint32_t count, const char** names);
  /* Keeps a function for later calls, and returns it as it is then passed; and the end of that, on any thread. */
  void* (*hold)(void* context, of_native function);
  void (*drop)(void* held);
  /* Calls a function, with or without the lock of the language, and passes what it returns to a receiver. Fails with
   * OF_UNSUPPORTED on a thread on which the language runs no functions. */
  of_status (*call)(void* held, const of_data* arguments, uint32_t count, of_receiver receive, void* receiver);
} of_language;
/* Returns the value of a function's language that it stands for, as hold() returned it. */
OF_API void* of_function_held(of_function function);
/* Makes the library call a function wherever it calls a method of an object: that of a subclass in the language, which
 * has overridden the method. The function must not keep the object alive. Fails with OF_UNSUPPORTED for a class whose
 * methods are not overridable. */
OF_API of_status of_override(const of_class* object_class, void* object, const of_method* method,
                             const of_language* language, void* context, of_native function);

/* ---------------------------------------------------------------- calls */

/* A call of a method whose arguments are bound. */
typedef struct of_bound_call_object* of_bound_call;
/* Binds the arguments of a call to the parameters of a method, and converts them. `self` is the handle of the object,
 * NULL for functions, and `object_class` its class, NULL for a tensor. The call owns a reference to the object, and to
 * the tensors and objects among the arguments: code of the language that runs meanwhile may release them. `values` has
 * `count` positional arguments, then those named `names`. */
OF_API of_status of_bind(const of_method* method, const of_language* language, void* context,
                         const of_class* object_class, void* self, const of_native* values, size_t count,
                         const char* const* names, size_t name_count, of_bound_call* result);
/* Keeps the present elements of the tensors that the arguments refer to, and the present states of objects, until the
 * release: for a call that runs on another thread. */
OF_API of_status of_bound_call_keep(of_bound_call call);
/* How long the work of a call may take, so that a front end should release its language's lock. */
typedef enum of_work {
  OF_WORK_SHORT = 0, /* or it calls functions of the language */
  OF_WORK_LONG = 1,
  OF_WORK_REPEATABLE = 2 /* long; and it can be ended and done again from its beginning */
} of_work;
/* Returns how long the work of a call may take. */
OF_API of_work of_bound_call_work(of_bound_call call);
/* Runs a call, once; after OF_INTERRUPTED once more. */
OF_API of_status of_bound_call_run(of_bound_call call);
/* Returns the result of a call that has run: what it refers to is valid until the release. */
OF_API const of_data* of_bound_call_result(of_bound_call call);
/* Returns the text that a front end should warn of, which is valid until the release; NULL if there is none. */
OF_API const char* of_bound_call_warning(of_bound_call call);
/* Releases a call. NULL is allowed. */
OF_API void of_bound_call_release(of_bound_call call);

/* How a function is called. */
typedef enum of_manner {
  OF_CALLED_AS_FUNCTION = 0,
  OF_CALLED_AS_METHOD = 1, /* the first argument is the object */
  OF_CALLED_IN_PLACE = 2   /* likewise, if there is an object; the result overwrites an argument */
} of_manner;

/* The arguments of a call of a function. What they point to is valid until the release. */
typedef struct of_arguments {
  const of_overload* overload;
  const of_value* values;   /* of the parameters, for of_call(); those of type VALUE, and those not given, are ABSENT */
  of_value* results;        /* for of_call(): the tensors to write to, of `out` or the in-place form, or ABSENT */
  const of_native* natives; /* what the values were converted from */
  const bool* is_given;     /* whether there are natives: not for an absent argument, nor for separate items */
  const of_native* items;   /* the separate arguments that are the items of the last list */
  size_t item_count;
  of_native out;            /* what was given as `out` */
  const of_native* outputs; /* its tensors */
  size_t output_count;      /* 0: nothing was given */
  bool requires_grad;
} of_arguments;
/* Binds the arguments of a call to the parameters of the first overload that accepts them, and converts them: first as
 * they are, so that types tell overloads apart, then with what stands for tensors and numbers. If no overload accepts
 * them, fails with the error of the one that got furthest. `values` has `count` positional arguments, then those named
 * `names`. */
OF_API of_status of_bind_function(const of_public_function* function, of_manner manner, const of_language* language,
                                  void* context, const of_native* values, size_t count, const char* const* names,
                                  size_t name_count, of_arguments** result);
/* Releases arguments. NULL is allowed. */
OF_API void of_arguments_release(of_arguments* arguments);

/* Converts a value to a type that needs no memory, or to a text, which is then that of the language. Error texts begin
 * with "<function>: <name>". */
OF_API of_status of_convert(const char* function, const char* name, const of_type* type, const of_language* language,
                            void* context, of_native value, of_data* result);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_OBJECTS_H_ */
