#include "tests/export/fake_cuda_driver.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/cuda/driver.h"

namespace {

using Address = uint64_t;

enum : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoContext = 201,
  kInvalidImage = 200,
  kInvalidHandle = 400,
  kNotFound = 500,
  kFault = 700,
  kNotPermitted = 900,
  kInvalidated = 901
};

struct Module {
  std::string image;
};
struct Function {
  Module* module;
  std::string name;
  size_t pointers;
  int shared_bytes = 0;
};
using Work = std::function<int()>;
struct Graph {
  std::vector<Work> work;
};
struct Stream {
  std::unique_ptr<Graph> capture;
  bool invalid = false;
};
struct Event {};

struct Described {
  int inputs, outputs;
};

struct State {
  int major = 9, minor = 0, fail_in = -1, failure = 0, retained = 0;
  std::vector<std::string> calls, launches, maps;
  std::map<Address, size_t> memory;
  std::map<Module*, std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Function>> functions;  // they go with their module
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<Graph*> graphs, executables;
  std::map<std::pair<std::string, std::string>, Described> described;  // by image and function
};

State& state() {
  static State s;
  return s;
}
int primary_context;  // its address is the handle
thread_local std::vector<void*> stack;

// Every call begins with this. Not 0: it is to fail.
int called(const char* name) {
  State& s = state();
  s.calls.push_back(name);
  return s.fail_in >= 0 && s.fail_in-- == 0 ? s.failure : kSuccess;
}
int called_in_context(const char* name) {
  if (const int result = called(name)) return result;
  return stack.empty() ? kNoContext : kSuccess;
}
// What no capture allows, of whichever stream.
int called_outside_captures(const char* name) {
  if (const int result = called_in_context(name)) return result;
  for (Stream* s : state().streams)
    if (s->capture) return s->invalid = true, kNotPermitted;
  return kSuccess;
}

bool is_there(Address at, size_t bytes) {
  const auto& memory = state().memory;
  auto it = memory.upper_bound(at);
  if (it == memory.begin()) return false;
  --it;
  return at + bytes <= it->first + it->second;
}
std::byte* bytes_at(Address at) { return reinterpret_cast<std::byte*>(at); }

int perform(void* stream, Work work) {
  auto* s = static_cast<Stream*>(stream);
  if (s && !state().streams.count(s)) return kInvalidHandle;
  if (s && s->capture) return s->capture->work.push_back(std::move(work)), kSuccess;
  return work();
}

template <typename Row>
Row row_at(const std::string& bytes, size_t at) {
  Row row;
  std::memcpy(&row, bytes.data() + at, sizeof row);
  return row;
}

// Among a section's entries (format, attribute, two bytes of value or as many bytes behind it) EIATTR_KPARAM_INFO of the first parameter: index, ordinal,
// offset, and a word whose upper 14 bits are its bytes.
size_t parameter_bytes_in(const std::string& info) {
  for (size_t at = 0; at + 4 <= info.size();) {
    const auto value = row_at<uint16_t>(info, at + 2);
    if (info[at + 1] == 0x17 && value == 12 && at + 16 <= info.size() && row_at<uint16_t>(info, at + 8) == 0) return row_at<uint32_t>(info, at + 12) >> 18;
    at += 4 + (info[at] == 4 ? value : 0);
  }
  return 0;
}

// Bytes of the first parameter of a kernel: a section of a cubin says so, or the text of PTX. 0: there is no such kernel.
size_t parameter_bytes(const std::string& image, const std::string& function) {
  if (!image.starts_with(ELFMAG)) {
    const std::string mark = function + "_param_0[";
    const size_t at = image.find(mark);
    return at == std::string::npos ? 0 : std::stoul(image.substr(at + mark.size()));
  }
  const auto header = row_at<Elf64_Ehdr>(image, 0);
  const auto section = [&](size_t n) { return row_at<Elf64_Shdr>(image, header.e_shoff + n * header.e_shentsize); };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (size_t n = 0; n < header.e_shnum; ++n)
    if (const Elf64_Shdr s = section(n); image.c_str() + names.sh_offset + s.sh_name == ".nv.info." + function)
      return parameter_bytes_in(image.substr(s.sh_offset, s.sh_size));
  return 0;
}

