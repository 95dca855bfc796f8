#include "tests/emulated_card/emulated_card.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "tests/emulated_card/called_by_kernels.h"

namespace amdahl::testing {
namespace {

constexpr size_t kArena = size_t{1} << 30;
// 64 bytes is what kernels may count on.
constexpr size_t kMargin = size_t{64} << 10, kPlaces = 256, kFirstPlace = 64;
// What a launch may ask for on every card from compute capability 8.0 on. (Arrays whose size a text states are a kernel's own: NVRTC refuses too many.)
constexpr size_t kShared = size_t{99} << 10;

EmulatedCard* the_running = nullptr;

std::byte* reserve(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

void require_possible(const cuda::Launch& l) {
  const uint64_t threads = uint64_t{l.block[0]} * l.block[1] * l.block[2];
  const bool has_blocks = l.grid[0] > 0 && l.grid[1] > 0 && l.grid[2] > 0 && l.grid[0] <= 0x7fffffff && l.grid[1] <= 65535 && l.grid[2] <= 65535;
  if (threads == 0 || threads > kMostThreads || !has_blocks || l.shared_bytes > kShared)
    throw Error(ExitCode::kInternal, fmt::format("no card makes a launch of {} x {} x {} blocks of {} threads with {} bytes of shared memory", l.grid[0],
                                                 l.grid[1], l.grid[2], threads, l.shared_bytes));
}

Dimensions dimensions(uint64_t number, const uint32_t (&of)[3]) {
  return {static_cast<uint32_t>(number % of[0]), static_cast<uint32_t>(number / of[0] % of[1]), static_cast<uint32_t>(number / of[0] / of[1])};
}

}  // namespace

EmulatedCard::EmulatedCard() : arena_(reserve(kArena)), memory_(arena_, kArena), dynamic_shared_(reserve(kShared)), dynamic_(dynamic_shared_, kShared) {}

EmulatedCard::~EmulatedCard() {
  munmap(arena_, kArena);
  munmap(dynamic_shared_, kShared);
}

EmulatedCard& EmulatedCard::running() { return *the_running; }

std::byte* EmulatedCard::allocate(size_t bytes) {
  std::byte* data = arena_ + taken_ + kMargin + kFirstPlace;
  const size_t whole = (bytes + kFirstPlace + kPlaces - 1) / kPlaces * kPlaces + kMargin;
  if (whole + kMargin > kArena - taken_) throw Error(ExitCode::kIo, fmt::format("the emulated card has no {} bytes left", bytes));
  taken_ += whole;
  memory_.set(data, bytes, Contents::kSomething);
  return data;
}

void EmulatedCard::launch(const KernelLibrary& library, const cuda::Launch& l, std::span<const void* const> operands) {
  require_possible(l);
  static_ = std::make_unique<Shadow>(library.shared(), library.shared_bytes());
  library_ = &library;
  operands_ = operands;
  the_running = this;
  now_.begin_launch();
  gridDim = {l.grid[0], l.grid[1], l.grid[2]};
  blockDim = {l.block[0], l.block[1], l.block[2]};
  const KernelFunction function = library.function(l);
  std::vector<uint64_t> blocks(uint64_t{l.grid[0]} * l.grid[1] * l.grid[2]);
  std::iota(blocks.begin(), blocks.end(), 0);
  for (; !blocks.empty(); blocks.pop_back()) {
    std::swap(blocks[order_.below(blocks.size())], blocks.back());
    blockIdx = dimensions(blocks.back(), l.grid);
    run_block(library, l, [&] { function(operands.data()); });
  }
}

// Shared memory begins with numbers that are none, and what nobody has written may not be read.
void EmulatedCard::run_block(const KernelLibrary& library, const cuda::Launch& l, const std::function<void()>& body) {
  now_.begin_block();
  static_->set(library.shared(), library.shared_bytes(), Contents::kNothing);
  dynamic_.set(dynamic_shared_, l.shared_bytes, Contents::kNothing);
  std::memset(library.shared(), 0xff, library.shared_bytes());
  std::memset(dynamic_shared_, 0xff, l.shared_bytes);
  dynamic_.set(dynamic_shared_ + l.shared_bytes, kShared - l.shared_bytes, Contents::kNone);
  for (BackgroundCopies& copies : copies_) copies.clear();
  block_.run(l.block[0] * l.block[1] * l.block[2], body, [&](uint32_t thread) { threadIdx = dimensions(thread, l.block); });
}

Shadow* EmulatedCard::shadow_of(const void* address) {
  if (memory_.covers(address)) return &memory_;
  if (static_->covers(address)) return static_.get();
  return dynamic_.covers(address) ? &dynamic_ : nullptr;
}

// Beside the card's memory: what lanes show one another, the kernel's parameters, and the text's own constants.
bool EmulatedCard::may_read(const void* address) const {
  return block_.was_shown(address) || (address >= operands_.data() && address < operands_.data() + operands_.size()) || library_->holds(address);
}

void EmulatedCard::touch(const void* address, size_t bytes, Touch touch) {
  if (block_.on_a_stack(address)) return;  // most of them
  const char* wrong = nullptr;
  if (Shadow* shadow = shadow_of(address)) {
    Moment now = now_;
    if (shadow != &memory_) now.launch = now.block;  // blocks have shared memory of their own
    wrong = shadow->touch(address, bytes, touch, static_cast<uint16_t>(block_.thread()), now);
  } else if (!(touch == Touch::kRead && may_read(address))) {
    wrong = "touches no memory of the card's";
  }
  if (wrong) block_.fault(fmt::format("{} ({} of {} bytes)", wrong, touch == Touch::kRead ? "a read" : "a write", bytes));
}

void EmulatedCard::begin_copy(const BackgroundCopy& copy) {
  const auto is_aligned = [&](const void* address) { return reinterpret_cast<uintptr_t>(address) % copy.bytes == 0; };
  if (!is_aligned(copy.to) || !is_aligned(copy.from)) block_.fault("copies in the background from or to an odd address");
  Shadow* shadow = shadow_of(copy.to);
  if (!shadow || shadow == &memory_) block_.fault("copies in the background to what is no shared memory");
  touch(copy.from, copy.real, Touch::kRead);
  touch(copy.to, copy.bytes, Touch::kWrite);
  shadow->set(copy.to, copy.bytes, Contents::kOnItsWay);
  copies_[block_.thread()].begin(copy);
}

void EmulatedCard::wait_for_groups(size_t newest) {
  copies_[block_.thread()].wait(newest, [&](const BackgroundCopy& copy) {
    std::memcpy(copy.to, copy.from, copy.real);
    std::memset(copy.to + copy.real, 0, copy.bytes - copy.real);
    shadow_of(copy.to)->set(copy.to, copy.bytes, Contents::kNothing);
    touch(copy.to, copy.bytes, Touch::kWrite);
  });
}

}  // namespace amdahl::testing
