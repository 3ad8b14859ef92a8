#include "files/format.h"

#include <algorithm>

#include "base/characters.h"
#include "base/error.h"
#include "files/numpy.h"
#include "files/safetensors.h"

namespace oneflow::files {
namespace {

// An extension that ends in another one comes before it.
constexpr Format kFormats[] = {
    {".safetensors.index.json", open_safetensors_index, nullptr, false},
    {".safetensors", open_safetensors, save_safetensors, false},
    {".npy", open_npy, save_npy, false},
    {".npz", open_npz, save_npz, true},
};

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

bool ends_in(std::string_view path, std::string_view extension) {
  return path.size() >= extension.size() &&
         std::equal(extension.rbegin(), extension.rend(), path.rbegin(), [](char a, char b) { return a == lower(b); });
}

}  // namespace

const Format& format_of(const std::string& path) {
  std::string extensions;
  for (const Format& format : kFormats) {
    if (ends_in(path, format.extension)) return format;
    extensions += (extensions.empty() ? "" : ", ") + std::string(format.extension);
  }
  fail(OF_INVALID_ARGUMENT, "the path must end in one of %s, got '%s'", extensions.c_str(), printable(path).c_str());
}

}  // namespace oneflow::files
