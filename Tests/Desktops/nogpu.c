// A library that Hyprland takes for a GPU, for tests on machines without one. It is loaded before Hyprland's own libraries
// (LD_PRELOAD). Hyprland's headless backend wants a DRM device, buffers of GBM, and EGL on that device. Here the device is /dev/null,
// a buffer is memory without a name, and EGL is Mesa's surfaceless platform, which draws by the processor.
//
// The library has been tried with Hyprland 0.57 and aquamarine 0.14; another release may call other functions.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// MARK: The device

static int device_descriptor(void) {
  static int descriptor = -1;
  if (descriptor < 0) descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
  return descriptor;
}

// Aquamarine::CHeadlessBackend::drmFD() and drmRenderNodeFD().
int _ZN10Aquamarine16CHeadlessBackend5drmFDEv(void *backend) {
  (void)backend;
  return device_descriptor();
}
int _ZN10Aquamarine16CHeadlessBackend15drmRenderNodeFDEv(void *backend) {
  (void)backend;
  return device_descriptor();
}

typedef struct {
  int major, minor, patch;
  int name_length;
  char *name;
  int date_length;
  char *date;
  int description_length;
  char *description;
} Version;

Version *drmGetVersion(int descriptor) {
  (void)descriptor;
  Version *version = calloc(1, sizeof *version);
  version->name = strdup("nogpu");
  version->name_length = 5;
  version->date = strdup("");
  version->description = strdup("");
  return version;
}
void drmFreeVersion(Version *version) {
  if (!version) return;
  free(version->name);
  free(version->date);
  free(version->description);
  free(version);
}

// The device imports and exports buffers by descriptors (DRM_CAP_PRIME), and has no other capability.
int drmGetCap(int descriptor, uint64_t capability, uint64_t *value) {
  (void)descriptor;
  *value = capability == 5 ? 3 : 0;
  return 0;
}
int drmIsMaster(int descriptor) {
  (void)descriptor;
  return 0;
}
char *drmGetDeviceNameFromFd2(int descriptor) {
  (void)descriptor;
  return strdup("/dev/null");
}
char *drmGetPrimaryDeviceNameFromFd(int descriptor) { return drmGetDeviceNameFromFd2(descriptor); }
char *drmGetRenderDeviceNameFromFd(int descriptor) { return drmGetDeviceNameFromFd2(descriptor); }
// The device has no further description.
int drmGetDevice2(int descriptor, uint32_t flags, void **device) {
  (void)descriptor, (void)flags, (void)device;
  return -ENODEV;
}
int drmGetDevice(int descriptor, void **device) { return drmGetDevice2(descriptor, 0, device); }

// MARK: Buffers

typedef struct {
  int descriptor;
} Allocator;

typedef struct {
  int descriptor;
  uint32_t stride, height;
} Buffer;

static size_t size(const Buffer *buffer) { return (size_t)buffer->stride * buffer->height; }

void *gbm_create_device(int descriptor) {
  Allocator *allocator = calloc(1, sizeof *allocator);
  allocator->descriptor = descriptor;
  return allocator;
}
void gbm_device_destroy(Allocator *allocator) { free(allocator); }
int gbm_device_get_fd(Allocator *allocator) { return allocator->descriptor; }
const char *gbm_device_get_backend_name(Allocator *allocator) {
  (void)allocator;
  return "nogpu";
}

// All formats that Hyprland chooses have four bytes a pixel.
void *gbm_bo_create(Allocator *allocator, uint32_t width, uint32_t height, uint32_t format, uint32_t use) {
  (void)allocator, (void)format, (void)use;
  Buffer *buffer = calloc(1, sizeof *buffer);
  buffer->stride = (width * 4 + 255) & ~255u;
  buffer->height = height;
  buffer->descriptor = memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (buffer->descriptor < 0 || ftruncate(buffer->descriptor, (off_t)size(buffer)) != 0) {
    free(buffer);
    return NULL;
  }
  return buffer;
}
void *gbm_bo_create_with_modifiers2(Allocator *allocator, uint32_t width, uint32_t height, uint32_t format,
                                    const uint64_t *modifiers, unsigned count, uint32_t use) {
  (void)modifiers, (void)count;
  return gbm_bo_create(allocator, width, height, format, use);
}
void *gbm_bo_create_with_modifiers(Allocator *allocator, uint32_t width, uint32_t height, uint32_t format,
                                   const uint64_t *modifiers, unsigned count) {
  return gbm_bo_create_with_modifiers2(allocator, width, height, format, modifiers, count, 0);
}
void gbm_bo_destroy(Buffer *buffer) {
  close(buffer->descriptor);
  free(buffer);
}

// A buffer has one plane, row after row.
int gbm_bo_get_plane_count(Buffer *buffer) {
  (void)buffer;
  return 1;
}
uint64_t gbm_bo_get_modifier(Buffer *buffer) {
  (void)buffer;
  return 0;
}
uint32_t gbm_bo_get_offset(Buffer *buffer, int plane) {
  (void)buffer, (void)plane;
  return 0;
}
uint32_t gbm_bo_get_stride_for_plane(Buffer *buffer, int plane) {
  (void)plane;
  return buffer->stride;
}
int gbm_bo_get_fd_for_plane(Buffer *buffer, int plane) {
  (void)plane;
  return fcntl(buffer->descriptor, F_DUPFD_CLOEXEC, 0);
}
void *gbm_bo_map(Buffer *buffer, uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint32_t flags,
                 uint32_t *stride, void **mapped) {
  (void)x, (void)y, (void)width, (void)height, (void)flags;
  *stride = buffer->stride;
  void *memory = mmap(NULL, size(buffer), PROT_READ | PROT_WRITE, MAP_SHARED, buffer->descriptor, 0);
  *mapped = memory == MAP_FAILED ? NULL : memory;
  return *mapped;
}
void gbm_bo_unmap(Buffer *buffer, void *mapped) { munmap(mapped, size(buffer)); }

// MARK: EGL

typedef void (*Function)(void);
typedef void *(*GetPlatformDisplay)(unsigned platform, void *native, const int32_t *attributes);

enum { surfaceless = 0x31DD };  // EGL_PLATFORM_SURFACELESS_MESA

static GetPlatformDisplay get_platform_display;

static void *get_surfaceless_display(unsigned platform, void *native, const int32_t *attributes) {
  (void)platform, (void)native;
  return get_platform_display(surfaceless, NULL, attributes);
}

Function eglGetProcAddress(const char *name) {
  static Function (*next)(const char *);
  if (!next) next = (Function(*)(const char *))dlsym(RTLD_NEXT, "eglGetProcAddress");
  Function function = next(name);
  if (strcmp(name, "eglGetPlatformDisplayEXT") != 0) return function;
  get_platform_display = (GetPlatformDisplay)function;
  return (Function)get_surfaceless_display;
}
