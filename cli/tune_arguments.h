#pragma once
// What `tune` and `resume` are told on the command line, read once.

#include <cstdint>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/wisdom_options.h"

namespace amdahl {

// What goes with a run, whichever of the two began it.
struct SearchArguments {
  double seconds = 0;               // of this and earlier runs together; 0: no limit
  int64_t experiments = 0;          // likewise
  std::optional<std::string> html;  // where a page is kept fresh
  bool events = false;              // what happens is told to a program
  WisdomArguments wisdom;
};

// Settings of a new session that were not given stay open: beside a session that is there already only those that were must be its own.
struct TuneArguments {
  ModelArguments model;
  std::string session;  // path
  SearchArguments search;
  std::optional<int> threads;
  std::optional<uint64_t> seed;
  bool allow_bf16 = false;
  std::optional<double> max_error;
};

struct ResumeArguments {
  std::string session;
  std::string model_file;  // "": where the session knows it
  SearchArguments search;
};

void declare_tune(Options& options);
void declare_resume(Options& options);
// Both throw Error(kUsage) for what is wrong whatever the session: that must not leave one behind.
TuneArguments read_tune(const po::variables_map& values);
ResumeArguments read_resume(const po::variables_map& values);

}  // namespace amdahl