// FNV-1a.
std::string number_of(const void* data, size_t bytes) {
  uint64_t sum = 14695981039346656037u;
  for (size_t i = 0; i < bytes; ++i) sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  return fmt::format("{:016x}", sum);
}
std::string number_of(const std::string& text) { return number_of(text.data(), text.size()); }

int run(const Function& f, const std::string& shape, const std::vector<Address>& pointers) {
  State& s = state();
  s.launches.push_back(fmt::format("{} of {} {}", f.name, number_of(f.module->image).substr(0, 8), shape));
  for (Address a : pointers)
    if (a != 0 && !is_there(a, 1)) return kFault;
  const auto described = s.described.find({f.module->image, f.name});
  if (described == s.described.end()) return kSuccess;
  const auto& [inputs, outputs] = described->second;
  std::string what = s.launches.back();
  for (int i = 0; i < inputs; ++i)
    if (const Address a = pointers.at(static_cast<size_t>(i))) what += number_of(bytes_at(a), is_there(a, 4) ? 4 : 1);
  for (int o = 0; o < outputs; ++o) {
    const Address a = pointers.at(static_cast<size_t>(inputs + o));
    if (a == 0) return kFault;
    const std::string number = number_of(fmt::format("{} {}", what, o));
    std::memcpy(bytes_at(a), number.data(), is_there(a, 4) ? 4 : 1);
  }
  return kSuccess;
}

template <typename T>
T* made(std::set<T*>& all, void** handle) {
  T* object = new T;
  all.insert(object);
  *handle = object;
  return object;
}
template <typename T>
int destroyed(std::set<T*>& all, void* handle) {
  if (!all.erase(static_cast<T*>(handle))) return kInvalidHandle;
  delete static_cast<T*>(handle);
  return kSuccess;
}

}  // namespace

namespace fake_cuda {

void set_capability(int major, int minor) { state().major = major, state().minor = minor; }
void describe(const std::string& image, const std::string& function, int inputs, int outputs) { state().described[{image, function}] = {inputs, outputs}; }
void fail(int nth, int result) { state().fail_in = nth, state().failure = result; }
std::vector<std::string> calls() { return state().calls; }
std::vector<std::string> launches() { return state().launches; }
std::vector<std::string> take_maps() { return std::exchange(state().maps, {}); }
void forget() { state().calls.clear(), state().launches.clear(); }

std::string alive() {
  const State& s = state();
  std::string text;
  const auto count = [&](size_t n, const char* what) { text += n ? fmt::format("{} {} ", n, what) : ""; };
  count(s.memory.size(), "allocations");
  count(s.modules.size(), "modules");
  count(s.streams.size(), "streams");
  count(s.events.size(), "events");
  count(s.graphs.size(), "graphs");
  count(s.executables.size(), "executables");
  count(static_cast<size_t>(s.retained), "contexts");
  return text;
}
int current_contexts() { return static_cast<int>(stack.size()); }

}  // namespace fake_cuda

