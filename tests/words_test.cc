// Words that only some folders may say. What a kind is called, which backend there is, what a processor has and which machine this is are asked for, or handed
// down; where a word stands in a text instead, another backend must be taught about it there. Each row says who may, why, and a line that it must find.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/house_files.h"

namespace fs = std::filesystem;

namespace {

struct Word {
  const char* what;
  std::regex pattern;
  std::string within;                      // of paths from the root: only they are looked at
  std::map<std::string, std::string> may;  // folders, ending in '/', and files: why
  std::vector<std::string> finds, passes;
};

std::string contents_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// "matmul|attention|…", as kind_names.h lists them.
std::string kinds() {
  const std::string names = contents_of(fs::path(AMDAHL_SOURCE_DIR) / "starter_kernels/kinds/kind_names.h");
  const std::regex row(R"re(k\w+ = "(\w+)")re");
  std::string all;
  for (std::sregex_iterator m(names.begin(), names.end(), row), none; m != none; ++m) all += (all.empty() ? "" : "|") + (*m)[1].str();
  return all;
}

const std::vector<Word>& words() {
  static const std::vector<Word> all{
      {"a kind by its name as text (starter_kernels/kinds/kind_names.h has them)",
       std::regex(R"re(^(?!\s*\.target = "|.*\btarget\(\) const override).*"()re" + kinds() + R"re()")re"),  // what a rewrite prints is no question
       ".*",
       {{"starter_kernels/", "kinds say what they are called"}},
       {R"(if (problem.kind == "conv"))", R"(kinds.at("matmul"))", R"(p.kind = "rmsnorm";)", R"(target.ok && p.kind == "conv")"},
       {R"(.target = "matmul",)", R"(  std::string_view target() const override { return "matmul"; })", R"(say("a matmul is"))"}},
      {"a backend by its name",
       std::regex(R"re("(cpu|cuda)(:|"))re"),
       ".*",
       {{"starter_kernels/cpu/cpu_target.cc", "the name"},
        {"starter_kernels/cuda/cuda_target.cc", "the name"},
        {"tuner/trials/backend.cc", "the table"},
        {"tuner/worker/worker_backends.cc", "the names of their workers' sides"},
        {"plan/devices.cc", "the table of devices that run plans"},
        {"export/exporter.cc", "the table of formats, by backend"},
        {"experiments/session.h", "sessions of the time when there was one name none"},
        {"experiments/session.cc", "the same"},
        {"playbook/", "rewrites that know one backend's texts say so"},
        {"cli/doctor.cc", "a key of its JSON"},
        {"cli/profile.cc", "a key of its JSON"},
        {"profiler/processor_load.cc", "a word of /proc/stat"},
        {"tuner/measurement/others_time.cc", "a word of /proc/stat"}},
       {R"(if (backend == "cuda"))", R"(target.backend != "cpu")", R"("cuda:0")"},
       {R"(#include "base/cuda/cards.h")", R"(std::string backend;  // "cpu")"}},
      {"a backend compared with a name, whichever",
       std::regex(R"re(\bbackend\w*(\(\))? ?[!=]= ?"|" ?[!=]= ?\S*\bbackend\b|\bbackend\w*(\(\))?\.(starts_with|compare|find)\()re"),
       ".*",
       {},
       {R"(if (target.backend == "rocm"))", R"(backend().starts_with("c"))", R"("cpu" != target.backend)"},
       {"if (counted.backend == backend) return counted.rates;"}},
      {"the processor's backend compared with",
       std::regex(R"re([=!]= ?&?cpu_(backend|target|worker_backend)\(\)|&?cpu_(backend|target|worker_backend)\(\) ?[=!]=)re"),
       ".*",
       {},
       {"global.backend == &cpu_backend() ? 1 : 2", "if (&cpu_backend() != backend)"},
       {"backend = &cpu_backend();"}},
      {"what a processor has",
       std::regex(R"re("(-m(?!ax|odel)[a-z]\w*[^"]*|avx\w*|amx\w*|sse\w*|ssse3|f16c|fma|bmi[12]?|gfni|vaes|vpclmulqdq|asimd\w*|sve\w*|neon)")re"),
       ".*",
       {{"base/", "reads them"},
        {"starter_kernels/cpu/", "kernels of the processor"},
        {"starter_kernels/toolchain/", "compilers and machine code of the processor"},
        {"profiler/ceiling_loops.cc", "the processor's own loops"},
        {"graph/models/required_cpu.cc", "what this program was compiled for"},
        {"cli/amdahl_main.cc", "the same, before anything runs"},
        {"export/kernel_library.cc", "flags of the compiler, of which an export has its own"},
        {"playbook/tier5_architecture/prefer_wide_vectors.cc", "a flag of the compiler is what it adds"},
        {"cli/doctor.cc", "prints them"}},
       {R"(if (device.has("avx512f")))", R"(device.has("amx_bf16"))", R"(has("gfni"))", R"(.flags = {"-mavx512f"},)"},
       {R"(.name = "use_avx512",)", R"(has("scales"))"}},
      {"this machine, where a device is handed down",
       std::regex(R"(\bthis_machine\(\))"),
       "(playbook|tuner/search)/.*",
       {},
       {"const int cores = this_machine().units;"},
       {"context.target.device.units"}},
  };
  return all;
}

// In code; comments may give examples.
bool says(const Word& word, const std::string& line) { return std::regex_search(line.substr(0, line.find("//")), word.pattern); }

const std::string* reason_for(const Word& word, const std::string& file) {
  for (const auto& [place, why] : word.may)
    if (place == file || (place.back() == '/' && file.starts_with(place))) return &why;
  return nullptr;
}

TEST(Words, StandWhereTheyMay) {
  for (const Word& word : words()) {
    std::map<const std::string*, bool> needed;
    for (const auto& [place, why] : word.may) needed[&why] = false;
    const std::regex within(word.within);
    for (const fs::path& path : amdahl::testing::house_files({".cc", ".h"})) {
      const std::string file = fs::relative(path, AMDAHL_SOURCE_DIR);
      if (file.starts_with("tests/") || file.starts_with("bench/") || !std::regex_match(file, within)) continue;
      const std::string* why = reason_for(word, file);
      std::ifstream in(path);
      for (std::string line; std::getline(in, line);) {
        if (!says(word, line)) continue;
        if (why) needed[why] = true;
        else ADD_FAILURE() << file << " names " << word.what << ":\n" << line;
      }
    }
    for (const auto& [place, why] : word.may) EXPECT_TRUE(needed[&why]) << place << " no longer names " << word.what << ": take it out of the table";
  }
}

TEST(Words, AreFound) {
  for (const Word& word : words()) {
    for (const std::string& line : word.finds) EXPECT_TRUE(says(word, line)) << word.what << " is not found in: " << line;
    for (const std::string& line : word.passes) EXPECT_FALSE(says(word, line)) << word.what << " is found in: " << line;
    EXPECT_FALSE(reason_for(word, "plan/plan.cc")) << word.what;
  }
}

}  // namespace
