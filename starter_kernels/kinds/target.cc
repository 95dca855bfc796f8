#include "starter_kernels/kinds/target.h"

#include <fmt/format.h>

#include "base/error.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

const KernelImplementation* Target::find(std::string_view kind) const {
  for (const KernelImplementation* i : implementations)
    if (i->kind() == kind) return i;
  return nullptr;
}

bool Target::computes(std::string_view kind) const { return find(kind) != nullptr; }

std::string Target::lacks(std::string_view kind) const { return fmt::format("the backend {} has no kernel of kind '{}'", backend, kind); }

SearchSpace Target::space(const Problem& problem) const {
  if (const KernelImplementation* found = find(problem.kind)) return found->space(problem, device);
  return {{}, [why = lacks(problem.kind)](const Knobs&) { return why; }, {}};
}

std::string Target::source(const Variant& variant) const {
  if (!variant.source_override.empty()) return variant.source_override;
  const KernelImplementation* found = find(variant.problem.kind);
  if (!found) throw Error(ExitCode::kInternal, lacks(variant.problem.kind));
  return found->source(variant, device);
}

}  // namespace amdahl
