#include "base/error.h"

#include <pthread.h>

#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace oneflow {
namespace {

constexpr size_t kTextBytes = 4096;  // including the terminating zero

struct LastFailure {
  bool has_device_text;  // a device hook has failed, and its error was not thrown yet
  bool is_complete;      // see Error::is_complete()
  char text[kTextBytes];
  // Apart from `text`, because the call may succeed in another way, and then leaves the text of the last failure.
  char device_text[kTextBytes];
};

// Copies a text, which is cut between two characters if it is too long.
void copy_text(char* buffer, const char* text) noexcept {
  size_t length = strnlen(text, kTextBytes - 1);
  // UTF-8 continuation bytes are 10xxxxxx.
  if (text[length] != '\0')
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  std::memmove(buffer, text, length);
  buffer[length] = '\0';
}

// Allocated by a thread's first failure. If dlopen() loads the library, the static TLS block has only a few hundred
// free bytes, too few for the text. A plain pointer with a pthread key, unlike an object with a destructor, is usable
// while the thread's destructors run.
thread_local LastFailure* last_failure = nullptr;

const pthread_key_t key = [] {
  pthread_key_t created = PTHREAD_KEYS_MAX;  // an invalid key, for which pthread_setspecific() fails
  pthread_key_create(&created, [](void* failure) {
    last_failure = nullptr;
    std::free(failure);
  });
  return created;
}();

// Returns the calling thread's record, or null without memory for it.
LastFailure* own_failure() noexcept {
  if (last_failure) return last_failure;
  last_failure = static_cast<LastFailure*>(std::calloc(1, sizeof(LastFailure)));
  if (last_failure) pthread_setspecific(key, last_failure);
  return last_failure;
}

std::string format_arguments(const char* format, va_list arguments) {
  va_list copy;
  va_copy(copy, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, copy);
  va_end(copy);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, arguments);
  return text;
}

}  // namespace

std::string format_text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = format_arguments(format, arguments);
  va_end(arguments);
  return text;
}

void fail(of_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = format_arguments(format, arguments);
  va_end(arguments);
  throw Error(status, std::move(text));
}

const char* status_name(of_status status) noexcept {
  switch (status) {
    case OF_OK:
      return "Ok";
    case OF_INVALID_ARGUMENT:
      return "InvalidArgument";
    case OF_TYPE_MISMATCH:
      return "TypeMismatch";
    case OF_SHAPE_ERROR:
      return "ShapeError";
    case OF_DTYPE_ERROR:
      return "DTypeError";
    case OF_INDEX_OUT_OF_RANGE:
      return "IndexOutOfRange";
    case OF_DEVICE_ERROR:
      return "DeviceError";
    case OF_OUT_OF_MEMORY:
      return "OutOfMemory";
    case OF_UNSUPPORTED:
      return "Unsupported";
    case OF_COMMUNICATION_ERROR:
      return "CommunicationError";
    case OF_INTERNAL_ERROR:
      return "InternalError";
    case OF_FILE_ERROR:
      return "FileError";
    case OF_INTERRUPTED:
      return "Interrupted";
  }
  return "UnknownError";
}

const char* last_error() noexcept {
  const LastFailure* failure = own_failure();
  return failure ? failure->text : "out of host memory";
}

bool last_error_is_complete() noexcept { return last_failure && last_failure->is_complete; }

of_status set_last_error(of_status status, const char* text) noexcept {
  LastFailure* failure = own_failure();
  if (!failure) return status;
  failure->has_device_text = failure->is_complete = false;
  copy_text(failure->text, text);
  return status;
}

of_status set_device_error(of_status status, const char* text) noexcept {
  LastFailure* failure = own_failure();
  if (!failure) return status;
  failure->has_device_text = true;
  copy_text(failure->device_text, text);
  return status;
}

const char* device_error() noexcept {
  return last_failure && last_failure->has_device_text ? last_failure->device_text : "";
}

void fail_with_device_error(of_status status, bool is_complete) {
  const bool has_reason = last_failure && std::exchange(last_failure->has_device_text, false);
  const bool is_known = status > OF_OK && status <= OF_INTERRUPTED;
  throw Error(is_known ? status : OF_DEVICE_ERROR, has_reason ? last_failure->device_text : "the device gave no reason",
              is_complete);
}

void clear_device_error() noexcept {
  if (last_failure) last_failure->has_device_text = false;
}

void KeptError::restore() const noexcept {
  set_last_error(OF_OK, text_.c_str());
  if (last_failure) last_failure->is_complete = is_complete_;
}

of_status record_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    const of_status status = set_last_error(error.status(), error.what());
    if (last_failure) last_failure->is_complete = error.is_complete();
    return status;
  } catch (const std::bad_alloc&) {
    return set_last_error(OF_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& error) {
    return set_last_error(OF_INTERNAL_ERROR, error.what());
  } catch (...) {
    return set_last_error(OF_INTERNAL_ERROR, "an exception of unknown type");
  }
}

}  // namespace oneflow
