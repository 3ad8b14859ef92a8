/* What a front end offers to extensions: native modules that its users write, which take and return its tensors,
 * devices, dtypes and generators without copies.
 *
 * A front end keeps one table of functions where its language keeps such things, and the header for its language finds
 * it there. All front ends have the same table, and <oneflow/extension.hpp> is the C++ interface to it.
 *
 * An extension finds the functions of the C API in the liboneflow that the front end has loaded: it is linked against
 * the file that the front end names, and loaded after the front end. It runs with the version that it was built
 * against, and with later ones of the same major version. */
#ifndef ONEFLOW_EXTENSION_H_
#define ONEFLOW_EXTENSION_H_

#include <oneflow/oneflow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A value of the language: a PyObject*, a napi_value, a VALUE. Those that a function takes are borrowed. Those that it
 * stores are new references in languages that count them. */
typedef uintptr_t of_object;

/* The mark of the object that holds the table, in languages whose objects can have one of 128 bits. */
#define OF_EXTENSION_TAG_LOW 0x9d1f1c6d2a4b4f0eull
#define OF_EXTENSION_TAG_HIGH 0xb6a83c5d7e90c213ull

/* The table. Its functions must be called as the functions of the language are: with its lock, on its thread. They
 * return a status as the C API does, and leave no exception of the language behind.
 *
 * The functions that take an argument of an extension's function accept what operators accept there, and fail with the
 * texts that operators have: "<function>: <argument> must be Tensor, got str". A caller that does not
 * need the text passes NULL for both names. */
typedef struct of_extension_api of_extension_api;
struct of_extension_api {
  size_t struct_size; /* set by the front end: that of the struct which it was built with */
  void* context;      /* the front end's own */

  /* Prepares the thread for calls of operators by an extension's function, as a call of the front end does: whether
   * they are recorded for gradients is up to the language's code that calls. */
  of_status (*enter)(const of_extension_api* api);

  /* Stores the value of an argument. Tensors and generators belong to the caller, who releases them. */
  of_status (*find_tensor)(const of_extension_api* api, of_object object, const char* function, const char* argument,
                           of_tensor* tensor);
  of_status (*find_device)(const of_extension_api* api, of_object object, const char* function, const char* argument,
                           of_device* device);
  of_status (*find_dtype)(const of_extension_api* api, of_object object, const char* function, const char* argument,
                          of_dtype* dtype);
  of_status (*find_generator)(const of_extension_api* api, of_object object, const char* function, const char* argument,
                              of_generator* generator);

  /* Make an object. The handle is borrowed; the language's absent value stands for NULL and OF_DTYPE_NONE. */
  of_status (*make_tensor)(const of_extension_api* api, of_tensor tensor, of_object* object);
  of_status (*make_device)(const of_extension_api* api, of_device device, of_object* object);
  of_status (*make_dtype)(const of_extension_api* api, of_dtype dtype, of_object* object);
  of_status (*make_generator)(const of_extension_api* api, of_generator generator, of_object* object);

  /* Makes the exception of a failure, for the extension to raise. */
  of_status (*make_error)(const of_extension_api* api, of_status status, const char* text, of_object* error);

  /* Writes the name that error texts give the type of a value, cut off after 63 bytes. */
  of_status (*name_type)(const of_extension_api* api, of_object object, char name[64]);
};

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_EXTENSION_H_ */
