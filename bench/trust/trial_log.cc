#include "bench/trust/trial_log.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"

namespace fs = std::filesystem;

namespace amdahl::trust {
namespace {

struct Contents {
  std::vector<Trial> trials;
  uintmax_t whole_bytes = 0;  // up to the last complete line
};

Contents contents_of(std::ifstream& in, const std::string& path) {
  Contents c;
  int number = 0;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    ++number;
    try {
      c.trials.push_back(Json::parse(line).get<Trial>());
    } catch (const Json::exception& e) {
      throw Error(ExitCode::kIo, fmt::format("{}:{} is not a trial ({}): move the file away and start again", path, number, e.what()));
    }
    c.whole_bytes += line.size() + 1;
  }
  return c;
}

}  // namespace

std::vector<Trial> read_trials(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error(ExitCode::kIo, fmt::format("cannot read {}: run the study that writes it first (bench/trust/run)", path));
  return contents_of(in, path).trials;
}

TrialLog::TrialLog(const std::string& path) : path_(path) {
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) {
    std::error_code ignored;
    fs::create_directories(folder, ignored);
  }
  if (std::ifstream in(path); in) {
    Contents c = contents_of(in, path);
    trials_ = std::move(c.trials);
    if (fs::file_size(path) != c.whole_bytes) fs::resize_file(path, c.whole_bytes);
  }
  file_.open(path, std::ios::app);
  if (!file_) throw Error(ExitCode::kIo, fmt::format("cannot write {}: give --folder a folder that can be written", path));
}

void TrialLog::append(const Trial& trial) {
  file_ << Json(trial).dump() << '\n' << std::flush;
  if (!file_) throw Error(ExitCode::kIo, fmt::format("cannot write {}: make room on the disk and run the same command again", path_));
  trials_.push_back(trial);
}

}  // namespace amdahl::trust
