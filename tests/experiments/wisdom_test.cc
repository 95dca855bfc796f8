#include "experiments/wisdom.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/error.h"
#include "experiments/sqlite.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

const WisdomPlace kHere{"this cpu", "g++ 12", 2, ""};

WisdomForm form(const std::string& signature, double log_gain, int64_t mr = 6) {
  WisdomForm f;
  f.signature = signature;
  f.place = kHere;
  f.rewrite = "choose_register_tile";
  f.window = "matmul [128, 768] + pointwise [128, 768]";
  Step step;
  step.nodes = {0};
  step.inputs = {{0, ""}, {1, ""}};
  step.outputs = {{2, ""}};
  step.variant.problem.kind = "matmul";
  step.variant.knobs = {{"MR", mr}};
  f.steps = {step};
  f.log_gain = log_gain;
  f.model = "gpt2";
  f.proven_at = 1700000000;
  return f;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class WisdomFile : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("amdahl-wisdom-" + std::to_string(getpid()));
    fs::create_directories(dir_);
    path_ = dir_ / "deeper" / "wisdom.db";
  }
  void TearDown() override { fs::remove_all(dir_); }
  Wisdom open() {
    note_.clear();
    return Wisdom::open(path_, &note_);
  }
  int set_aside() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(path_.parent_path())) count += entry.path().string().find(".damaged-") != std::string::npos;
    return count;
  }

  fs::path dir_, path_;
  std::string note_;
};

TEST_F(WisdomFile, KeepsWhatItLearns) {
  EXPECT_EQ(open().learn({form("a", 0.5), form("b", 0.2)}), 2);
  const std::vector<WisdomForm> forms = open().forms();
  ASSERT_EQ(forms.size(), 2u);
  EXPECT_EQ(note_, "");
  EXPECT_EQ(forms[0].signature, "a");
  EXPECT_EQ(forms[0].place, kHere);
  EXPECT_EQ(forms[0].log_gain, 0.5);
  EXPECT_EQ(forms[0].model, "gpt2");
  EXPECT_EQ(forms[0].proven_at, 1700000000);
  EXPECT_TRUE(Json(forms[0].steps) == Json(form("a", 0.5).steps));
}

TEST_F(WisdomFile, ABetterFormTakesThePlaceOfAWorseOne) {
  Wisdom wisdom = open();
  wisdom.learn({form("a", 0.5, 6)});
  EXPECT_EQ(wisdom.learn({form("a", 0.3, 8)}), 0);
  EXPECT_EQ(wisdom.forms()[0].steps[0].variant.knobs.at("MR"), 6);
  EXPECT_EQ(wisdom.learn({form("a", 0.6, 8)}), 1);
  EXPECT_EQ(wisdom.forms()[0].steps[0].variant.knobs.at("MR"), 8);
  EXPECT_EQ(wisdom.learn({form("a", 0.4, 8)}), 1) << "proven again: what is known of it is today's";
  EXPECT_EQ(wisdom.forms()[0].log_gain, 0.4);
}

TEST_F(WisdomFile, PlacesAreApart) {
  Wisdom wisdom = open();
  WisdomForm other = form("a", 0.9);
  other.place.threads = 1;
  EXPECT_EQ(wisdom.learn({form("a", 0.5), other}), 2);
  EXPECT_EQ(known_at(wisdom.forms(), kHere).at("a").log_gain, 0.5);
}

TEST_F(WisdomFile, Forgets) {
  Wisdom wisdom = open();
  wisdom.learn({form("a", 0.5), form("b", 0.2)});
  EXPECT_EQ(wisdom.forget([](const WisdomForm& f) { return f.signature == "a"; }), 1);
  ASSERT_EQ(wisdom.forms().size(), 1u);
  EXPECT_EQ(wisdom.forms()[0].signature, "b");
}

TEST_F(WisdomFile, AFileThatIsNoDatabaseIsSetAside) {
  fs::create_directories(path_.parent_path());
  std::ofstream(path_) << std::string(5000, 'x');
  EXPECT_EQ(open().learn({form("a", 0.5)}), 1);
  EXPECT_EQ(set_aside(), 1);
  open();
  EXPECT_EQ(note_, "");
  EXPECT_EQ(set_aside(), 1);
}

TEST_F(WisdomFile, AChangedRowIsNoticedAndNamed) {
  open().learn({form("a", 0.5)});
  Database(path_, SQLITE_OPEN_READWRITE).execute("UPDATE forms SET log_gain = 5");
  EXPECT_TRUE(open().forms().empty());
  EXPECT_NE(note_.find("checksum"), std::string::npos) << note_;
  EXPECT_NE(note_.find(".damaged-"), std::string::npos) << note_;
  EXPECT_EQ(set_aside(), 1);
}

