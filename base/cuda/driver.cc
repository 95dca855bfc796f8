#include "base/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"

namespace amdahl::cuda {
namespace {

constexpr int kOutOfMemory = 2;
constexpr int kFirstFault = 700, kLastFault = 720;  // CUDA_ERROR_ILLEGAL_ADDRESS and what follows it: the context is lost

struct Loaded {
  Driver driver{};
  std::string why_not;
};

template <typename F>
void find(void* library, F*& function, const char* name, std::string& missing) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  if (!function && missing.empty()) missing = name;
}

// The names carry the version of the interface that the types above belong to.
std::string find_all(void* library, Driver& d) {
  std::string missing;
  find(library, d.init, "cuInit", missing);
  find(library, d.driver_version, "cuDriverGetVersion", missing);
  find(library, d.error_text, "cuGetErrorString", missing);
  find(library, d.device_count, "cuDeviceGetCount", missing);
  find(library, d.device_get, "cuDeviceGet", missing);
  find(library, d.device_name, "cuDeviceGetName", missing);
  find(library, d.device_attribute, "cuDeviceGetAttribute", missing);
  find(library, d.device_memory, "cuDeviceTotalMem_v2", missing);
  find(library, d.primary_context, "cuDevicePrimaryCtxRetain", missing);
  find(library, d.release_primary_context, "cuDevicePrimaryCtxRelease_v2", missing);
  find(library, d.set_context, "cuCtxSetCurrent", missing);
  find(library, d.allocate, "cuMemAlloc_v2", missing);
  find(library, d.release, "cuMemFree_v2", missing);
  find(library, d.copy_to_device, "cuMemcpyHtoDAsync_v2", missing);
  find(library, d.copy_to_host, "cuMemcpyDtoHAsync_v2", missing);
  find(library, d.fill, "cuMemsetD8Async", missing);
  find(library, d.reserve_addresses, "cuMemAddressReserve", missing);
  find(library, d.release_addresses, "cuMemAddressFree", missing);
  find(library, d.create_memory, "cuMemCreate", missing);
  find(library, d.release_memory, "cuMemRelease", missing);
  find(library, d.map, "cuMemMap", missing);
  find(library, d.unmap, "cuMemUnmap", missing);
  find(library, d.set_access, "cuMemSetAccess", missing);
  find(library, d.load_module, "cuModuleLoadData", missing);
  find(library, d.unload_module, "cuModuleUnload", missing);
  find(library, d.get_function, "cuModuleGetFunction", missing);
  find(library, d.set_function_attribute, "cuFuncSetAttribute", missing);
  find(library, d.launch, "cuLaunchKernelEx", missing);
  find(library, d.encode_tensor_map, "cuTensorMapEncodeTiled", missing);
  find(library, d.encode_map_of_windows, "cuTensorMapEncodeIm2col", missing);
  find(library, d.create_stream, "cuStreamCreate", missing);
  find(library, d.destroy_stream, "cuStreamDestroy_v2", missing);
  find(library, d.synchronize, "cuStreamSynchronize", missing);
  find(library, d.begin_capture, "cuStreamBeginCapture_v2", missing);
  find(library, d.end_capture, "cuStreamEndCapture", missing);
  find(library, d.instantiate, "cuGraphInstantiateWithFlags", missing);
  find(library, d.launch_graph, "cuGraphLaunch", missing);
  find(library, d.destroy_executable, "cuGraphExecDestroy", missing);
  find(library, d.destroy_graph, "cuGraphDestroy", missing);
  find(library, d.create_event, "cuEventCreate", missing);
  find(library, d.destroy_event, "cuEventDestroy_v2", missing);
  find(library, d.record, "cuEventRecord", missing);
  find(library, d.elapsed, "cuEventElapsedTime", missing);
  return missing;
}

Loaded load() {
  Loaded loaded;
  const char* named = std::getenv("AMDAHL_CUDA_DRIVER");
  void* library = dlopen(named && *named ? named : "libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    loaded.why_not = fmt::format("no NVIDIA driver ({}): install one (apt-get install nvidia-driver, and a card)", dlerror());
    return loaded;
  }
  if (const std::string missing = find_all(library, loaded.driver); !missing.empty()) {
    loaded.why_not = fmt::format("the NVIDIA driver lacks {}: one of CUDA 12 or later is needed", missing);
    return loaded;
  }
  if (const int result = loaded.driver.init(0); result != 0) {
    const char* text = nullptr;
    loaded.driver.error_text(result, &text);
    loaded.why_not = fmt::format("the NVIDIA driver does not start: {} ({})", text ? text : "unknown error", result);
  }
  return loaded;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

const std::string& why_no_driver() { return loaded().why_not; }

const Driver& driver() {
  if (!why_no_driver().empty()) throw Error(ExitCode::kNoDevice, why_no_driver());
  return loaded().driver;
}

int make_tensor_map(TensorMap* map, Address address, const Boxes& b) {
  constexpr int kUint16 = 1, kNotInterleaved = 0, kSwizzleOf128Bytes = 3, kPromoteTo128Bytes = 2, kZeros = 0;
  if (b.width == 0) {
    const uint64_t sizes[] = {b.columns, b.rows};
    const uint32_t box[] = {b.box_columns, b.box_rows}, steps[] = {1, 1};
    return driver().encode_tensor_map(map, kUint16, 2, address, sizes, &b.row_bytes, box, steps, kNotInterleaved, kSwizzleOf128Bytes, kPromoteTo128Bytes,
                                      kZeros);
  }
  const uint64_t pixels = uint64_t{b.width} * b.height;
  const uint64_t sizes[] = {b.columns, b.width, b.height, b.rows / pixels}, strides[] = {b.row_bytes, b.row_bytes * b.width, b.row_bytes * pixels};
  const int first[] = {b.first_w, b.first_h}, last[] = {b.last_w, b.last_h};
  const uint32_t steps[] = {1, b.step_w, b.step_h, 1};
  return driver().encode_map_of_windows(map, kUint16, 4, address, sizes, strides, first, last, b.box_columns, b.box_rows, steps, kNotInterleaved,
                                        kSwizzleOf128Bytes, kPromoteTo128Bytes, kZeros);
}

void check(int result, const char* call) {
  if (result == 0) return;
  const char* text = nullptr;
  driver().error_text(result, &text);
  if (result == kOutOfMemory) throw Error(ExitCode::kIo, fmt::format("the card has no memory left ({}): close other programs that use it", call));
  if (result >= kFirstFault && result <= kLastFault) throw Fault(text ? text : "a fault of a kernel");
  throw Error(ExitCode::kInternal, fmt::format("the card's driver says of {}: {} ({})", call, text ? text : "unknown error", result));
}

}  // namespace amdahl::cuda
