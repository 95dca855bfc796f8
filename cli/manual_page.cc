#include "cli/manual_page.h"

#include <fmt/format.h>

#include <iterator>

#include "base/error.h"
#include "cli/option_table.h"
#include "cli/version.h"

namespace amdahl {
namespace {

// Text for roff: a backslash, a leading dot or quote and a hyphen that is typed mean something else there.
std::string roff(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += std::string("\\&") + c;
    else out += c;
  }
  return out;
}

std::string options_text(const std::vector<OptionRow>& rows) {
  std::string text;
  for (const OptionRow& r : rows) {
    std::string head = r.letter.empty() ? "" : fmt::format("\\fB{}\\fR, ", roff(r.letter));
    head += fmt::format("\\fB{}\\fR", roff(r.name));
    if (!r.value.empty()) head += fmt::format(" \\fI{}\\fR", roff(r.value));
    text += fmt::format(".TP\n{}\n{}\n", head, roff(r.description));
  }
  return text;
}

std::string command_text(const Command& command) {
  std::string text = fmt::format(".SS amdahl {} {}\n{}.\n", roff(command.name), roff(command.usage), roff(command.summary));
  if (!command.details.empty()) text += fmt::format("{}\n", roff(command.details));
  return text + options_text(named_rows(command));
}

struct Meaning {
  ExitCode code;
  const char* text;
};
constexpr Meaning kMeanings[] = {
    {ExitCode::kOk, "done"},
    {ExitCode::kInternal, "a bug of ours"},
    {ExitCode::kUsage, "bad command line"},
    {ExitCode::kBadModel, "the model file is missing, cut off or not ONNX"},
    {ExitCode::kUnsupported, "the model has operators that nothing here computes"},
    {ExitCode::kBadInput, "a tensor given to run does not fit"},
    {ExitCode::kUnsetDimension, "an open dimension needs --shape"},
    {ExitCode::kSessionMismatch, "the session is of another model, machine or version"},
    {ExitCode::kSessionBusy, "another process writes the session"},
    {ExitCode::kSessionDamaged, "the session is damaged"},
    {ExitCode::kNoCompiler, "no C++ compiler"},
    {ExitCode::kIo, "cannot read, write or create something; out of memory"},
    {ExitCode::kNotVerified, "a headline or self-test did not hold"},
    {ExitCode::kNoDevice, "no device of the kind that was asked for, or no driver"},
    {ExitCode::kInterrupted, "interrupted; everything finished is kept"},
};

std::string exit_status() {
  std::string text = ".SH EXIT STATUS\nEvery failure is one line on standard error that says what to do.\n";
  for (const Meaning& m : kMeanings) text += fmt::format(".TP\n{}\n{}\n", static_cast<int>(m.code), roff(m.text));
  return text;
}

constexpr const char* kHead = R"(.SH NAME
amdahl \- makes a neural network run faster on this machine, and proves it
.SH SYNOPSIS
.B amdahl
.I COMMAND
[arguments] [options]
.br
.B amdahl \-\-version
.SH DESCRIPTION
Amdahl measures where the time of a model goes, rewrites the kernels that are worth it, keeps what is proven faster in fresh
processes and right against a float64 interpreter, and hands over the result as plain source.
.PP
.I MODEL
is an ONNX file, or
.BI builtin: NAME
for one of
.BR "amdahl models" .
Everything about a model that is tuned is in one session
.IR FILE ;
Ctrl\-C or a crash loses at most the running experiment.
.SH COMMANDS
)";

constexpr const char* kTail = R"(.SH ENVIRONMENT
.TP
.B AMDAHL_CACHE
Folder of compiled kernels and of measurements of the machine; else
.IR $XDG_CACHE_HOME/amdahl ,
else
.IR ~/.cache/amdahl .
.TP
.B AMDAHL_WORKER
The worker program, where it is not installed beside this one.
.TP
.B NO_COLOR
When it is set and not empty, no colours.
.SH FILES
.TP
.I NAME.amdahl
A session; while it is written, also NAME.amdahl\-wal and NAME.amdahl\-shm, which belong to it.
.TP
.I wisdom.db
In the cache folder: what earlier sessions proved.
.SH EXAMPLES
.nf
amdahl tune builtin:gpt2\-mini \-\-minutes 5
amdahl report gpt2\-mini.amdahl
amdahl verify gpt2\-mini.amdahl
amdahl export gpt2\-mini.amdahl \-\-format cxx \-o gpt2
.fi
.SH SEE ALSO
.BR g++ (1)
)";

}  // namespace

std::string manual_page() {
  std::string text = fmt::format(".TH AMDAHL 1 \"\" \"amdahl {}\"\n", version_number()) + kHead;
  for (const Command* command : commands()) text += command_text(*command);
  text += ".SH OPTIONS OF EVERY COMMAND\n" + options_text(rows_for_every_command());
  return text + exit_status() + kTail;
}

}  // namespace amdahl