// Every byte of the header, and one in many of the rest, in two ways: what is offered then is whole, or the file is set aside by name and a
// new one takes what is learnt. What is in no use may change.
TEST_F(WisdomFile, DamageToAnyByteIsHarmlessOrNamed) {
  std::vector<WisdomForm> learnt;
  for (int i = 0; i < 40; ++i) learnt.push_back(form("window " + std::to_string(i), 0.01 * i, i));
  const auto texts = [](const std::vector<WisdomForm>& forms) {
    std::set<std::string> all;
    for (const WisdomForm& f : forms) all.insert(f.signature + Json(f.steps).dump() + std::to_string(f.log_gain));
    return all;
  };
  open().learn(learnt);
  const std::set<std::string> wanted = texts(open().forms());
  const std::string whole = read_file(path_);
  int named = 0, harmless = 0;
  for (size_t at = 0; at < whole.size(); at += at < 100 ? 1 : 211)
    for (const unsigned char change : {0x01, 0x80}) {
      fs::remove_all(path_.parent_path());
      fs::create_directories(path_.parent_path());
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      std::ofstream(path_, std::ios::binary) << bytes;
      Wisdom wisdom = open();
      const int aside = set_aside();
      EXPECT_EQ(aside, note_.empty() ? 0 : 1) << "byte " << at;
      if (aside == 0) {
        EXPECT_EQ(texts(wisdom.forms()), wanted) << "byte " << at << " ^ " << int{change};
      }
      EXPECT_EQ(wisdom.learn({form("new", 1)}), 1) << "byte " << at << " ^ " << int{change};
      EXPECT_EQ(open().forms().size(), aside ? 1 : wanted.size() + 1) << "byte " << at << " ^ " << int{change};
      EXPECT_EQ(note_, "") << "byte " << at << " ^ " << int{change};
      ++(aside ? named : harmless);
    }
  EXPECT_GT(named, 50);
  EXPECT_GT(harmless, 50);
}

