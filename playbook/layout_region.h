#pragma once
// A storage format carried through a region of convolutions, poolings and pointwise steps: row-major operands are converted where the region begins and ends,
// and nowhere between.
//
// A whole network is too deep for one experiment (derived error bounds grow with every layer until they say nothing), so
// its convolutions are taken in stretches that end where branches join. A stretch beside one that has the layout already
// takes the conversion between them away. What is between convolutions goes into their epilogues, and convolutions may begin with another algorithm: one
// experiment for what would be three, each with a proof of 20 s.

#include <optional>
#include <string>

#include "playbook/rewrite.h"

namespace amdahl {

class CarriedLayout {
 public:
  virtual ~CarriedLayout() = default;
  virtual std::string format() const = 0;
  // Channels that lie together: the images that models begin with have fewer, and their convolutions read them row-major.
  virtual int64_t block() const = 0;
  virtual bool pads() const = 0;  // channels up to a multiple of block() are stored, as zeros
  virtual bool carries(DType dtype) const = 0;
  // Whether the target has a kernel for this convolution, whose formats are set.
  virtual bool computes(const Problem& conv) const = 0;
  // What a convolution of the region begins with; `winograd`: that, where it takes a third of the products away.
  virtual void choose_algorithm(Problem& conv, bool winograd) const = 0;
};

// The stretch that begins at `anchor`, its first convolution.
std::optional<Match> carry_layout(const RewriteContext& context, int anchor, const CarriedLayout& layout, std::string* refusal);

}  // namespace amdahl
