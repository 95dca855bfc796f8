#pragma once
// The driver of NVIDIA's cards, found when it is first asked for: no CUDA is needed to build this program or to start it. Types and functions are those
// of the driver's C interface (CUDA Driver API reference, version 12 and later), declared here as far as they are used.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/cuda/boxes.h"

namespace amdahl::cuda {

using Address = uint64_t;  // CUdeviceptr
using Context = struct ContextOfDriver*;
using Module = struct ModuleOfDriver*;
using Function = struct FunctionOfDriver*;
using Stream = struct StreamOfDriver*;
using Event = struct EventOfDriver*;
using Graph = struct GraphOfDriver*;
using GraphExec = struct GraphExecOfDriver*;

// CUdevice_attribute, as far as they are asked for.
enum class Attribute : int {
  kSharedBytesOfBlock = 97,  // that a kernel may opt in to
  kMultiprocessors = 16,
  kL2Bytes = 38,
  kSharedBytesOfMultiprocessor = 81,
  kMajor = 75,  // compute capability
  kMinor = 76,
};

// CUmemLocation, CUmemAllocationProp and CUmemAccessDesc.
struct MemoryLocation {
  int type = 1;  // a card
  int id = 0;
};
struct MemoryProperties {
  int type = 1;  // pinned
  int handle_types = 0;
  MemoryLocation location;
  void* windows_only = nullptr;
  unsigned char flags[8] = {};
};
struct MemoryAccess {
  MemoryLocation location;
  int flags = kReadWrite;
  static constexpr int kRead = 1, kReadWrite = 3;
};
using MemoryHandle = unsigned long long;

// CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  int id = kBeginsEarly;
  char padding[4] = {};
  union {
    char bytes[64];
    int number;
  } value = {};
  static constexpr int kBeginsEarly = 6;  // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
};
struct LaunchConfiguration {
  unsigned grid[3] = {}, block[3] = {};
  unsigned shared_bytes = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

// CUtensorMap: how boxes of a matrix are copied to shared memory.
struct alignas(64) TensorMap {
  uint64_t bits[16] = {};
};

// Every function returns 0 for success, else a number that error_text() names.
struct Driver {
  int (*init)(unsigned flags);
  int (*driver_version)(int* version);  // 13000 is 13.0
  int (*error_text)(int result, const char** text);
  int (*device_count)(int* count);
  int (*device_get)(int* device, int number);
  int (*device_name)(char* name, int bytes, int device);
  int (*device_attribute)(int* value, Attribute attribute, int device);
  int (*device_memory)(size_t* bytes, int device);
  int (*primary_context)(Context* context, int device);
  int (*release_primary_context)(int device);
  int (*set_context)(Context context);

  int (*allocate)(Address* address, size_t bytes);
  int (*release)(Address address);
  int (*copy_to_device)(Address to, const void* from, size_t bytes, Stream stream);
  int (*copy_to_host)(void* to, Address from, size_t bytes, Stream stream);
  int (*fill)(Address to, unsigned char byte, size_t bytes, Stream stream);

  // Memory at addresses of our choice, in whole kGranule, with access rights of its own.
  int (*reserve_addresses)(Address* first, size_t bytes, size_t alignment, Address wanted, unsigned long long flags);
  int (*release_addresses)(Address first, size_t bytes);
  int (*create_memory)(MemoryHandle* handle, size_t bytes, const MemoryProperties* properties, unsigned long long flags);
  int (*release_memory)(MemoryHandle handle);
  int (*map)(Address at, size_t bytes, size_t offset, MemoryHandle handle, unsigned long long flags);
  int (*unmap)(Address at, size_t bytes);
  int (*set_access)(Address at, size_t bytes, const MemoryAccess* access, size_t count);

  int (*load_module)(Module* module, const void* cubin);
  int (*unload_module)(Module module);
  int (*get_function)(Function* function, Module module, const char* name);
  int (*set_function_attribute)(Function function, int attribute, int value);
  int (*launch)(const LaunchConfiguration* configuration, Function function, void** parameters, void** extra);
  int (*encode_tensor_map)(TensorMap* map, int type, uint32_t rank, Address address, const uint64_t* sizes, const uint64_t* strides, const uint32_t* box,
                           const uint32_t* steps, int interleave, int swizzle, int promotion, int fill);

  int (*encode_map_of_windows)(TensorMap* map, int type, uint32_t rank, Address address, const uint64_t* sizes, const uint64_t* strides, const int* first,
                               const int* last, uint32_t channels, uint32_t pixels, const uint32_t* steps, int interleave, int swizzle, int promotion,
                               int fill);

  int (*create_stream)(Stream* stream, unsigned flags);
  int (*destroy_stream)(Stream stream);
  int (*synchronize)(Stream stream);
  int (*begin_capture)(Stream stream, int mode);
  int (*end_capture)(Stream stream, Graph* graph);
  int (*instantiate)(GraphExec* executable, Graph graph, unsigned long long flags);
  int (*launch_graph)(GraphExec executable, Stream stream);
  int (*destroy_executable)(GraphExec executable);
  int (*destroy_graph)(Graph graph);
  int (*create_event)(Event* event, unsigned flags);
  int (*destroy_event)(Event event);
  int (*record)(Event event, Stream stream);
  int (*elapsed)(float* milliseconds, Event from, Event to);
};

inline constexpr size_t kGranule = size_t{2} << 20;  // of mapped memory, on every card so far (CUmemAllocationGranularity_flags)
inline constexpr int kMaxDynamicSharedBytes = 8;     // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
inline constexpr int kSharedCarveout = 9;            // CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, in percent
inline constexpr unsigned kNonBlocking = 1;          // CU_STREAM_NON_BLOCKING
inline constexpr int kCaptureOfThisThread = 1;       // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

// $AMDAHL_CUDA_DRIVER, else libcuda.so.1 of the system: loaded and initialised once. Throws Error(kNoDevice) that says what is missing.
const Driver& driver();
// "", or why driver() throws.
const std::string& why_no_driver();
// The map of the matrix, or of the images, at `address`: boxes lie in shared memory in the swizzle of 128 bytes, with zeros beyond the matrix. What the driver
// returns.
int make_tensor_map(TensorMap* map, Address address, const Boxes& boxes);
// Throws Error(kInternal) that names the call and what the driver says of it, Error(kIo) when memory was refused, and Fault for what a kernel did.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void check(int result, const char* call);

}  // namespace amdahl::cuda
