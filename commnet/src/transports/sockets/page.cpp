#include "transports/sockets/page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace commnet::sockets {

namespace {

constexpr size_t kSize = 4096;
// A file that shrinks ends the processes that have mapped it.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

Page::~Page() {
  if (state_) munmap(state_, kSize);
}

Page Page::map(const Descriptor& descriptor) {
  Page page;
  void* const place = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.number(), 0);
  if (place != MAP_FAILED) page.state_ = static_cast<CopyState*>(place);
  return page;
}

Page Page::make(Descriptor* descriptor) {
  Descriptor file(memfd_create("commnet", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ftruncate(file.number(), kSize) != 0 || fcntl(file.number(), F_ADD_SEALS, kSeals) != 0) return {};
  Page page = map(file);
  if (page) *descriptor = std::move(file);
  return page;
}

Page Page::take(const Descriptor& descriptor) {
  struct stat file {};
  if (!descriptor || fstat(descriptor.number(), &file) != 0 || file.st_size != kSize) return {};
  if ((fcntl(descriptor.number(), F_GET_SEALS) & kSeals) != kSeals) return {};
  return map(descriptor);
}

}  // namespace commnet::sockets
