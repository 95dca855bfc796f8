#pragma once
// Frames between the supervisor and a worker, over a pair of pipes (so that any launcher that forwards stdin and stdout
// carries them). A request and its reply carry the same random nonce: text that a kernel prints cannot pass for a reply.
//
//   offset  bytes
//   0       4      magic "AMF1"
//   4       4      J, bytes of the header, little endian
//   8       8      P, bytes of the payload
//   16      J      header, JSON
//   16+J    P      payload, raw (blobs in, outputs out)

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct Frame {
  Json header;
  std::vector<std::byte> payload;
};

enum class IoStatus { kOk, kClosed, kTimeout, kGarbage, kStopped };

// One end of the conversation. Owns neither descriptor.
class Channel {
 public:
  Channel(int in, int out) : in_(in), out_(out) {}

  // `seconds` <= 0 waits for ever. `stop`, when given, is looked at every 50 ms. A deadline needs descriptors with
  // O_NONBLOCK, else a full pipe blocks past it.
  IoStatus send(const Json& header, std::span<const std::byte> payload, double seconds = 0, const std::atomic<bool>* stop = nullptr);
  int in() const { return in_; }
  int out() const { return out_; }
  // A frame whose payload is larger than `max_payload` is garbage: a broken peer must not exhaust our memory.
  IoStatus receive(Frame& frame, size_t max_payload, double seconds = 0, const std::atomic<bool>* stop = nullptr);

 private:
  int in_, out_;
};

}  // namespace amdahl
