// What both sides of every backend must do, asked of the processor's and of one whose memory the host cannot see.

#include "tuner/worker/worker_backends.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <set>

#include "base/error.h"
#include "base/subprocess.h"
#include "tests/distant/distant_backend.h"

namespace amdahl {
namespace {

std::vector<const WorkerBackend*> all_backends() {
  std::vector<const WorkerBackend*> all = worker_backends();
  all.push_back(&testing::distant_backend());
  return all;
}

std::vector<std::byte> counting(size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i % 251);
  return data;
}

class EveryBackend : public ::testing::TestWithParam<const WorkerBackend*> {};
// Those that need the device itself.
class EveryWorkerDevice : public EveryBackend {
 protected:
  void SetUp() override {
    try {
      worker_ = GetParam()->make_device();
    } catch (const Error& error) {
      if (error.code() != ExitCode::kNoDevice) throw;
      GTEST_SKIP() << "this test needs the device " << GetParam()->name() << ": " << error.what();
    }
  }
  std::unique_ptr<WorkerDevice> worker_;
};
INSTANTIATE_TEST_SUITE_P(Backends, EveryWorkerDevice, ::testing::ValuesIn(all_backends()), [](const auto& info) { return std::string(info.param->name()); });
INSTANTIATE_TEST_SUITE_P(Backends, EveryBackend, ::testing::ValuesIn(all_backends()), [](const auto& info) { return std::string(info.param->name()); });

// What a worker would see of a region's pages.
class View {
 public:
  View(int file, const Region& region, size_t pages, int protection) : bytes_(pages), first_(mmap(nullptr, pages, protection, MAP_SHARED, file, region.at)) {}
  ~View() { munmap(first_, bytes_); }
  std::byte* first() const { return static_cast<std::byte*>(first_); }

 private:
  size_t bytes_;
  void* first_;
};

TEST_P(EveryBackend, AnArenaShowsWhatIsPublishedAndFetchesWhatWasLeft) {
  constexpr size_t kBytes = 100, kPage = 4096;
  const auto arena = GetParam()->make_arena("test");
  const Region region = arena->allocate(kBytes, 4, Layout::kEnd);
  EXPECT_TRUE(std::all_of(region.data, region.data + kBytes, [](std::byte b) { return b == std::byte{0}; }));
  const size_t offset = placement(kBytes, 4, Layout::kEnd).offset;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(region.data) % kPage, offset);
  const std::vector<std::byte> data = counting(kBytes);
  std::copy(data.begin(), data.end(), region.data);
  fill_slack(region.data, kBytes, std::byte{0xA5});
  arena->publish(region);
  const View worker(arena->writable(), region, kPage, PROT_READ | PROT_WRITE), reader(arena->read_only(), region, kPage, PROT_READ);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), reader.first() + offset));
  EXPECT_EQ(reader.first()[0], std::byte{0xA5});
  worker.first()[offset] = std::byte{42};
  worker.first()[offset - 1] = std::byte{43};
  arena->fetch(region);
  EXPECT_EQ(region.data[0], std::byte{42});
  EXPECT_FALSE(slack_intact(region.data, kBytes, std::byte{0xA5}));
}

TEST_P(EveryBackend, WhoMayOnlyReadAnArenaCannotWriteIt) {
  const auto arena = GetParam()->make_arena("test");
  const Region region = arena->allocate(4096, 4, Layout::kModel);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, arena->read_only(), region.at), MAP_FAILED);
}

TEST_P(EveryWorkerDevice, MemoryOfAWorkersOwnIsWrittenAndReadThroughIt) {
  for (const Layout layout : {Layout::kModel, Layout::kEnd, Layout::kStart, Layout::kShift}) {
    const size_t bytes = (size_t{300} << 10) + 100;
    const auto buffer = worker_->allocate("scratch", bytes, 4, layout);
    const std::vector<std::byte> data = counting(bytes);
    worker_->device().write(buffer->data(), data);
    std::vector<std::byte> seen(bytes);
    worker_->device().read(buffer->data(), seen);
    EXPECT_EQ(seen, data);
    EXPECT_TRUE(buffer->intact());
    buffer->allow_writes(false);
    worker_->device().read(buffer->data(), seen);
    buffer->allow_writes(true);
    const std::byte beside{1};
    worker_->device().write(layout == Layout::kEnd ? buffer->data() - 1 : buffer->data() + bytes, {&beside, 1});
    EXPECT_FALSE(buffer->intact()) << static_cast<int>(layout);
  }
}

TEST_P(EveryWorkerDevice, AsksTheThreadsThatKernelsRunOn) {
  std::atomic<int> asked = 0;
  worker_->on_kernel_threads([&] { ++asked; });
  EXPECT_EQ(asked > 0, GetParam()->candidates_run_on_host());
}

// The kernel copies for write(), and says so instead of dying.
bool host_can_read(const std::byte* address) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const bool can = write(ends[1], address, 1) == 1;
  EXPECT_TRUE(can || errno == EFAULT);
  close(ends[0]), close(ends[1]);
  return can;
}

TEST(DistantDevice, IsOutOfTheHostsReachButForItsTasks) {
  const auto near = cpu_worker_backend().make_device(), far = testing::distant_backend().make_device();
  EXPECT_TRUE(host_can_read(near->allocate("scratch", 64, 4, Layout::kModel)->data()));
  const auto buffer = far->allocate("scratch", 64, 4, Layout::kModel);
  EXPECT_FALSE(host_can_read(buffer->data()));
  std::byte b;
  far->device().read(buffer->data(), {&b, 1});
  EXPECT_FALSE(host_can_read(buffer->data()));
}

TEST(WorkerBackends, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const WorkerBackend* b : all_backends()) EXPECT_TRUE(names.insert(b->name()).second) << b->name();
}

TEST(WorkerBackends, AWorkerRefusesOneThatItDoesNotHave) {
  const SubprocessResult r = run_subprocess({cpu_worker_backend().worker_program(), "--backend", "abacus"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.output.find("no backend 'abacus'"), std::string::npos) << r.output;
}

}  // namespace
}  // namespace amdahl
