#include "export/plan_library/compiled_plan.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/elf.h"
#include "base/error.h"
#include "base/machine.h"
#include "export/kernel_templates/weights_hash.h.in"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

constexpr int kReadFormat = 1;

Error damaged(const std::string& folder, const std::string& what) {
  return Error(ExitCode::kIo, fmt::format("{} is no compiled plan that is whole: {}; export it again", folder, what));
}

Json read_plan(const std::string& folder) {
  std::ifstream in(folder + "/plan.json");
  if (!in) throw Error(ExitCode::kIo, fmt::format("{}/plan.json cannot be read: name a folder that `amdahl export --format compiled` wrote", folder));
  Json plan = Json::parse(in, nullptr, false);
  if (!plan.is_object()) throw damaged(folder, "plan.json is not JSON, or no object of it");
  if (plan.value("format", 0) != kReadFormat)
    throw Error(ExitCode::kIo, fmt::format("{} is of version {} of the format, this library reads {}: take the libamdahl-plan.so of the folder itself", folder,
                                           plan.value("format", 0), kReadFormat));
  return plan;
}

void require_features(const Json& plan) {
  std::vector<std::string> missing;
  for (const std::string feature : plan.at("features"))
    if (!this_machine().has(feature)) missing.push_back(feature);
  if (missing.empty()) return;
  throw Error(ExitCode::kUnsupported, fmt::format("this processor ({}) lacks what the one has that it was compiled for ({}): {}; tune on this one, or "
                                                  "export --format cxx there, which any processor can run",
                                                  this_machine().name, plan.value("processor", ""), fmt::join(missing, ", ")));
}

// Into memory of the device's, whose pages are large.
const std::byte* read_weights(const std::string& folder, size_t bytes, uint64_t hash, Device& device) {
  std::byte* const data = device.allocate(bytes);
  std::ifstream in(folder + "/weights.bin", std::ios::binary);
  in.read(reinterpret_cast<char*>(data), static_cast<std::streamsize>(bytes));
  if (static_cast<size_t>(in.gcount()) != bytes || in.peek() != std::ifstream::traits_type::eof()) throw damaged(folder, "weights.bin is of another size");
  if (amdahl_weights_hash(reinterpret_cast<const unsigned char*>(data), bytes) != hash) throw damaged(folder, "weights.bin has other bytes");
  return data;
}

Program read_program(const Json& plan, const std::string& folder) {
  Program program = plan.at("program").get<Program>();
  for (std::string& library : program.libraries) {
    // Loading one that is cut off is no error but a signal: its end is mapped, and not there.
    if (!ElfFile::read(folder + "/" + library)) throw damaged(folder, library + " is not there, or cut off");
    library = std::filesystem::absolute(folder + "/" + library);  // dlopen searches for names without a slash
  }
  return program;
}

// Kernels ask for OpenMP's library by its name, and take the one that is loaded. The system's goes before the folder's: other libraries in this process may
// need a newer one. They ask for C++'s by nobody's: newer compilers write into their tables how an exception would end them, and programs of C++ have that.
void load_runtimes(const std::string& folder) {
  for (const std::string& library : {std::string("libgomp.so.1"), std::filesystem::absolute(folder + "/libgomp.so.1").string()})
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) break;
  dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL);
}

template <typename T>
bool all_below(const void* data, int64_t count, int64_t limit) {
  const T* const first = static_cast<const T*>(data);
  return std::all_of(first, first + count, [&](T x) { return x >= 0 && static_cast<int64_t>(x) < limit; });
}

}  // namespace

CompiledPlan::CompiledPlan(const std::string& folder) {
  const Json plan = read_plan(folder);
  try {
    require_features(plan);
    inputs_ = plan.at("inputs").size();
    outputs_ = plan.at("outputs").size();
    for (size_t i = 0; i < inputs_; ++i) {
      const Json& input = plan.at("inputs")[i];
      if (!input.contains("limit")) continue;
      const auto shape = input.at("shape").get<Shape>();
      const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
      indices_.push_back({i, dtype_from_name(input.at("dtype").get<std::string>()), count, input.at("limit").get<int64_t>()});
    }
    load_runtimes(folder);
    Program program = read_program(plan, folder);
    const std::byte* const weights = read_weights(folder, program.blob_bytes, plan.at("weights_hash"), device_);
    executor_.emplace(std::move(program), device_, weights);
  } catch (const Json::exception& error) {
    throw damaged(folder, fmt::format("plan.json: {}", error.what()));
  }
  executor_->discard_packed_constants();
}

bool CompiledPlan::indices_are_good(const void* const* inputs) const {
  return std::all_of(indices_.begin(), indices_.end(), [&](const Indices& i) {
    switch (i.dtype) {
      case DType::kI64: return all_below<int64_t>(inputs[i.input], i.count, i.limit);
      case DType::kI32: return all_below<int32_t>(inputs[i.input], i.count, i.limit);
      default: return true;  // ONNX indexes by these two
    }
  });
}

void CompiledPlan::watch(std::span<const uint32_t* const> words) {
  const std::lock_guard lock(*lock_);
  watched_.clear();
  for (const uint32_t* word : words) watched_.push_back({word, *word});
}

CompiledPlan::Run CompiledPlan::run(const void* const* inputs, void* const* outputs) {
  const std::lock_guard lock(*lock_);
  for (const Watched& w : watched_)
    if (*w.word != w.value) return Run::kChanged;
  if (!indices_are_good(inputs)) return Run::kBadIndex;
  executor_->run_on({inputs, inputs_}, {outputs, outputs_});
  return Run::kComputed;
}

}  // namespace amdahl
