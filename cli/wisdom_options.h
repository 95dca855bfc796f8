#pragma once
// --wisdom and --no-wisdom: what earlier sessions proved, for the commands that tune.

#include <map>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/open_session.h"
#include "experiments/wisdom.h"

namespace amdahl {

struct WisdomArguments {
  std::optional<std::string> file;  // by default the cache folder's
  bool off = false;                 // neither read nor written
};

void declare_wisdom(Options& options);
// Throws Error(kUsage) where both are given.
WisdomArguments read_wisdom(const po::variables_map& values);
// Its forms; those that this account of this machine did not prove say where they came from.
std::vector<WisdomForm> marked_forms(const Wisdom& wisdom, const GlobalOptions& global);
// Where this process would prove things.
WisdomPlace wisdom_here(const GlobalOptions& global, int threads, bool allow_bf16);

// The wisdom of one tuning session; empty with --no-wisdom. What is wrong with the file is a line on stderr, never the end of a
// session.
class SessionWisdom {
 public:
  SessionWisdom(const WisdomArguments& arguments, const GlobalOptions& global, const TuneOptions& options);
  const std::map<std::string, WisdomForm>& known() const { return known_; }
  // Takes in what the session proved. Returns how many forms were new or better.
  int learn(const OpenSession& open);
  const std::string& path() const { return path_; }

 private:
  std::string path_, home_;
  WisdomPlace place_;
  std::optional<Wisdom> wisdom_;
  std::map<std::string, WisdomForm> known_;
};

}  // namespace amdahl
