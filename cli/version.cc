#include "cli/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/stubs/common.h>
#include <sqlite3.h>

#include <Eigen/Core>
#include <boost/version.hpp>
#include <vector>

#include "amdahl_commit.h"
#include "experiments/session.h"

namespace amdahl {
namespace {

// Boost, fmt and protobuf pack the parts of their version into decimal digits, `step` for each.
std::string unpacked(int number, int step, int of_minor) {
  return fmt::format("{}.{}.{}", number / (step * of_minor), number / step % of_minor, number % step);
}

const char* compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::vector<std::string> libraries() {
  return {
      fmt::format("Boost {}", unpacked(BOOST_VERSION, 100, 1000)),
      fmt::format("Eigen {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION),
      fmt::format("fmt {}", unpacked(FMT_VERSION, 100, 100)),
      fmt::format("JSON for Modern C++ {}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH),
      fmt::format("protobuf {}", unpacked(GOOGLE_PROTOBUF_VERSION, 1000, 1000)),
      fmt::format("SQLite {}", sqlite3_libversion()),
  };
}

}  // namespace

std::string version_number() { return AMDAHL_VERSION; }

nlohmann::json version_json() {
  nlohmann::json j{{"version", version_number()}, {"compiler", compiler()},   {"build", AMDAHL_BUILD},
                   {"march", AMDAHL_MARCH},       {"libraries", libraries()}, {"session_schema", Session::kSchemaVersion}};
  j["commit"] = *AMDAHL_COMMIT ? nlohmann::json(AMDAHL_COMMIT) : nlohmann::json();
  return j;
}

std::string version_text() {
  const std::string commit = AMDAHL_COMMIT;
  return fmt::format("amdahl {}{}\ncompiler   {}, {}, the float64 oracle for -march={}\nlibraries  {}\nsessions   of schema version {}\n", version_number(),
                     commit.empty() ? "" : ", commit " + commit, compiler(), AMDAHL_BUILD, AMDAHL_MARCH, fmt::join(libraries(), ", "), Session::kSchemaVersion);
}

}  // namespace amdahl
