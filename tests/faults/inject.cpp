// Preloaded into the program under test: lets one call of a kind fail, as a full disk or a machine without memory
// would.
//
//   SHEAF_FAULT=KIND:N       the Nth call of KIND after main() has begun fails, and no other; N = 0: none fails
//   SHEAF_FAULT_COUNT=FILE   a file of 8 bytes, in which the calls of KIND are counted
//
// Kinds: memory, open, read, write, sync, rename, folder, lock, link, thread. Two are no failures, and nothing may come
// of them: short (half of what was to be read or written) and interrupt (by a signal, before anything was read or
// written).
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

using Main = int(int, char**, char**);
using Hook = void();

char kind[16];
long wanted;
std::atomic<bool> begun;
std::atomic<long> own_count;
std::atomic<long>* count = &own_count;
Main* real_main;

/// Whether this call is the one that fails.
bool fails(const char* call) {
  if (!begun || std::strcmp(call, kind) != 0) return false;
  return ++*count == wanted;
}

std::size_t shortened(std::size_t size) { return size > 1 && fails("short") ? size / 2 : size; }

void read_settings() {
  const char* fault = std::getenv("SHEAF_FAULT");
  const char* colon = fault != nullptr ? std::strchr(fault, ':') : nullptr;
  if (colon == nullptr || static_cast<std::size_t>(colon - fault) >= sizeof kind) return;
  std::memcpy(kind, fault, static_cast<std::size_t>(colon - fault));
  wanted = std::atol(colon + 1);
  const char* path = std::getenv("SHEAF_FAULT_COUNT");
  const long file = path != nullptr ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR) : -1;
  if (file < 0) return;
  const long mapped = syscall(SYS_mmap, nullptr, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
  if (mapped != -1) count = reinterpret_cast<std::atomic<long>*>(mapped);
  syscall(SYS_close, file);
}

int counted_main(int arguments, char** values, char** environment) {
  read_settings();
  begun = true;
  return real_main(arguments, values, environment);
}

void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

template <class Result>
Result failed(int error, Result result) {
  errno = error;
  return result;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int __libc_start_main(Main* entry, int arguments, char** values, Hook* init, Hook* fini, Hook* loader_fini,
                      void* stack) {
  real_main = entry;
  return next<decltype(__libc_start_main)>("__libc_start_main")(counted_main, arguments, values, init, fini,
                                                                loader_fini, stack);
}

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) { return fails("memory") ? no_memory() : __libc_malloc(size); }
void* calloc(std::size_t items, std::size_t size) { return fails("memory") ? no_memory() : __libc_calloc(items, size); }
void* realloc(void* old, std::size_t size) { return fails("memory") ? no_memory() : __libc_realloc(old, size); }
void* aligned_alloc(std::size_t align, std::size_t size) {
  return fails("memory") ? no_memory() : __libc_memalign(align, size);
}
void* memalign(std::size_t align, std::size_t size) {
  return fails("memory") ? no_memory() : __libc_memalign(align, size);
}
int posix_memalign(void** result, std::size_t align, std::size_t size) {
  void* memory = fails("memory") ? nullptr : __libc_memalign(align, size);
  if (memory == nullptr) return ENOMEM;
  *result = memory;
  return 0;
}
void* mmap(void* address, std::size_t size, int protection, int flags, int file, off_t offset) {
  if (fails("memory")) return failed(ENOMEM, MAP_FAILED);
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
}

int openat(int folder, const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails("open") ? failed(EMFILE, -1) : static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}
int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return openat(AT_FDCWD, path, flags, mode);
}
// On 64-bit systems files are large as they are.
int open64(const char* path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));

ssize_t read(int file, void* to, std::size_t size) {
  if (fails("read")) return failed<ssize_t>(EIO, -1);
  return fails("interrupt") ? failed<ssize_t>(EINTR, -1) : syscall(SYS_read, file, to, shortened(size));
}
ssize_t pread(int file, void* to, std::size_t size, off_t at) {
  if (fails("read")) return failed<ssize_t>(EIO, -1);
  return fails("interrupt") ? failed<ssize_t>(EINTR, -1) : syscall(SYS_pread64, file, to, shortened(size), at);
}
ssize_t pread64(int file, void* to, std::size_t size, off_t at) __attribute__((alias("pread")));
// Writes to the terminal never fail here.
ssize_t write(int file, const void* from, std::size_t size) {
  if (file > 2 && fails("write")) return failed<ssize_t>(ENOSPC, -1);
  return fails("interrupt") ? failed<ssize_t>(EINTR, -1) : syscall(SYS_write, file, from, shortened(size));
}
ssize_t writev(int file, const iovec* parts, int number) {
  if (file > 2 && fails("write")) return failed<ssize_t>(ENOSPC, -1);
  return fails("interrupt") ? failed<ssize_t>(EINTR, -1) : syscall(SYS_writev, file, parts, number);
}
ssize_t pwrite(int file, const void* from, std::size_t size, off_t at) {
  if (fails("write")) return failed<ssize_t>(ENOSPC, -1);
  return fails("interrupt") ? failed<ssize_t>(EINTR, -1) : syscall(SYS_pwrite64, file, from, shortened(size), at);
}
ssize_t pwrite64(int file, const void* from, std::size_t size, off_t at) __attribute__((alias("pwrite")));
int ftruncate(int file, off_t size) noexcept {
  return fails("write") ? failed(ENOSPC, -1) : static_cast<int>(syscall(SYS_ftruncate, file, size));
}
int ftruncate64(int file, off_t size) noexcept __attribute__((alias("ftruncate")));
int fsync(int file) { return fails("sync") ? failed(EIO, -1) : static_cast<int>(syscall(SYS_fsync, file)); }
int fdatasync(int file) { return fails("sync") ? failed(EIO, -1) : static_cast<int>(syscall(SYS_fdatasync, file)); }
int rename(const char* from, const char* to) noexcept {
  return fails("rename") ? failed(EIO, -1) : static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return fails("rename") ? failed(EIO, -1)
                         : static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}
int mkdir(const char* path, mode_t mode) noexcept {
  return fails("folder") ? failed(ENOSPC, -1) : static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
int flock(int file, int how) noexcept {
  return fails("lock") ? failed(ENOLCK, -1) : static_cast<int>(syscall(SYS_flock, file, how));
}
int link(const char* from, const char* to) noexcept {
  return fails("link") ? failed(EPERM, -1) : static_cast<int>(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) noexcept {
  static auto* const create = next<decltype(pthread_create)>("pthread_create");
  return fails("thread") ? EAGAIN : create(thread, attributes, work, argument);
}

}  // extern "C"
