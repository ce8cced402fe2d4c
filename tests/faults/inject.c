/* Preloaded into the program under test: lets one call of a kind fail, as an overfull disk or a machine without memory would.
 *
 *   SHEAF_FAULT=KIND:N       the Nth call of KIND after main() has begun fails, and no other; N = 0: none fails
 *   SHEAF_FAULT_COUNT=FILE   a file of 8 bytes, in which the calls of KIND are counted
 *
 * Kinds: memory, open, read, write, sync, rename, thread. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char kind[16];
static long wanted;
static atomic_bool begun;
static atomic_long own_count;
static atomic_long* count = &own_count;

/* Whether this call is the one that fails. */
static int fails(const char* call) {
  if (!atomic_load(&begun) || strcmp(call, kind) != 0) return 0;
  return atomic_fetch_add(count, 1) + 1 == wanted;
}

static void read_settings(void) {
  const char* fault = getenv("SHEAF_FAULT");
  const char* colon = fault != NULL ? strchr(fault, ':') : NULL;
  if (colon == NULL || (size_t)(colon - fault) >= sizeof kind) return;
  memcpy(kind, fault, (size_t)(colon - fault));
  wanted = atol(colon + 1);
  const char* path = getenv("SHEAF_FAULT_COUNT");
  const int file = path != NULL ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR) : -1;
  if (file < 0) return;
  void* mapped = (void*)syscall(SYS_mmap, NULL, sizeof(atomic_long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
  if (mapped != MAP_FAILED) count = mapped;
  syscall(SYS_close, file);
}

static int (*real_main)(int, char**, char**);
static int counted_main(int arguments, char** values, char** environment) {
  read_settings();
  atomic_store(&begun, 1);
  return real_main(arguments, values, environment);
}
int __libc_start_main(int (*entry)(int, char**, char**), int arguments, char** values, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  real_main = entry;
  int (*start)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  return start(counted_main, arguments, values, init, fini, loader_fini, stack_end);
}

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static void* no_memory(void) {
  errno = ENOMEM;
  return NULL;
}
void* malloc(size_t size) { return fails("memory") ? no_memory() : __libc_malloc(size); }
void* calloc(size_t items, size_t size) { return fails("memory") ? no_memory() : __libc_calloc(items, size); }
void* realloc(void* old, size_t size) { return fails("memory") ? no_memory() : __libc_realloc(old, size); }
void* aligned_alloc(size_t align, size_t size) { return fails("memory") ? no_memory() : __libc_memalign(align, size); }
void* memalign(size_t align, size_t size) { return fails("memory") ? no_memory() : __libc_memalign(align, size); }
int posix_memalign(void** result, size_t align, size_t size) {
  void* memory = fails("memory") ? NULL : __libc_memalign(align, size);
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}
void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (fails("memory")) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

static long failed(int error) {
  errno = error;
  return -1;
}
static int opened(int folder, const char* path, int flags, va_list rest) {
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  return fails("open") ? (int)failed(EMFILE) : (int)syscall(SYS_openat, folder, path, flags, mode);
}
#define OPEN_AT(name)                                                     \
  int name(int folder, const char* path, int flags, ...) {                \
    va_list rest;                                                         \
    va_start(rest, flags);                                                \
    const int result = opened(folder, path, flags | O_LARGEFILE, rest);   \
    va_end(rest);                                                         \
    return result;                                                        \
  }
#define OPEN(name)                                                        \
  int name(const char* path, int flags, ...) {                            \
    va_list rest;                                                         \
    va_start(rest, flags);                                                \
    const int result = opened(AT_FDCWD, path, flags | O_LARGEFILE, rest); \
    va_end(rest);                                                         \
    return result;                                                        \
  }
OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

ssize_t read(int file, void* to, size_t size) { return fails("read") ? failed(EIO) : syscall(SYS_read, file, to, size); }
ssize_t pread(int file, void* to, size_t size, off_t at) {
  return fails("read") ? failed(EIO) : syscall(SYS_pread64, file, to, size, at);
}
ssize_t pread64(int file, void* to, size_t size, off64_t at) {
  return fails("read") ? failed(EIO) : syscall(SYS_pread64, file, to, size, at);
}
/* What the program says on its terminal is not what is injected into. */
ssize_t write(int file, const void* from, size_t size) {
  return file > 2 && fails("write") ? failed(ENOSPC) : syscall(SYS_write, file, from, size);
}
ssize_t writev(int file, const struct iovec* parts, int number) {
  return file > 2 && fails("write") ? failed(ENOSPC) : syscall(SYS_writev, file, parts, number);
}
ssize_t pwrite(int file, const void* from, size_t size, off_t at) {
  return fails("write") ? failed(ENOSPC) : syscall(SYS_pwrite64, file, from, size, at);
}
ssize_t pwrite64(int file, const void* from, size_t size, off64_t at) {
  return fails("write") ? failed(ENOSPC) : syscall(SYS_pwrite64, file, from, size, at);
}
int ftruncate(int file, off_t size) { return fails("write") ? (int)failed(ENOSPC) : (int)syscall(SYS_ftruncate, file, size); }
int ftruncate64(int file, off64_t size) {
  return fails("write") ? (int)failed(ENOSPC) : (int)syscall(SYS_ftruncate, file, size);
}
int fsync(int file) { return fails("sync") ? (int)failed(EIO) : (int)syscall(SYS_fsync, file); }
int fdatasync(int file) { return fails("sync") ? (int)failed(EIO) : (int)syscall(SYS_fdatasync, file); }
int rename(const char* from, const char* to) {
  return fails("rename") ? (int)failed(EIO) : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return fails("rename") ? (int)failed(EIO) : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) {
  static int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (create == NULL) create = dlsym(RTLD_NEXT, "pthread_create");
  return fails("thread") ? EAGAIN : create(thread, attributes, work, argument);
}
