#include "program_cache.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace oneflow::opencl {
namespace {

const char* own_folder() {
  const char* own = std::getenv("ONEFLOW_CACHE_DIR");
  return own != nullptr && *own != '\0' ? own : nullptr;
}

std::filesystem::path folder() {
  if (const char* own = own_folder()) return own;
  if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches != nullptr && *caches == '/')
    return std::filesystem::path(caches) / "oneflow";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::filesystem::path(home) / ".cache" / "oneflow" : "";
}

constexpr uint64_t kSeed = 14695981039346656037u;

template <class Bytes>
uint64_t hash(const Bytes& bytes, uint64_t seed) {
  uint64_t value = seed;
  for (const unsigned char c : bytes) value = (value ^ c) * 1099511628211u;  // FNV-1a
  return value;
}

// Returns the file for a key. Its name has two 64-bit hashes and the length of the key, which makes a collision
// practically impossible.
std::filesystem::path file_for(const std::string& key) {
  char name[80];
  std::snprintf(name, sizeof name, "opencl-%016llx%016llx-%zu.bin", static_cast<unsigned long long>(hash(key, kSeed)),
                static_cast<unsigned long long>(hash(key, 0x9E3779B97F4A7C15u)), key.size());
  return folder() / name;
}

}  // namespace

bool keeps_programs(const Device& device) {
  return own_folder() != nullptr || (!device.keeps_programs && !folder().empty());
}

std::vector<unsigned char> read_cached(const std::string& key) {
  const std::filesystem::path file = file_for(key);
  std::ifstream stream(file, std::ios::binary);
  uint64_t sum = 0;
  stream.read(reinterpret_cast<char*>(&sum), sizeof sum);
  std::vector<unsigned char> binary{std::istreambuf_iterator<char>(stream), {}};
  // A damaged binary must not reach the driver: PoCL aborts the process.
  return hash(binary, kSeed) == sum ? binary : std::vector<unsigned char>{};
}

void write_cached(const std::string& key, const std::vector<unsigned char>& binary) {
  const std::filesystem::path file = file_for(key);
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  std::filesystem::path draft = file;
  draft += ".";
  draft += std::to_string(getpid());
  {
    std::ofstream stream(draft, std::ios::binary);
    const uint64_t sum = hash(binary, kSeed);
    stream.write(reinterpret_cast<const char*>(&sum), sizeof sum);
    stream.write(reinterpret_cast<const char*>(binary.data()), static_cast<std::streamsize>(binary.size()));
    if (!stream) error = std::make_error_code(std::errc::io_error);
  }
  // Renaming is atomic: a reader sees the complete file or none.
  if (!error) std::filesystem::rename(draft, file, error);
  if (error) std::filesystem::remove(draft, error);
}

}  // namespace oneflow::opencl
