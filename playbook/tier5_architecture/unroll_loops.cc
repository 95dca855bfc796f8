// The compiler unrolls loops that the text leaves rolled.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* unroll_loops() {
  static const KnobRewrite rewrite({
      .tier = 5,
      .name = "unroll_loops",
      .target = "every kind",
      .precondition = "compiled by GCC",
      .flags = {"-funroll-loops"},
      .refuse = [](const RewriteContext&, const Step& step) { return std::string(step.variant.compiler == "g++" ? "" : "the flag is of GCC"); },
  });
  return &rewrite;
}

}  // namespace amdahl