// The driver's interface. A program that runs on its own says by FAKE_CUDA_CAPABILITY ("8.6") which card it has.
extern "C" {

int cuInit(unsigned) {
  if (const char* text = std::getenv("FAKE_CUDA_CAPABILITY")) sscanf(text, "%d.%d", &state().major, &state().minor);
  return called("cuInit");
}
int cuDriverGetVersion(int* version) { return *version = 13000, called("cuDriverGetVersion"); }
int cuGetErrorString(int result, const char** text) {
  static std::map<int, std::string> texts;
  *text = texts.try_emplace(result, fmt::format("error number {}", result)).first->second.c_str();
  return kSuccess;
}
int cuDeviceGetCount(int* count) { return *count = 1, called("cuDeviceGetCount"); }
int cuDeviceGet(int* device, int number) {
  if (const int result = called("cuDeviceGet")) return result;
  *device = 0;
  return number == 0 ? kSuccess : 101;
}
int cuDeviceGetName(char* name, int bytes, int) { return snprintf(name, static_cast<size_t>(bytes), "a fake card"), called("cuDeviceGetName"); }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  if (const int result = called("cuDeviceGetAttribute")) return result;
  *value = attribute == 75 ? state().major : attribute == 76 ? state().minor : 1;
  return kSuccess;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = size_t{1} << 30, called("cuDeviceTotalMem"); }

int cuDevicePrimaryCtxRetain(void** context, int) {
  if (const int result = called("cuDevicePrimaryCtxRetain")) return result;
  ++state().retained;
  *context = &primary_context;
  return kSuccess;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  if (const int result = called("cuDevicePrimaryCtxRelease")) return result;
  return state().retained-- > 0 ? kSuccess : kNoContext;
}
int cuCtxGetCurrent(void** context) {
  if (const int result = called("cuCtxGetCurrent")) return result;
  *context = stack.empty() ? nullptr : stack.back();
  return kSuccess;
}
int cuCtxSetCurrent(void* context) {
  if (const int result = called("cuCtxSetCurrent")) return result;
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(context);
  return kSuccess;
}
int cuCtxGetDevice(int* device) { return *device = 0, called_in_context("cuCtxGetDevice"); }
int cuCtxPushCurrent_v2(void* context) {
  if (const int result = called("cuCtxPushCurrent")) return result;
  stack.push_back(context);
  return kSuccess;
}
int cuCtxPopCurrent_v2(void** context) {
  if (const int result = called_in_context("cuCtxPopCurrent")) return result;
  *context = stack.back();
  stack.pop_back();
  return kSuccess;
}

int cuMemAlloc_v2(Address* address, size_t bytes) {
  if (const int result = called_outside_captures("cuMemAlloc")) return result;
  if (bytes == 0) return kInvalidValue;
  const size_t whole = (bytes + 255) / 256 * 256;
  void* memory = aligned_alloc(256, whole);
  if (!memory) return kOutOfMemory;
  memset(memory, 0xa5, whole);
  *address = reinterpret_cast<Address>(memory);
  state().memory[*address] = whole;
  return kSuccess;
}
int cuMemFree_v2(Address address) {
  if (const int result = called_outside_captures("cuMemFree")) return result;
  if (!state().memory.erase(address)) return kInvalidValue;
  free(reinterpret_cast<void*>(address));
  return kSuccess;
}
int cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, void* stream) {
  if (const int result = called_in_context("cuMemcpyHtoDAsync")) return result;
  return perform(stream, [=] { return is_there(to, bytes) ? (memcpy(bytes_at(to), from, bytes), kSuccess) : kInvalidValue; });
}
int cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, void* stream) {
  if (const int result = called_in_context("cuMemcpyDtoHAsync")) return result;
  return perform(stream, [=] { return is_there(from, bytes) ? (memcpy(to, bytes_at(from), bytes), kSuccess) : kInvalidValue; });
}
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void* stream) {
  if (const int result = called_in_context("cuMemcpyDtoDAsync")) return result;
  return perform(stream,
                 [=] { return is_there(to, bytes) && is_there(from, bytes) ? (memmove(bytes_at(to), bytes_at(from), bytes), kSuccess) : kInvalidValue; });
}
int cuMemsetD8Async(Address to, unsigned char byte, size_t bytes, void* stream) {
  if (const int result = called_in_context("cuMemsetD8Async")) return result;
  return perform(stream, [=] { return is_there(to, bytes) ? (memset(bytes_at(to), byte, bytes), kSuccess) : kInvalidValue; });
}

