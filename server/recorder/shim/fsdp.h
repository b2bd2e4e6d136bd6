// FSDP2 on one rank: parameters that are gathered, used and reduced together.
//
// Follows torch/distributed/fsdp/_fully_shard/ of PyTorch 2.11, whose Python functions libtorch does not have.
// The collectives themselves are left out: they allocate nothing, and the other ranks are not there.
// The buffers around them, their streams and their lifetimes are FSDP2's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>

namespace snapscope::fsdp {

// The part of a run that a group is in: `TrainingState`.
enum class Stage { kIdle, kForward, kPreBackward, kPostBackward };

// What to shard among whom, and in which number formats.
struct Policy {
  int64_t rank, ranks;
  // Whether a block's parameters are freed between forward and backward.
  bool reshard_after_forward;
  // The number formats of gathered parameters and of reduced gradients, where they are not the shards' own.
  std::optional<at::ScalarType> parameter, reduced;
};

// One parameter: `FSDPParam`. Its first dimension is cut into `ranks` equal parts; the last ones may be padded.
class Parameter {
 public:
  // The shard, in memory that nothing is written to, and the whole parameter, which has no memory yet.
  Parameter(at::IntArrayRef sizes, at::ScalarType type, uint32_t module, const Policy& policy);

  // Pads the shard, if this rank's part is shorter than the others: `reset_sharded_param`.
  void pad();

  // What this rank contributes, padded, without dimensions.
  at::Tensor contribution() const { return padded_.view(-1); }
  // Elements that each rank contributes.
  int64_t padded_elements() const { return rows_ * row_; }

  // Gives the whole parameter memory, or takes it back.
  void allocate();
  void free();
  // The memory of the whole parameter and its padding, a row for each rank.
  at::Tensor gathered() const { return gathered_; }

  // Gives the shard this part of the reduced gradients, or adds it.
  void accumulate(const at::Tensor& reduced, int64_t offset);

  // The leaf of the graph in place of the shard: the same tensor in each pass.
  at::Tensor whole;
  // What the optimizer changes.
  at::Tensor shard;
  // Whose parameter it is.
  uint32_t module;

 private:
  int64_t rows_, row_;
  at::Tensor padded_, gathered_;
};

class Group;

// What the groups of a model share: `FSDPCommContext` and `FSDPStateContext`.
struct Context {
  explicit Context(Policy policy) : policy(policy) {}

  // Runs before the first forward pass.
  void start();
  // The streams of gathering wait for the current one.
  void let_gathering_wait() const;

  const Policy policy;
  bool started = false;
  std::optional<c10::cuda::CUDAStream> copy_in, gather, reduce;
  // The root first, then the blocks in the order of the model.
  std::vector<Group*> groups;
  // In the order in which groups ended their forward passes.
  std::vector<Group*> post_forward_order;
  // What was gathered last in a forward pass; the next group frees it.
  at::Tensor last_gathered;
  // The gradients that were reduced last; the next group frees them.
  at::Tensor last_reduced;
  bool final_callback_queued = false;
};

// The parameters of one module: `FSDPState` with its `FSDPParamGroup`. It lives as long as the process.
class Group {
 public:
  Group(Context& context, uint32_t module, bool reshard_after_forward)
      : context_(context), module_(module), reshard_after_forward_(reshard_after_forward) {}

  bool is_root() const { return context_.groups.front() == this; }
  Parameter& add(at::IntArrayRef sizes, at::ScalarType type, uint32_t module);

  // Hooks around forward; `input` is returned as the module shall read it.
  at::Tensor pre_forward(const at::Tensor& input);
  void post_forward(at::TensorList outputs);
  // Hooks of backward.
  void pre_backward();
  void post_backward();

 private:
  friend struct Context;
  static void finish_backward(Context& context);

  void root_pre_forward();
  // Gathers the parameters into a buffer, and from there into their own memory.
  void unshard();
  void wait_for_unshard();
  void reshard();
  void prefetch();
  std::vector<at::Tensor> contributions() const;
  void reduce(const std::vector<Parameter*>& parameters, std::vector<at::Tensor>& gradients);

  Context& context_;
  const uint32_t module_;
  const bool reshard_after_forward_;
  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::vector<size_t> post_forward_indices_;
  Stage stage_ = Stage::kIdle;
  // Whether backward has reached the module; until it ends, forward passes are recomputations.
  bool in_backward_ = false;
  bool unsharded_ = false;
  at::Tensor buffer_;
};

// Makes allocations those of a module until the end of a scope.
class Within {
 public:
  explicit Within(uint32_t module);
  Within(const Within&) = delete;
  ~Within();

 private:
  const void* before_;
};

// `on` waits for what was asked of `other` so far.
void wait(const c10::cuda::CUDAStream& on, const c10::cuda::CUDAStream& other);

}  // namespace snapscope::fsdp
