#pragma once
// The commands, an explicit list. To add one: write cli/<verb>.cc that defines `const Command k<Verb>Command`, declare it
// below and add it to the list in commands.cc (order is the order of the help page).

#include <boost/program_options.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/trials/backend.h"

namespace amdahl {

namespace po = boost::program_options;

// What every command understands.
struct GlobalOptions {
  bool json = false;                        // one JSON document on stdout, nothing else
  bool quiet = false;                       // no progress
  int threads = 1;                          // default: all cores of this process
  std::string cache_dir;                    // compiled kernels, ceilings
  const Backend* backend = &cpu_backend();  // what a model is tuned and run for; a session brings its own (open_session.h)

  bool progress() const { return !json && !quiet; }
};

// What a command declares: named options, and words without a name.
struct Options {
  po::options_description named{"options"};
  po::options_description words;  // hidden in the help; the usage line shows them
  po::positional_options_description positional;

  // A word at the next position; `name` is its key in the values. count -1 takes all that follow.
  void word(const char* name, int count = 1);
};

struct Command {
  std::string_view name;
  std::string_view usage;    // "MODEL [options]"
  std::string_view summary;  // one line, lower case, no full stop
  std::string_view details;  // help page, below the usage; may be empty
  void (*declare)(Options&);
  int (*run)(const po::variables_map& values, const GlobalOptions& global);  // the exit code
};

const std::vector<const Command*>& commands();
po::options_description global_options();

// The program without main(): parses, runs, prints errors. Returns the exit code.
int run_amdahl(const std::vector<std::string>& arguments);

// The known word closest to `word` by edit distance, or "" when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

extern const Command kDoctorCommand, kModelsCommand, kPlaybookCommand, kProfileCommand, kReportCommand, kRunCommand, kStatusCommand, kTuneCommand,
    kResumeCommand, kVerifyCommand, kReplayCommand, kExportCommand, kWisdomCommand, kCompareCommand;
extern const Command kPeerArmCommand;  // what `compare` starts; in no list

}  // namespace amdahl
