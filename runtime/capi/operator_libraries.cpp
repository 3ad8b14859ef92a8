// The C API: libraries of operators.
#include <dlfcn.h>
#include <oneflow/operator_library.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/characters.h"
#include "base/fork_safe.h"
#include "base/shared_library.h"
#include "capi/boundary.h"
#include "library/contents.h"
#include "library/table.h"
#include "library_fingerprint.h"

using namespace oneflow;

namespace {

// A library that is loaded.
struct LoadedLibrary {
  std::string path;
  of_operator_library info;
};

// Held while a library is loaded: threads that load libraries do so one after the other.
ForkSafe<std::mutex>& mutex = *new ForkSafe<std::mutex>(LockLevel::kDiscovery);
std::deque<LoadedLibrary>& libraries = *new std::deque<LoadedLibrary>;  // a deque does not move its elements

// Returns the absolute path of a file, without symbolic links. Throws FileError if there is none.
std::string real_path(const char* path) {
  require_file_name(path);
  std::error_code error;
  const std::filesystem::path found = std::filesystem::canonical(path, error);
  if (!error && std::filesystem::is_directory(found, error)) error = std::make_error_code(std::errc::is_a_directory);
  if (error) fail(OF_FILE_ERROR, "'%s' cannot be opened: %s", printable(path).c_str(), error.message().c_str());
  return found.string();
}

// A library while it is loaded, which is closed if that fails.
class Opened {
 public:
  explicit Opened(const std::string& path) : path_(path) {
    std::string reason;
    handle_ = load_shared_library(path, &reason);
    if (!handle_) fail(OF_FILE_ERROR, "'%s' cannot be loaded: %s", printable(path).c_str(), reason.c_str());
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (handle_) dlclose(handle_);
  }
  void keep() { handle_ = nullptr; }

  // Returns what the library has. Throws Unsupported for another kind of library, and for another version.
  const LibraryContents& contents() const {
    const auto* fingerprint = static_cast<const char*>(dlsym(handle_, kFingerprintSymbol));
    auto* open = reinterpret_cast<OpenLibrary*>(dlsym(handle_, kOpenSymbol));
    if (!fingerprint || !open) fail(OF_UNSUPPORTED, "'%s' is not a library of operators", printable(path_).c_str());
    if (std::strcmp(fingerprint, kLibraryFingerprint) != 0)
      fail(OF_UNSUPPORTED, "'%s' was built for oneflow %s, but this is oneflow %s: build it again",
           printable(path_).c_str(), printable(fingerprint).c_str(), kLibraryFingerprint);
    return *open(&library_host);
  }

 private:
  const std::string& path_;
  void* handle_;
};

// Throws Unsupported unless the library was built for the operators that it calls.
void check_called(const LibraryContents& contents, const std::string& path) {
  for (const CalledOperator& called : contents.called) {
    const Operator* op = find_operator(called.name);
    if (!op || op->schema().signature_id != called.signature_id)
      fail(OF_UNSUPPORTED, "'%s' was built for another version of the operator '%s': build it again",
           printable(path).c_str(), called.name);
  }
}

// Returns a namespace that a library shares with one that is loaded, by the rules of a language for names, or NULL.
const char* shared_namespace(const of_operator_library& loaded, const LibraryContents& contents) {
  if (std::strcmp(loaded.name, contents.name) == 0) return contents.name;
  for (const of_library_language& each : contents.languages) {
    const of_library_language* other = of_library_find_language(&loaded, each.language);
    if (other && std::strcmp(other->name_space, each.name_space) == 0) return each.name_space;
  }
  return nullptr;
}

const of_operator_library& load(const std::string& path) {
  const std::lock_guard lock(mutex);
  for (const LoadedLibrary& each : libraries)
    if (each.path == path) return each.info;
  Opened opened(path);
  const LibraryContents& contents = opened.contents();
  for (const LoadedLibrary& each : libraries)
    if (const char* name = shared_namespace(each.info, contents))
      fail(OF_UNSUPPORTED, "'%s' has operators of the namespace '%s', and so has '%s', which is loaded",
           printable(path).c_str(), name, printable(each.path).c_str());
  check_called(contents, path);
  LoadedLibrary& added = libraries.emplace_back(path);
  added.info = {sizeof(of_operator_library), static_cast<uint32_t>(contents.languages.size()), contents.name,
                added.path.c_str(), contents.languages.data()};
  try {
    add_operators(contents.operators, contents.gradients, contents.kernels);
  } catch (...) {
    libraries.pop_back();
    throw;
  }
  opened.keep();
  return added.info;
}

}  // namespace

of_status of_load_library(const char* path, const of_operator_library** library) {
  return guard([&, function = __func__] {
    require(path, function, "path");
    named("load_library", [&] {
      const of_operator_library& found = load(real_path(path));
      if (library) *library = &found;
    });
  });
}

const of_library_language* of_library_find_language(const of_operator_library* library, const char* language) {
  if (!library || !language) return nullptr;
  for (uint32_t i = 0; i < library->language_count; ++i)
    if (std::strcmp(library->languages[i].language, language) == 0) return &library->languages[i];
  return nullptr;
}
