#pragma once
// A program made ready to be called: inputs, weights and outputs mapped from the supervisor's memory between guards,
// temporaries of its own, and as many copies of the weights as it takes for them to come from memory as they do in the model.
//
// Lives in the worker. Knows neither seeds nor expected outputs.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "plan/executor.h"
#include "tuner/worker/worker_device.h"

namespace amdahl {

// Places in the arenas. A slot is one call's inputs and outputs; slot s reads copy s % copies of the weights.
struct Places {
  std::vector<std::vector<int64_t>> inputs;   // by slot, by Program::inputs
  std::vector<std::vector<int64_t>> outputs;  // by slot, by Program::outputs; -1: a constant, or an output named before
  std::vector<std::vector<int64_t>> weights;  // by copy, by seeded constant in the order of buffers
};

class BoundProgram {
 public:
  // Loads the libraries and packs constants. The device must outlive it. Throws what Executor and WorkerDevice throw.
  BoundProgram(const Program& program, WorkerDevice& device, Layout layout, const Places& places);
  ~BoundProgram();

  // `count` slots from `first` on (modulo the number of slots), the whole row `times` times; the seconds that took, where the device has a clock.
  std::optional<double> run(int first, int count, int times);
  // Packs again, over poison: what a pack leaves unwritten is not zero by chance. Between packs nothing can write to packed copies.
  void repack();
  // What a workspace and temporaries hold before a call is anybody's: NaN in every float type, with signs from `seed`. Of a workspace that is about to be
  // timed some lines only, here and there, which leaves caches as they are.
  void scribble(uint64_t seed);
  void scribble_lines_of_workspace(uint64_t seed);
  // early_digest() of each output of a slot that has memory of its own, in the order of Program::outputs; 0 for the others.
  std::vector<uint64_t> digests(size_t slot, uint64_t seed) const;
  void run_timed(std::vector<double>& seconds);
  // Whether something wrote to a weight, or beside a temporary, a workspace or a packed copy: a bug that shows only in this process, which is why its word is
  // good enough.
  bool damaged() const;
  int slots() const { return static_cast<int>(binding_of_slot_.size()); }
  void discard_packed_constants() { copies_[0].executor->discard_packed_constants(); }

 private:
  using Memories = std::vector<std::unique_ptr<GuardedBuffer>>;
  struct Copy {
    Memories weights;
    std::unique_ptr<Executor> executor;
  };
  void allocate_temporaries();
  void run_by_slots(int first, int count, int times);
  Executable& row(int first, int count, int times);
  std::vector<std::byte*> map_slot(size_t slot, const Places& places);
  std::byte* scratch(const std::string& name, size_t bytes);
  std::unique_ptr<GuardedBuffer> map(int number, Operands operands, int64_t at, Layout layout) const;
  template <typename Make>
  void fill(const GuardedBuffer& memory, Make make);
  void poison(const GuardedBuffer& memory);

  Program program_;
  WorkerDevice& device_;
  Layout layout_;
  std::vector<std::byte> piece_;                            // of what is filled, on its way to the device
  Memories operands_;                                       // inputs and outputs of all slots
  Memories temporaries_;                                    // kModel: one arena; workspaces and packed copies
  GuardedBuffer* workspace_ = nullptr;                      // of all copies; one of temporaries_
  std::vector<GuardedBuffer*> packed_;                      // of temporaries_
  std::vector<std::vector<const GuardedBuffer*>> outputs_;  // by slot; null where there is no memory of its own
  std::vector<std::byte*> temporary_at_;                    // by buffer
  std::vector<Copy> copies_;
  std::vector<int> binding_of_slot_;
  std::vector<std::vector<GuardedBuffer*>> operands_of_slot_;
  std::map<std::array<int, 3>, std::unique_ptr<Executable>> rows_;  // by first, count and times; of a device that has a clock
};

}  // namespace amdahl
