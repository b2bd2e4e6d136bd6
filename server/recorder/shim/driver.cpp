// The driver of a real GPU: loads its libraries, and writes down what the system refuses it.
//
// The driver answers with a number alone if it may not open a file. It calls libc's functions through the dynamic
// linker, which finds those of the program first; so these stand before libc's, and note the calls that are refused.
#include "shim.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <set>

#include <dlfcn.h>
#include <sys/socket.h>

namespace {

constexpr size_t kMostRefused = 8;

std::mutex mutex;
std::set<std::string> refused;

void note(const std::string& call) {
  const int error = errno;
  if (error == EACCES || error == EPERM) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (refused.size() < kMostRefused) {
      refused.insert(call);
    }
  }
  errno = error;
}

template <typename Function>
Function* of_libc(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string opening(const char* path, bool writes) {
  return std::string("opening ") + (path ? path : "") + (writes ? " for writing" : "");
}

int open_noted(const char* name, const char* path, int flags, int mode) {
  const int file = of_libc<int(const char*, int, ...)>(name)(path, flags, mode);
  if (file < 0) {
    note(opening(path, (flags & 3) != 0));
  }
  return file;
}

FILE* fopen_noted(const char* name, const char* path, const char* mode) {
  FILE* file = of_libc<FILE*(const char*, const char*)>(name)(path, mode);
  if (!file) {
    note(opening(path, mode[0] != 'r' || strchr(mode, '+')));
  }
  return file;
}

}  // namespace

// `open` has a third argument only with some flags; where it has none, what is passed on is ignored.
#define SNAPSCOPE_OPEN(name)                               \
  SNAPSCOPE_API int name(const char* path, int flags, ...) { \
    va_list rest;                                          \
    va_start(rest, flags);                                 \
    const int mode = va_arg(rest, int);                    \
    va_end(rest);                                          \
    return open_noted(#name, path, flags, mode);           \
  }
SNAPSCOPE_OPEN(open)
SNAPSCOPE_OPEN(open64)

SNAPSCOPE_API FILE* fopen(const char* path, const char* mode) { return fopen_noted("fopen", path, mode); }
SNAPSCOPE_API FILE* fopen64(const char* path, const char* mode) { return fopen_noted("fopen64", path, mode); }

SNAPSCOPE_API int socket(int family, int type, int protocol) noexcept {
  const int made = of_libc<int(int, int, int)>("socket")(family, type, protocol);
  if (made < 0) {
    note("a socket of family " + std::to_string(family) + " and protocol " + std::to_string(protocol));
  }
  return made;
}

SNAPSCOPE_API int connect(int socket, const sockaddr* address, socklen_t length) {
  const int result = of_libc<int(int, const sockaddr*, socklen_t)>("connect")(socket, address, length);
  if (result < 0) {
    const bool has_path = address && address->sa_family == AF_UNIX && address->sa_data[0] != 0;
    note(has_path ? std::string("connecting to ") + address->sa_data : "connecting to another process");
  }
  return result;
}

// Loads the libraries of the driver while any folder can be read; where there are none, CUDA says so when it starts.
SNAPSCOPE_API void snapscope_load_driver() {
  for (const char* name : {"libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-ptxjitcompiler.so.1"}) {
    dlopen(name, RTLD_LAZY | RTLD_NODELETE);
  }
}

// The calls that were refused, separated by commas.
SNAPSCOPE_API char* snapscope_refused() {
  const std::lock_guard<std::mutex> lock(mutex);
  std::string all;
  for (const auto& call : refused) {
    all += (all.empty() ? "" : ", ") + call;
  }
  return snapscope::copy(all);
}