// Cubins and PTX that have been described are known whole; of others it is known where they end by what they say themselves.
int cuModuleLoadData(void** module, const void* image) {
  if (const int result = called_outside_captures("cuModuleLoadData")) return result;
  const char* bytes = static_cast<const char*>(image);
  auto loaded = std::make_unique<Module>();
  if (memcmp(bytes, ELFMAG, SELFMAG) == 0) {
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    const size_t sections = header.e_shoff + size_t{header.e_shnum} * header.e_shentsize,
                 segments = header.e_phoff + size_t{header.e_phnum} * header.e_phentsize;
    loaded->image.assign(bytes, std::max(sections, segments));
    if (header.e_machine != 190) return kInvalidImage;
  } else if (strstr(bytes, ".version")) {
    loaded->image = bytes;
  } else {
    return kInvalidImage;
  }
  *module = loaded.get();
  state().modules[loaded.get()] = std::move(loaded);
  return kSuccess;
}
int cuModuleUnload(void* module) {
  if (const int result = called_outside_captures("cuModuleUnload")) return result;
  std::erase_if(state().functions, [&](const auto& f) { return f->module == module; });
  return state().modules.erase(static_cast<Module*>(module)) ? kSuccess : kInvalidHandle;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (const int result = called_outside_captures("cuModuleGetFunction")) return result;
  if (!state().modules.count(static_cast<Module*>(module))) return kInvalidHandle;
  const size_t bytes = parameter_bytes(static_cast<Module*>(module)->image, name);
  if (bytes == 0) return kNotFound;
  state().functions.push_back(std::make_unique<Function>(Function{static_cast<Module*>(module), name, bytes / 8}));
  *function = state().functions.back().get();
  return kSuccess;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  if (const int result = called_in_context("cuFuncSetAttribute")) return result;
  if (attribute == 9) return value >= -1 && value <= 100 ? kSuccess : kInvalidValue;  // a preference
  if (attribute != 8 || value > 227 << 10) return kInvalidValue;
  static_cast<Function*>(function)->shared_bytes = value;
  return kSuccess;
}
// Needs no context, and looks at nothing behind the address.
int cuTensorMapEncodeTiled(amdahl::cuda::TensorMap* map, int, uint32_t rank, uint64_t address, const uint64_t* sizes, const uint64_t* strides,
                           const uint32_t* box, const uint32_t*, int, int, int, int) {
  if (const int result = called("cuTensorMapEncodeTiled")) return result;
  if (rank != 2 || address % 16 != 0 || strides[0] % 16 != 0 || sizes[0] == 0 || sizes[1] == 0 || box[0] > 256 || box[1] > 256) return kInvalidValue;
  map->bits[0] = address;
  state().maps.push_back(fmt::format("{} x {}, {} bytes apart, in boxes of {} x {}", sizes[1], sizes[0], strides[0], box[1], box[0]));
  return kSuccess;
}
int cuTensorMapEncodeIm2col(amdahl::cuda::TensorMap* map, int, uint32_t rank, uint64_t address, const uint64_t* sizes, const uint64_t* strides,
                            const int* first, const int* last, uint32_t channels, uint32_t pixels, const uint32_t* steps, int, int, int, int) {
  if (const int result = called("cuTensorMapEncodeIm2col")) return result;
  if (rank != 4 || address % 16 != 0 || strides[0] % 16 != 0 || channels > 256 || pixels > 1024) return kInvalidValue;
  map->bits[0] = address;
  state().maps.push_back(fmt::format("{} of {} x {} x {}, {} bytes apart, in boxes of {} x {}, windows from ({}, {}) to ({}, {}) by ({}, {})", sizes[3],
                                     sizes[2], sizes[1], sizes[0], strides[0], pixels, channels, first[0], first[1], last[0], last[1], steps[1], steps[2]));
  return kSuccess;
}

