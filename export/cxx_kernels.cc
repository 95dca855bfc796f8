#include "export/cxx_kernels.h"

#include <fmt/format.h>

#include <map>

#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/cpu/matmul_bf16.h"
#include "starter_kernels/kinds/kernel_kind.h"

namespace amdahl {
namespace {

constexpr const char* kFunctions[] = {"workspace_bytes", "packed_bytes", "pack", "run"};

// Kernels come with equal function names: `prefix` makes them differ, by the preprocessor, so that the text stays as it was.
std::string renames(const std::string& prefix) {
  std::string text = fmt::format("#define AMDAHL_KERNEL {}\n", prefix);
  for (const char* f : kFunctions) text += fmt::format("#define amdahl_{} {}_{}\n", f, prefix, f);
  return text;
}

// What the model calls. It counts inside the kernel's own object file: a count says that this build of it ran.
std::string entry(const std::string& prefix, const char* build) {
  return fmt::format(
      "#include \"../engaged.h\"\n"
      "extern \"C\" void {0}_call(const void* const* in, void* const* out, void* workspace, struct engaged* engaged) {{\n"
      "  AMDAHL_KERNEL::amdahl_run(in, out, workspace);\n  ++engaged->{1};\n}}\n",
      prefix, build);
}

struct Parts {
  std::string includes, body;
};

// Includes must stand outside of the namespace that the kernel is put into.
Parts split(const std::string& source) {
  Parts parts;
  size_t at = 0;
  while (at < source.size()) {
    const size_t end = std::min(source.find('\n', at), source.size() - 1) + 1;
    const std::string line = source.substr(at, end - at);
    (line.rfind("#include <", 0) == 0 ? parts.includes : parts.body) += line;
    at = end;
  }
  return parts;
}

std::string in_namespace(const std::string& source) {
  const Parts parts = split(source);
  return fmt::format("{}namespace AMDAHL_KERNEL {{\n{}\n}}  // namespace\n", parts.includes, parts.body);
}

// The model's name is in it: a program may link two exports.
std::string prefix_of(const std::string& name, char build, size_t number) { return fmt::format("amdahl_{}_{}{}", name, build, number); }

// The kernel that any CPU can run where the tuned text asks for more than flags can take away: instructions on bfloat16, or
// whatever a person wrote into an edited kernel. "" where the tuned text will do.
std::string replacement(const Variant& v) {
  const bool bf16 = multiplies_in_bf16(v.problem);
  if (!bf16 && v.source_override.empty()) return "";
  Variant plain = v;
  plain.source_override.clear();
  plain.flags.clear();
  if (bf16) {
    declare_algorithm(plain.problem, "");
    plain.knobs = cpu_target().space(plain.problem).starters();
  }
  return cpu_target().source(plain);
}

CxxKernel kernel_of(const std::string& name, const Variant& v, size_t number) {
  CxxKernel kernel;
  kernel.file = fmt::format("k{:03}_{}.cpp", number, v.problem.kind);
  kernel.flags = v.flags;
  kernel.bf16 = multiplies_in_bf16(v.problem);
  kernel.amx = kernel.bf16 && are_of_tiles(v.knobs);
  const std::string tuned = prefix_of(name, 'k', number), portable = prefix_of(name, 'p', number);
  const std::string text = cpu_target().source(v);
  // src/portable/ includes this file under other names.
  kernel.tuned =
      fmt::format("#ifndef AMDAHL_KERNEL\n{}#endif\n{}#ifndef AMDAHL_PORTABLE\n{}#endif\n", renames(tuned), in_namespace(text), entry(tuned, "tuned"));
  const std::string other = replacement(v);
  kernel.portable = fmt::format("#define AMDAHL_PORTABLE\n{}{}{}", renames(portable),
                                other.empty() ? fmt::format("#include \"../kernels/{}\"\n", kernel.file) : in_namespace(other), entry(portable, "portable"));
  return kernel;
}

}  // namespace

std::vector<CxxKernel> cxx_kernels(const std::string& name, const Plan& plan, std::vector<int>* kernel_of_step) {
  std::vector<CxxKernel> kernels;
  std::map<std::string, int> number_of;
  for (const Step& step : plan.steps) {
    const auto [it, is_new] = number_of.try_emplace(step.variant.id(), static_cast<int>(kernels.size()));
    kernel_of_step->push_back(it->second);
    if (is_new) kernels.push_back(kernel_of(name, step.variant, kernels.size()));
  }
  return kernels;
}

std::string cxx_kernel_tables(const std::string& name, const std::vector<CxxKernel>& kernels) {
  std::string declarations, tables;
  for (const auto& [letter, build] : {std::pair{'k', "tuned"}, std::pair{'p', "portable"}}) {
    tables += fmt::format("static const kernel_entry {}_kernels[KERNELS + 1] = {{\n", build);
    for (size_t k = 0; k < kernels.size(); ++k) {
      const std::string p = prefix_of(name, letter, k);
      declarations += fmt::format(
          "extern \"C\" size_t {0}_workspace_bytes(void);\nextern \"C\" size_t {0}_packed_bytes(int);\n"
          "extern \"C\" void {0}_pack(int, const void*, void*);\n"
          "extern \"C\" void {0}_call(const void* const*, void* const*, void*, struct engaged*);\n",
          p);
      tables += fmt::format("    {{{0}_workspace_bytes, {0}_packed_bytes, {0}_pack, {0}_call}},\n", p);
    }
    tables += "};\n";
  }
  return declarations + "\n" + tables;
}

}  // namespace amdahl
