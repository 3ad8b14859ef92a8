/* Libraries of operators: shared libraries that `python -m codegen build` makes of the records of a program's own
 * operators. See docs/guides/add-a-library-of-operators.md.
 *
 *     of_load_library("my_ops.so", NULL);
 *     of_op op = of_op_find("my_ops.double_add");
 */
#ifndef ONEFLOW_OPERATOR_LIBRARY_H_
#define ONEFLOW_OPERATOR_LIBRARY_H_

#include <oneflow/objects.h>
#include <oneflow/oneflow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function of a library in a language. The names are without the namespace. */
typedef struct of_library_function {
  of_public_function function; /* its names are those that error texts begin with: "my_ops.double_add" */
  const char* name;            /* "double_add" */
  const char* in_place_name;   /* that of the in-place form; NULL: there is none */
  const char* promise_name;    /* that of the form which runs on another thread and returns a promise, in languages that
                                  have such forms; NULL: there is none */
  const char* signature;       /* "(input, other, *, out=None)"; NULL: the language has no such texts */
  const char* documentation;   /* for people; NULL likewise */
} of_library_function;

/* What a library has for a language. */
typedef struct of_library_language {
  const char* language;   /* "python" */
  const char* name_space; /* "my_ops" */
  const char* words;      /* names in texts of the runtime, each followed by that in the language, separated by spaces,
                             where they differ; NULL: they do not */
  const of_library_function* functions;
  uint32_t function_count;
} of_library_language;

/* A library of operators that is loaded. It stays loaded until the process ends. */
typedef struct of_operator_library {
  uint32_t struct_size;
  uint32_t language_count;
  const char* name; /* the namespace of its operators: "my_ops" */
  const char* path; /* of the file, without symbolic links */
  const of_library_language* languages;
} of_operator_library;

/* Loads a library of operators, after which of_op_find() finds them. Loading it again changes nothing. `library` may be
 * NULL. Fails with FileError for a file that cannot be loaded, and with Unsupported for one that is not a library of
 * operators, that was built for another version of oneflow, or whose namespace another library has. Threads may load
 * libraries at the same time. */
OF_API of_status of_load_library(const char* path, const of_operator_library** library);

/* Returns what a library has for a language: "python". Returns NULL if it has nothing. */
OF_API const of_library_language* of_library_find_language(const of_operator_library* library, const char* language);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_OPERATOR_LIBRARY_H_ */