int cuLaunchKernelEx(const amdahl::cuda::LaunchConfiguration* how, void* function, void** parameters, void**) {
  if (const int result = called_in_context("cuLaunchKernelEx")) return result;
  const auto* f = static_cast<const Function*>(function);
  const auto [gx, gy, gz] = how->grid;
  const auto [bx, by, bz] = how->block;
  const unsigned shared = how->shared_bytes;
  void* const stream = how->stream;
  if (gx * gy * gz == 0 || bx * by * bz == 0 || bx * by * bz > 1024 || (shared > 48 << 10 && f->shared_bytes < static_cast<int>(shared))) return kInvalidValue;
  if (how->attribute_count > 1 || (how->attribute_count == 1 && how->attributes->id != amdahl::cuda::LaunchAttribute::kBeginsEarly)) return kInvalidValue;
  std::vector<Address> pointers(f->pointers);
  memcpy(pointers.data(), parameters[0], 8 * pointers.size());
  const bool early = how->attribute_count == 1 && how->attributes->value.number == 1;
  const std::string shape = fmt::format("<<<({}, {}, {}), ({}, {}, {}), {}{}>>>", gx, gy, gz, bx, by, bz, shared, early ? ", early" : "");
  return perform(stream, [=] { return run(*f, shape, pointers); });
}

int cuStreamCreate(void** stream, unsigned) {
  if (const int result = called_outside_captures("cuStreamCreate")) return result;
  made(state().streams, stream);
  return kSuccess;
}
int cuStreamDestroy_v2(void* stream) {
  if (const int result = called_in_context("cuStreamDestroy")) return result;
  return destroyed(state().streams, stream);
}
int cuStreamSynchronize(void*) { return called_outside_captures("cuStreamSynchronize"); }
int cuStreamBeginCapture_v2(void* stream, int) {
  if (const int result = called_in_context("cuStreamBeginCapture")) return result;
  static_cast<Stream*>(stream)->capture = std::make_unique<Graph>();
  return kSuccess;
}
int cuStreamEndCapture(void* stream, void** graph) {
  if (const int result = called_in_context("cuStreamEndCapture")) return result;
  auto* s = static_cast<Stream*>(stream);
  const std::unique_ptr<Graph> captured = std::move(s->capture);
  if (!captured || s->invalid) return kInvalidated;
  *made(state().graphs, graph) = *captured;
  return kSuccess;
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  if (const int result = called_in_context("cuGraphInstantiate")) return result;
  *made(state().executables, executable) = *static_cast<Graph*>(graph);
  return kSuccess;
}
int cuGraphLaunch(void* executable, void*) {
  if (const int result = called_in_context("cuGraphLaunch")) return result;
  for (const Work& work : static_cast<Graph*>(executable)->work)
    if (const int result = work()) return result;
  return kSuccess;
}
int cuGraphExecDestroy(void* executable) { return called("cuGraphExecDestroy"), destroyed(state().executables, executable); }
int cuGraphDestroy(void* graph) { return called("cuGraphDestroy"), destroyed(state().graphs, graph); }
int cuEventCreate(void** event, unsigned) {
  if (const int result = called_in_context("cuEventCreate")) return result;
  made(state().events, event);
  return kSuccess;
}
int cuEventDestroy_v2(void* event) { return called("cuEventDestroy"), destroyed(state().events, event); }
int cuEventRecord(void*, void*) { return called_in_context("cuEventRecord"); }
int cuEventElapsedTime(float* milliseconds, void*, void*) { return *milliseconds = 1, called("cuEventElapsedTime"); }

// What a worker of the tuner asks a driver for: that it is there is enough.
#define NOT_HERE(name) \
  int name() { return 801; }
NOT_HERE(cuMemAddressReserve)
NOT_HERE(cuMemAddressFree)
NOT_HERE(cuMemCreate)
NOT_HERE(cuMemRelease)
NOT_HERE(cuMemMap)
NOT_HERE(cuMemUnmap)
NOT_HERE(cuMemSetAccess)
}
