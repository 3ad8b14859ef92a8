/* Since 2.33 these are functions. Before, headers had them call other functions, with the version of `struct stat`. */
#define _GNU_SOURCE
#include <sys/stat.h>

#define HIDDEN __attribute__((visibility("hidden")))

#if defined(__x86_64__)
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

/* On 64-bit systems, the names of programs that ask for large files mean the same. */
#define DEFINE_FOR(suffix)                                                                                          \
  extern int __xstat##suffix(int version, const char* path, struct stat##suffix* result);                           \
  extern int __lxstat##suffix(int version, const char* path, struct stat##suffix* result);                          \
  extern int __fxstat##suffix(int version, int file, struct stat##suffix* result);                                  \
  extern int __fxstatat##suffix(int version, int folder, const char* path, struct stat##suffix* result, int flags); \
  HIDDEN int stat##suffix(const char* path, struct stat##suffix* result) {                                          \
    return __xstat##suffix(STAT_VERSION, path, result);                                                             \
  }                                                                                                                 \
  HIDDEN int lstat##suffix(const char* path, struct stat##suffix* result) {                                         \
    return __lxstat##suffix(STAT_VERSION, path, result);                                                            \
  }                                                                                                                 \
  HIDDEN int fstat##suffix(int file, struct stat##suffix* result) {                                                 \
    return __fxstat##suffix(STAT_VERSION, file, result);                                                            \
  }                                                                                                                 \
  HIDDEN int fstatat##suffix(int folder, const char* path, struct stat##suffix* result, int flags) {                \
    return __fxstatat##suffix(STAT_VERSION, folder, path, result, flags);                                           \
  }

DEFINE_FOR()
DEFINE_FOR(64)
