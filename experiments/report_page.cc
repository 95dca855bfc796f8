#include "experiments/report_page.h"

#include <vector>

#include "base/embedded.h"
#include "experiments/vega.h"
#include "starter_kernels/kinds/kernel_kind.h"

namespace amdahl {

const std::vector<EmbeddedText>& embedded_page();  // experiments/page/*

namespace {

// Replaces the first `mark`. What is put in is not looked at again, whatever it holds.
size_t fill(std::string& page, size_t from, std::string_view mark, std::string_view text) {
  const size_t at = page.find(mark, from);
  page.replace(at, mark.size(), text);
  return at + text.size();
}

std::string_view asset(std::string_view name) { return find_text(embedded_page(), name); }

}  // namespace

std::string report_page(const Json& data, const std::string& vega, int reload_seconds) {
  std::string script;
  for (const char* name : {"elements.js", "summary.js", "plots.js", "time.js", "ledger.js", "sources.js", "details.js", "experiments.js", "live.js", "main.js"})
    script += asset(name);
  std::string page(asset("page.html"));
  size_t at = fill(page, 0, "{{style}}", asset("page.css"));
  at = fill(page, at, "{{reload}}", reload_seconds > 0 ? " data-reload=\"" + std::to_string(reload_seconds) + "\"" : "");
  at = fill(page, at, "{{data}}", script_json(data));
  at = fill(page, at, "{{vega}}", vega);
  fill(page, at, "{{script}}", script);
  return page;
}

std::string report_page(const Session& session, const Target& target, int reload_seconds) {
  const std::string vega = vega_script();
  const auto source_of = [&](const Variant& v) {
    const std::string tried = session.source(v.id());
    return tried.empty() ? target.source(v) : tried;  // a starter kernel was never a candidate
  };
  return report_page(report_data(session, session.identity(), source_of), vega, reload_seconds);
}

}  // namespace amdahl
