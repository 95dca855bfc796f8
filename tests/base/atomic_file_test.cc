#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

class WriteAtomically : public ::testing::Test {
 protected:
  WriteAtomically() : dir_(fs::temp_directory_path() / ("amdahl-atomic-" + std::to_string(getpid()))) { fs::create_directories(dir_); }
  ~WriteAtomically() override { fs::remove_all(dir_); }

  static std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_)) names.push_back(entry.path().filename());
    return names;
  }
  fs::path dir_;
};

TEST_F(WriteAtomically, ReplacesAFileAndLeavesNothingElse) {
  const std::string path = dir_ / "page.html";
  write_atomically(path, "old");
  const std::string bytes = std::string("new\0\n", 5) + std::string(3 << 20, 'x');
  write_atomically(path, bytes);
  EXPECT_EQ(read(path), bytes);
  EXPECT_EQ(files(), std::vector<std::string>{"page.html"});
}

// Whoever holds the old file open keeps reading the old one: it was replaced, not overwritten.
TEST_F(WriteAtomically, AReaderOfTheOldFileIsNotDisturbed) {
  const std::string path = dir_ / "page.html";
  write_atomically(path, "old");
  std::ifstream reader(path);
  write_atomically(path, "new and longer");
  std::string text;
  std::getline(reader, text);
  EXPECT_EQ(text, "old");
}

TEST_F(WriteAtomically, AFolderThatIsNotThereIsNamed) {
  const std::string path = dir_ / "nowhere" / "page.html";
  try {
    write_atomically(path, "text");
    FAIL() << "it was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kIo);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

TEST_F(WriteAtomically, WhatCannotBeRenamedLeavesNoHalf) {
  fs::create_directories(dir_ / "page.html" / "inside");
  EXPECT_THROW(write_atomically(dir_ / "page.html", "text"), Error);
  EXPECT_EQ(files(), std::vector<std::string>{"page.html"});
}

}  // namespace
}  // namespace amdahl
