#include "tuner/worker/protocol.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace amdahl {
namespace {

constexpr uint32_t kMagic = 0x31464d41;  // "AMF1"
constexpr uint32_t kMaxHeader = 64u << 20;

struct Prefix {
  uint32_t magic, header_bytes;
  uint64_t payload_bytes;
};
static_assert(sizeof(Prefix) == 16);

using Clock = std::chrono::steady_clock;

// Waits until `fd` is ready; short slices only when there is something to look at between them.
IoStatus wait_ready(int fd, short events, Clock::time_point deadline, bool limited, const std::atomic<bool>* stop) {
  for (;;) {
    if (stop && stop->load()) return IoStatus::kStopped;
    int slice = stop ? 50 : -1;
    if (limited) {
      const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
      if (left <= 0) return IoStatus::kTimeout;
      const int ms = static_cast<int>(std::min(left * 1e3 + 1, 1e6));
      slice = slice < 0 ? ms : std::min(slice, ms);
    }
    pollfd p{fd, events, 0};
    const int n = poll(&p, 1, slice);
    if (n > 0) return IoStatus::kOk;
    if (n < 0 && errno != EINTR) return IoStatus::kClosed;
  }
}

// A write to a worker that somebody has just killed fails; without this it would end us, too.
class PipeSignalBlocked {
 public:
  PipeSignalBlocked() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE);
    sigemptyset(&only_);
    sigaddset(&only_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &only_, &before_);
  }
  ~PipeSignalBlocked() {
    const int error = errno;
    sigset_t pending;
    sigpending(&pending);
    const timespec at_once{};
    if (!was_pending_ && sigismember(&pending, SIGPIPE)) sigtimedwait(&only_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t only_, before_;
  bool was_pending_;
};

template <typename Transfer>
IoStatus move_all(int fd, short events, size_t bytes, double seconds, const std::atomic<bool>* stop, Transfer transfer) {
  const bool limited = seconds > 0;
  Clock::time_point deadline;  // a worker, which has no clock, waits without one
  if (limited) deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (size_t done = 0; done < bytes;) {
    const IoStatus ready = wait_ready(fd, events, deadline, limited, stop);
    if (ready != IoStatus::kOk) return ready;
    const ssize_t n = transfer(done);
    if (n > 0) done += static_cast<size_t>(n);
    else if (n == 0 || (errno != EINTR && errno != EAGAIN)) return IoStatus::kClosed;
  }
  return IoStatus::kOk;
}

}  // namespace

IoStatus Channel::send(const Json& header, std::span<const std::byte> payload, double seconds, const std::atomic<bool>* stop) {
  const std::string text = header.dump();
  const Prefix prefix{kMagic, static_cast<uint32_t>(text.size()), payload.size()};
  // One write for prefix and header: short requests are on the clock.
  std::string head(reinterpret_cast<const char*>(&prefix), sizeof prefix);
  head += text;
  const PipeSignalBlocked blocked;
  const IoStatus status = move_all(out_, POLLOUT, head.size(), seconds, stop, [&](size_t at) { return write(out_, head.data() + at, head.size() - at); });
  if (status != IoStatus::kOk || payload.empty()) return status;
  return move_all(out_, POLLOUT, payload.size(), seconds, stop, [&](size_t at) { return write(out_, payload.data() + at, payload.size() - at); });
}

IoStatus Channel::receive(Frame& frame, size_t max_payload, double seconds, const std::atomic<bool>* stop) {
  const auto fill = [&](void* data, size_t bytes) {
    return move_all(in_, POLLIN, bytes, seconds, stop, [&](size_t at) { return read(in_, static_cast<char*>(data) + at, bytes - at); });
  };
  Prefix prefix;
  if (const IoStatus s = fill(&prefix, sizeof prefix); s != IoStatus::kOk) return s;
  if (prefix.magic != kMagic || prefix.header_bytes > kMaxHeader || prefix.payload_bytes > max_payload) return IoStatus::kGarbage;
  std::string text(prefix.header_bytes, '\0');
  if (const IoStatus s = fill(text.data(), text.size()); s != IoStatus::kOk) return s;
  frame.payload.resize(prefix.payload_bytes);
  if (const IoStatus s = fill(frame.payload.data(), frame.payload.size()); s != IoStatus::kOk) return s;
  frame.header = Json::parse(text, nullptr, false);
  return frame.header.is_object() ? IoStatus::kOk : IoStatus::kGarbage;
}

}  // namespace amdahl
