// amdahl export FILE --format F -o DIR: the kept plan, out of the program.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/error.h"
#include "base/machine.h"
#include "base/shell_word.h"
#include "cli/exportable_plan.h"
#include "cli/find_padding.h"
#include "cli/make_self_test.h"
#include "cli/model_options.h"
#include "cli/open_session.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/session_model.h"
#include "experiments/standing.h"
#include "export/exporter.h"
#include "plan/bucket_part.h"

namespace amdahl {
namespace {

std::string format_names() {
  std::vector<std::string_view> names;
  for (const ExportFormat& f : export_formats()) names.push_back(f.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Whose plans it takes.
std::string backends_of(const ExportFormat& format) {
  std::vector<std::string_view> names;
  for (const ExportWriter& writer : format.writers) names.push_back(writer.backend.empty() ? "any device" : writer.backend);
  return fmt::format("{}", fmt::join(names, ", "));
}

// A line a format, for the help page.
std::string_view format_summaries() {
  static const std::string text = [] {
    std::string lines;
    size_t longest = 0;
    for (const ExportFormat& f : export_formats()) longest = std::max(longest, f.name.size());
    for (const ExportFormat& f : export_formats())
      lines += fmt::format("{}{:<{}} {} ({})", lines.empty() ? "" : "\n", std::string(f.name) + ":", longest + 1, f.summary, backends_of(f));
    return lines;
  }();
  return text;
}

void declare(Options& options) {
  options.word("session");
  declare_model_file(options);
  options.named.add_options()                                                                                 //
      ("format", po::value<std::string>()->default_value("cxx")->value_name("F"), format_names().c_str())     //
      ("output,o", po::value<std::string>()->value_name("DIR"), "new or empty folder, or an earlier export")  //
      ("only-shape", po::value<std::string>()->value_name("S"), "of a session of several shapes, this one (as the report names it)");
}

struct Arguments {
  std::string session, model_file, output;
  const ExportFormat* format = nullptr;
  std::optional<std::string> only_shape;
};

Arguments read(const po::variables_map& values) {
  Arguments a;
  a.session = read_word(values, "session", "FILE, a session");
  const std::optional<std::string> output = read_text(values, "output");
  if (!output) throw Error(ExitCode::kUsage, "missing -o DIR, the folder to write");
  a.output = *output;
  const std::string name = values["format"].as<std::string>();
  a.format = find_export_format(name);
  if (!a.format) throw Error(ExitCode::kUsage, fmt::format("unknown format '{}': give one of {}", name, format_names()));
  a.model_file = read_model_file(values);
  a.only_shape = read_text(values, "only-shape");
  return a;
}

std::vector<std::string_view> formats_of_several_shapes(std::string_view backend) {
  std::vector<std::string_view> names;
  for (const ExportFormat& f : export_formats())
    if (const ExportWriter* writer = find_writer(f, backend); writer && writer->several_shapes) names.push_back(f.name);
  return names;
}

// What the format can hold: all, or the shape `only` that was asked for.
BucketPart part_to_export(const OpenSession& open, const ExportFormat& format, const std::optional<std::string>& only) {
  const std::string_view backend = open.backend->target().backend;
  const Plan plan = gated_plan(*open.session);
  const std::vector<Bucket>& buckets = open.graph.buckets;
  std::vector<std::string> names;
  for (const Bucket& b : buckets) names.push_back(b.name);
  if (only) {
    const auto named = std::find(names.begin(), names.end(), *only);
    if (named != names.end()) return bucket_part(open.graph, plan, static_cast<size_t>(named - names.begin()));
    throw Error(ExitCode::kUsage, names.empty() ? "--only-shape: the session was tuned for one shape alone"
                                                : fmt::format("--only-shape {}: the session's shapes are {}", *only, fmt::join(names, ", ")));
  }
  if (buckets.empty() || find_writer(format, backend)->several_shapes) return {open.graph, plan};
  throw Error(ExitCode::kUsage, fmt::format("format {} holds one shape: give --only-shape with one of {}, or --format {} for all", format.name,
                                            fmt::join(names, ", "), fmt::join(formats_of_several_shapes(backend), " or ")));
}

// What the session claims of the plan: ", 1.20x [1.15, 1.24] as fast as its starter plan there".
std::string standing_text(const Session& session) {
  const std::optional<Headline> h = session.headline();
  if (!h || h->gain.pairs == 0) return "";
  if (standing_of(h->gain) == Standing::kLevel) return ", level with its starter plan there";
  return fmt::format(", {} as fast as its starter plan there", interval_text(h->gain));
}

void print_padding(const PaddingFinding& padding) {
  if (padding.refusal.empty())
    fmt::print("shapes between the tuned ones: computed by the next larger one, zeros appended; checked at {}\n", counted(padding.cases.size(), "shape"));
  else fmt::print("shapes between the tuned ones: refused, since {}\n", padding.refusal);
}

int run(const Arguments& arguments, const GlobalOptions& global) {
  const ExportFormat& format = *arguments.format;
  const OpenSession open = open_session(arguments.session, Session::Access::kRead, global, arguments.model_file);
  const GlobalOptions here = open.with_backend(global);
  if (const std::string why = refused_export(format, open.backend->target().backend); !why.empty()) throw Error(ExitCode::kUsage, why);
  BucketPart part = part_to_export(open, format, arguments.only_shape);
  part.plan = exportable_plan(*open.session, std::move(part.plan), here);
  ExportRequest request{part.graph,      part.plan, short_name(open.session->identity().model), arguments.output, {}, 0, "", {}, open.backend->target(),
                        global.cache_dir};
  Progress progress("exporting", global.progress());
  progress.update(0, 0, "self-test reference in float64");
  request.self_test = make_self_test(part.graph, part.plan, here, &request.milliseconds);
  if (part.graph.buckets.size() > 1)
    request.padding =
        find_padding({open.model, bucket_sizes_of(open.session->identity().load), part.graph, part.plan}, 2 * request.self_test.relative_norm + 1e-9, here);
  // Pairs of fresh processes with pinned threads know better than this process.
  const bool whole = part.graph.buckets.size() == open.graph.buckets.size();
  if (const auto headline = open.session->headline(); headline && whole) request.milliseconds = 1e3 * headline->kept_seconds;
  request.provenance = fmt::format("{} as tuned on {}{}", request.name, open.session->identity().machine, whole ? standing_text(*open.session) : "");
  progress.update(0, 0, "writing");
  const std::vector<std::string> files = find_writer(format, request.target.backend)->write(request);
  if (global.json) {
    print_json(Json{{"directory", request.directory}, {"files", files}, {"relative_norm", request.self_test.relative_norm}});
    return 0;
  }
  fmt::print("{} in {}; outputs {:.2g} from float64 (relative norm)\n", counted(files.size(), "file"), request.directory, request.self_test.relative_norm);
  if (part.graph.buckets.size() > 1) print_padding(request.padding);
  if (!format.next.empty()) fmt::print("build and check it: cd {} && {}\n", shell_word(request.directory), format.next);
  return 0;
}

}  // namespace

const Command kExportCommand{"export",
                             "FILE --format F -o DIR",
                             "the kept plan as plain source and a library, without us",
                             format_summaries(),
                             declare,
                             [](const po::variables_map& values, const GlobalOptions& global) { return run(read(values), global); }};

}  // namespace amdahl
