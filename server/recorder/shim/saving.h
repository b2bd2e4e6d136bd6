// Ways to save memory that checkpointing has a part in: hooks of saved tensors, and results that are kept.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <ATen/core/ivalue.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

namespace snapscope {

// A saved tensor that waits in pinned host memory: `torch.autograd.graph.save_on_cpu(pin_memory=True)`.
std::unique_ptr<torch::autograd::SavedVariableHooks> on_host();

// Which results a checkpointed segment keeps; the numbers are those of saving.rs.
enum class Keep : int { kNothing = 0, kAttention = 1, kMatmul = 2 };

// Results of chosen operations: the first run of a segment keeps them, and the second takes them instead of computing.
struct Results {
  explicit Results(Keep keep) : keep(keep) {}
  const Keep keep;
  std::unordered_map<std::string, std::deque<std::vector<c10::IValue>>> by_operation;
};

// While it lives, chosen operations of this thread keep their results, or take those of the first run.
class ResultsGuard {
 public:
  ResultsGuard(Results& results, bool is_second);
  ResultsGuard(const ResultsGuard&) = delete;
  ~ResultsGuard();

  struct Mode;

 private:
  std::unique_ptr<Mode> mode_;
};

}  // namespace snapscope
