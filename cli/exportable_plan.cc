#include "cli/exportable_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "experiments/provenance.h"
#include "starter_kernels/toolchain/toolchain.h"
#include "tuner/trials/builder.h"

namespace amdahl {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ExitCode::kNotVerified, "not exported: " + why); }

bool has_variant(const std::vector<Step>& steps, const std::string& id) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& s) { return s.variant.id() == id; });
}

// The experiment that proved it was judged with the machine code that is built now.
void require_judged_code(const SessionStore& session, const Variant& variant, Builder& builder) {
  for (const Experiment& e : session.experiments()) {
    if (e.outcome != Outcome::kKept || e.object_code.empty()) continue;
    const auto steps = e.replacement.get<std::vector<Step>>();
    if (!has_variant(steps, variant.id())) continue;
    const BuildResult built = builder.build({steps})[0];
    if (!built.ok) refuse(built.message);
    if (built.code != e.object_code)
      refuse(fmt::format("the compiler makes other machine code of experiment {} than was judged: tune the model in a new session", e.id));
  }
}

std::string judged_text(const Variant& variant, const Toolchain& toolchain) {
  std::string text;
  if (const CompileResult r = toolchain.resolve(variant, &text); !r.ok) refuse(r.message);
  Variant resolved = variant;
  resolved.source_override = text;
  const CompileResult before = toolchain.compile(variant), after = toolchain.compile(resolved);
  if (!before.ok || !after.ok) refuse((before.ok ? after : before).message);
  if (toolchain.code_hash(before.library) != toolchain.code_hash(after.library))
    refuse(fmt::format("the text of a {} kernel means something else without its macros: tune the model in a new session", variant.problem.kind));
  return text;
}

}  // namespace

Plan exportable_plan(const SessionStore& session, Plan plan, const GlobalOptions& global) {
  if (!holds_foreign_text(plan.steps)) return plan;
  if (const std::string why = unproven_text(session, plan); !why.empty()) refuse(why);
  const auto toolchain = global.backend->make_toolchain(global.cache_dir);
  Builder builder(toolchain, 1, nullptr);
  for (Step& s : plan.steps) {
    if (s.variant.source_override.empty()) continue;
    require_judged_code(session, s.variant, builder);
    s.variant.source_override = judged_text(s.variant, *toolchain);
  }
  return plan;
}

}  // namespace amdahl
