// libFuzzer's target for the tensor files that `run --input` takes: .npy and ONNX's .pb.

#include <google/protobuf/stubs/logging.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "graph/onnx/tensor_io.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int fd = memfd_create("tensor", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const amdahl::Tensor t = amdahl::load_tensor("/proc/self/fd/" + std::to_string(fd));
    if (to_doubles(t).size() != static_cast<size_t>(t.numel())) std::abort();  // every byte is read
  } catch (const amdahl::Error& e) {
    if (e.code() == amdahl::ExitCode::kInternal) throw;
  }
  close(fd);
  return 0;
}
