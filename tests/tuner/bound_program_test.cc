// What the calls of a bound program share.

#include "tuner/worker/bound_program.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tuner/trials/builder.h"
#include "tuner/worker/cpu_worker_device.h"

namespace amdahl {
namespace {

// Remembers the workspaces of its calls; asked for the size of its input -1, whether there were two and they were one.
constexpr const char* kRemembers =
    "#include <stddef.h>\n"
    "static void* seen[2];\nstatic int calls;\n"
    "extern \"C\" size_t amdahl_workspace_bytes(void) { return 4096; }\n"
    "extern \"C\" size_t amdahl_packed_bytes(int input) { return input == -1 && calls == 2 && seen[0] == seen[1]; }\n"
    "extern \"C\" void amdahl_pack(int, const void*, void*) {}\n"
    "extern \"C\" void amdahl_run(const void* const*, void* const*, void* workspace) { seen[calls++ % 2] = workspace; }\n";

TEST(BoundProgram, CopiesOfTheWeightsWorkInOneWorkspace) {
  Step step = starter_plan(kernel_kind("pointwise").examples().front(), 1, cpu_target()).steps.front();
  step.variant.source_override = kRemembers;
  Builder builder(std::make_shared<CpuToolchain>(default_cache_dir()), 1, nullptr);
  const BuildResult built = builder.build({{step}})[0];
  ASSERT_TRUE(built.ok) << built.message;
  Program program;
  program.libraries = built.libraries;
  program.calls = {{}};
  const std::vector<std::vector<int64_t>> two(2);
  CpuWorkerDevice device;
  BoundProgram bound_program(program, device, Layout::kModel, {two, two, two});
  bound_program.run(0, 2, 1);
  void* library = dlopen(built.libraries.front().c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_TRUE(library);
  EXPECT_EQ(reinterpret_cast<size_t (*)(int)>(dlsym(library, "amdahl_packed_bytes"))(-1), 1u);
  EXPECT_FALSE(bound_program.damaged());
  dlclose(library);
}

}  // namespace
}  // namespace amdahl
