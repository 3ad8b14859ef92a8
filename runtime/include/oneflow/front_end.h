/* What the front ends of all languages decide alike: which calls are long, which name a misspelt one stands for, the
 * name that an error begins with, the equations of labelled operands, and how texts are shown. */
#ifndef ONEFLOW_FRONT_END_H_
#define ONEFLOW_FRONT_END_H_

#include <oneflow/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From this of_tensor_work() on, work is long: a front end should release its language's lock meanwhile. */
#define OF_LONG_WORK 8192

/* Returns whether a call may be long. The operands together may be large, or their product, as in an outer product; a
 * call without tensors creates as many elements as its numbers say; a device in the arguments may have to be waited
 * for. Views are never long. `op` is NULL for an expression. */
OF_API bool of_call_is_long(of_op op, const of_value* args, size_t arg_count);

/* Returns whether a run of a session may be long: its inputs may be large, or its constants, or it has many calls. */
OF_API bool of_run_is_long(of_session session, const of_tensor* inputs, size_t count);

/* Returns whether the work of the calling thread should end early. */
typedef bool (*of_interrupt_check)(void* context);
/* Sets the function that calls of this thread ask between the parts of long work, with its context; NULL: none. If it
 * returns true, the call ends with OF_INTERRUPTED as soon as it can: tensors that it writes to are then in any state,
 * and those that would be its results do not exist. The function is called without a lock, and may itself make calls.
 * It must return true again once it has. Sets the function and the context that were set before, if not NULL. */
OF_API void of_set_interrupt_check(of_interrupt_check check, void* context, of_interrupt_check* check_before,
                                   void** context_before);

/* Why an overload of a function refuses a call, and how far it got. */
typedef enum of_refusal {
  OF_REFUSAL_TOO_MANY = 0, /* too many positional arguments; it takes `reached` */
  OF_REFUSAL_NAME = 1,     /* an unknown name, after `reached` known ones; likely: another name is near */
  OF_REFUSAL_ABSENT = 2,   /* an argument is missing or given twice, and all `reached` names are known */
  OF_REFUSAL_VALUE = 3     /* a wrong type of value for argument `reached`; likely: an item of a list, or a device */
} of_refusal;
/* Returns the rank of a refusal. If all overloads refuse a call, the error is that of the first one with the highest
 * rank. */
OF_API int32_t of_refusal_rank(of_refusal reason, int32_t reached, bool is_likely);

/* Returns the position of the name that an unknown word most likely stands for: the one with the least number of
 * insertions, deletions, replacements and swaps of neighbouring bytes, if these are at most a third of the bytes of the
 * word, or one, and not all of it. Returns -1 if there is none, and for words of more than 64 bytes. Names that are
 * NULL are skipped. */
OF_API int32_t of_nearest_name(const char* word, const char* const* names, size_t count);

/* Makes the text of the calling thread's last failure begin with the name `caller` of a function that is not that of
 * its operator: an alias, or the in-place form. A deferred error keeps its text, since another call has caused it. */
OF_API void of_error_set_caller(const char* caller);

/* The most labels of an operand: one for each dimension, and an ellipsis that stands for none. */
#define OF_MAX_LABELS (OF_MAX_RANK + 1)
/* The bytes of the longest term of an equation, with the zero at its end. */
#define OF_TERM_SIZE 512
/* The label that stands for any number of dimensions. */
#define OF_LABEL_ELLIPSIS INT64_MIN

/* Writes the term of an equation for a list of labels, such as "[0,1,...]", to `term`. `operand` is the position of the
 * operand that has the labels, or -1 for the result, and `function` the function that error texts begin with. A front
 * end replaces a label that exceeds 64 bits by the nearest integer of 64 bits. Of more than OF_MAX_LABELS labels, only
 * the count is read. Fails with ShapeError for too many labels, and InvalidArgument for one that is negative or greater
 * than INT32_MAX. */
OF_API of_status of_label_term(const char* function, int32_t operand, const int64_t* labels, size_t count,
                               char term[OF_TERM_SIZE]);

/* Returns how many columns a UTF-8 text takes in a terminal, or in another monospaced font; an unprintable character
 * takes those of its escape sequence. */
OF_API int32_t of_text_columns(const char* text);
/* Stores a text that takes at most `columns` columns: the text itself, or its longest prefix with "…" at its end. Free
 * it with of_free(). */
OF_API of_status of_text_cut(const char* text, int32_t columns, char** result);
/* Stores a text as error texts show it: unprintable characters are escaped, such as \x0a and \u{200b}, and "…" ends
 * what takes more than 80 columns. Free it with of_free(). */
OF_API of_status of_text_printable(const char* text, char** result);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_FRONT_END_H_ */