TEST_F(WisdomFile, AFileThatMayNotBeWrittenIsNoDamage) {
  open().learn({form("a", 0.5)});
  fs::permissions(path_, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  if (access(path_.c_str(), W_OK) == 0) GTEST_SKIP() << "root may write every file";
  EXPECT_EQ(open().forms().size(), 1u);
  EXPECT_EQ(set_aside(), 0);
}

TEST_F(WisdomFile, AnotherProgramsDatabaseIsLeftWhole) {
  fs::create_directories(path_.parent_path());
  {
    Database other(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    other.execute("CREATE TABLE theirs(x); INSERT INTO theirs VALUES (7)");
  }
  open();
  ASSERT_EQ(set_aside(), 1);
  for (const auto& entry : fs::directory_iterator(path_.parent_path()))
    if (entry.path().string().find(".damaged-") != std::string::npos) {
      Database aside(entry.path(), SQLITE_OPEN_READWRITE);
      EXPECT_EQ(aside.integer("SELECT x FROM theirs"), 7);
    }
}

TEST_F(WisdomFile, CannotBeMadeWhereThereIsNoFolder) {
  std::ofstream(dir_ / "file") << "x";
  std::string note;
  try {
    Wisdom::open(dir_ / "file" / "wisdom.db", &note);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kIo);
  }
}

TEST(WisdomPlaces, AMissSaysWhy) {
  const std::string window = form("a", 1).window;
  WisdomForm f = form("a", 1);
  EXPECT_EQ(why_unknown({f}, kHere, "a", window), "");
  f.place.machine = "an older one";
  EXPECT_NE(why_unknown({f}, kHere, "a", window).find("another CPU"), std::string::npos);
  f = form("a", 1), f.place.compiler = "g++ 11";
  EXPECT_NE(why_unknown({f}, kHere, "a", window).find("g++ 11"), std::string::npos);
  f = form("a", 1), f.place.threads = 1;
  EXPECT_NE(why_unknown({f}, kHere, "a", window).find("1 thread, not 2"), std::string::npos);
  f = form("a", 1), f.place.allowed = "bf16";
  EXPECT_NE(why_unknown({f}, kHere, "a", window).find("--allow bf16"), std::string::npos);
  f = form("a", 1);
  EXPECT_NE(why_unknown({f}, kHere, "b", "matmul [1, 7] + pointwise [1, 7]").find("other sizes"), std::string::npos);
  EXPECT_NE(why_unknown({f}, kHere, "b", "conv [1, 7]").find("nothing was proven"), std::string::npos);
}

TEST(WisdomPlaces, ReducedPrecisionIsOfferedOnlyWhereItIsAllowed) {
  WisdomForm exact = form("a", 0.5), reduced = form("a", 2);
  reduced.place.allowed = "bf16";
  WisdomPlace allowing = kHere;
  allowing.allowed = "bf16";
  for (const auto& forms : {std::vector{exact, reduced}, std::vector{reduced, exact}}) {
    EXPECT_EQ(known_at(forms, kHere).at("a").log_gain, 0.5);
    EXPECT_EQ(known_at(forms, allowing).at("a").log_gain, 2);
  }
  EXPECT_EQ(known_at({exact}, allowing).at("a").log_gain, 0.5);
}

// The home that proved it is part of a form; who cannot name ours has not proven it here.
TEST_F(WisdomFile, WhatWasNotProvenHereIsMarked) {
  WisdomForm ours = form("a", 0.5), theirs = form("b", 0.2), handed_on = form("c", 0.2);
  ours.home = "ours";
  theirs.home = "theirs";
  handed_on.origin = "a friend's\x1b[2J";
  std::vector<WisdomForm> forms{ours, theirs, handed_on, form("d", 0.1)};
  mark_outside(forms, "ours", "friend.db", "2026-11-27");
  EXPECT_EQ(forms[0].origin, "");
  EXPECT_EQ(forms[1].origin, "friend.db, 2026-11-27");
  EXPECT_EQ(forms[2].origin, "a friend's?[2J");
  EXPECT_EQ(forms[3].origin, "friend.db, 2026-11-27") << "a form of nobody is nobody's we know";
  forms = {ours};
  mark_outside(forms, "", "friend.db", "2026-11-27");
  EXPECT_NE(forms[0].origin, "") << "without a home of our own, nothing is ours";
}

TEST_F(WisdomFile, TheMarkIsKept) {
  WisdomForm f = form("a", 0.5);
  f.home = "theirs";
  f.origin = "friend.db, 2026-11-27";
  open().learn({f});
  EXPECT_EQ(open().forms()[0].home, "theirs");
  EXPECT_EQ(open().forms()[0].origin, "friend.db, 2026-11-27");
}

TEST_F(WisdomFile, AClaimDoesNotTakeThePlaceOfAProof) {
  WisdomForm ours = form("a", 0.5, 6), claim = form("a", 5, 8);
  ours.home = "ours";
  claim.origin = "friend.db, 2026-11-27";
  Wisdom wisdom = open();
  EXPECT_EQ(wisdom.learn({claim}), 1);
  EXPECT_EQ(wisdom.learn({ours}), 1) << "proven here, however little";
  EXPECT_EQ(wisdom.learn({claim}), 0);
  EXPECT_EQ(wisdom.forms()[0].steps[0].variant.knobs.at("MR"), 6);
}

// A file as version 1 wrote it: its rows stay, as those of nobody.
TEST_F(WisdomFile, VersionOneIsTakenOver) {
  open().learn({form("a", 0.5)});
  {
    Database old(path_, SQLITE_OPEN_READWRITE);
    old.execute("ALTER TABLE forms DROP COLUMN home; ALTER TABLE forms DROP COLUMN origin; PRAGMA user_version = 1");
    old.execute("UPDATE forms SET checksum = checksum(signature, machine, compiler, threads, allowed, rewrite, window, steps, log_gain, model, proven_at)");
  }
  const std::vector<WisdomForm> forms = open().forms();
  EXPECT_EQ(note_, "");
  ASSERT_EQ(forms.size(), 1u);
  EXPECT_EQ(forms[0].log_gain, 0.5);
  EXPECT_EQ(forms[0].home, "");
  EXPECT_EQ(open().learn({form("b", 0.1)}), 1);
  EXPECT_EQ(set_aside(), 0);
}

TEST_F(WisdomFile, ADamagedVersionOneIsSetAside) {
  open().learn({form("a", 0.5)});
  Database(path_, SQLITE_OPEN_READWRITE).execute("ALTER TABLE forms DROP COLUMN home; ALTER TABLE forms DROP COLUMN origin; PRAGMA user_version = 1");
  EXPECT_TRUE(open().forms().empty());  // its checksums are of other columns
  EXPECT_EQ(set_aside(), 1);
}

}  // namespace
}  // namespace amdahl
