#pragma once
// A driver of NVIDIA's cards that needs none: libcuda.so.1 for tests. Memory of the card is the host's, streams run at once or are captured, and kernels are
// not run but recorded: a launch of a function that was described leaves a number in its outputs that says which function with which grid read what. Two
// programs that give equal numbers have launched the same on the same. Rules of the driver are kept: calls need a current context, captures forbid what waits
// or allocates, operands lie in memory that was allocated.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fake_cuda {

void set_capability(int major, int minor);  // 9.0 at first

// What a launch of `function` of the module made of these bytes reads and writes: its parameter is `inputs` pointers, then `outputs`, then perhaps others.
void describe(const std::string& image, const std::string& function, int inputs, int outputs);

// The call number `nth` from now, the first being 0, fails with `result`. Negative: none does.
void fail(int nth, int result);
// What was called since forget(): names, in order.
std::vector<std::string> calls();
// Launches that ran since forget(): "amdahl_kernel_0 of IMAGE <<<(3, 1, 1), (256, 1, 1), 0>>>".
std::vector<std::string> launches();
void forget();
// Tensor maps that were made since this was last asked: "70 x 136, 272 bytes apart, in boxes of 64 x 64".
std::vector<std::string> take_maps();

// Objects that were made and not destroyed, by kind; "" when there are none.
std::string alive();
// Contexts that are current to this thread, one over another.
int current_contexts();

}  // namespace fake_cuda

// As much of the driver's interface as tests call themselves.
extern "C" {
int cuCtxPushCurrent_v2(void* context);
int cuCtxPopCurrent_v2(void** context);
int cuMemAlloc_v2(uint64_t* address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuStreamCreate(void** stream, unsigned flags);
int cuStreamDestroy_v2(void* stream);
int cuStreamBeginCapture_v2(void* stream, int mode);
int cuStreamEndCapture(void* stream, void** graph);
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags);
int cuGraphLaunch(void* executable, void* stream);
int cuGraphExecDestroy(void* executable);
int cuGraphDestroy(void* graph);
}
