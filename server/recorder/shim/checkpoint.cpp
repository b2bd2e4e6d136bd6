// Activation checkpointing, as `torch.utils.checkpoint.checkpoint(use_reentrant=False)` does it.
//
// The segment runs once with a graph whose nodes keep a slot in place of each tensor that they would save.
// When backward asks for the first of these, the segment runs again, and what its nodes save fills the slots one by
// one; with the last slot the second run is over, wherever it is. A slot is emptied by the node that reads it.
//
//   forward    LayerNorm -> slot 0   AddMM -> slots 1, 2   Dropout -> slot 3   Add
//   backward   Add   Dropout wants slot 3: LayerNorm, AddMM, Dropout run again and fill 0, 1, 2, 3; Add does not run
//
// Python hooks the saving of tensors through its autograd engine. Ours is the plain engine with such a hook.
#include "saving.h"
#include "shim.h"

#include <memory>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

using at::Tensor;
using torch::autograd::SavedVariableHooks;

// Tensors of tch are pointers to `at::Tensor`.
using TensorPointers = Tensor* const*;

// A segment of the model in Rust: reads `count` inputs, returns a new tensor, or null with a message.
using SnapscopeForward = Tensor* (*)(void* data, TensorPointers inputs, size_t count, char** message);
using SnapscopeDrop = void (*)(void* data);

// How a segment is checkpointed; the layout is that of checkpoint.rs.
struct SnapscopeSaving {
  int keep;      // a `snapscope::Keep`
  size_t saved;  // so many of the inputs are positional arguments in Python
};

namespace {

// What a node of the first run keeps: nothing, or the tensor of the second run.
struct Slot {
  Tensor tensor;
};

// Ends the second run. Rust sees it as any error of an operation.
struct Filled final : std::exception {
  const char* what() const noexcept override { return "a checkpointed segment has run far enough"; }
};

// A segment under way, or one that waits for backward: it lives as long as a slot may be asked for.
class Checkpoint {
 public:
  Checkpoint(SnapscopeForward run, SnapscopeDrop drop, void* data, TensorPointers inputs, size_t count,
             const SnapscopeSaving& with)
      : run_(run), drop_(drop), data_(data), results_(static_cast<snapscope::Keep>(with.keep)) {
    for (size_t index = 0; index < count; ++index) {
      if (index < with.saved) {
        saved_.emplace_back(*inputs[index], /*is_output=*/false);
      } else {
        inputs_.push_back(*inputs[index]);
      }
    }
    random_ = generator().get_state();
  }
  Checkpoint(const Checkpoint&) = delete;
  // Python drops the arguments of a call from the last to the first.
  ~Checkpoint() {
    while (!inputs_.empty()) inputs_.pop_back();
    while (!saved_.empty()) saved_.pop_back();
    drop_(data_);
  }

  // A new tensor, or null with a message that the caller frees.
  Tensor* run(TensorPointers inputs, size_t count, bool is_second, char** message) {
    const snapscope::ResultsGuard guard(results_, is_second);
    return run_(data_, inputs, count, message);
  }

  std::shared_ptr<Slot> add_slot() {
    auto slot = std::make_shared<Slot>();
    slots_.push_back(slot);
    return slot;
  }

  // Fills the next slot, unless its node is gone.
  void fill_slot(const Tensor& tensor) {
    if (filled_ == slots_.size()) throw Filled();
    if (const auto slot = slots_[filled_].lock()) slot->tensor = tensor;
    if (++filled_ == slots_.size()) throw Filled();
  }

  void fill_slots();

 private:
  static at::Generator generator() {
    return at::globalContext().defaultGenerator(at::Device(at::kCUDA, c10::cuda::current_device()));
  }

  SnapscopeForward run_;
  SnapscopeDrop drop_;
  void* data_;
  // The first inputs are saved as a node would: hooks around the segment have a say in where they wait.
  std::vector<torch::autograd::SavedVariable> saved_;
  std::vector<Tensor> inputs_;  // the others
  Tensor random_;  // where dropout began; in host memory
  std::vector<std::weak_ptr<Slot>> slots_;
  size_t filled_ = 0;
  snapscope::Results results_;  // what the first run keeps
};

// Of the first run: a slot in place of the tensor.
struct Forgets final : SavedVariableHooks {
  explicit Forgets(std::shared_ptr<Checkpoint> checkpoint) : checkpoint(std::move(checkpoint)) {}
  void call_pack_hook(const Tensor&) override { slot = checkpoint->add_slot(); }
  Tensor call_unpack_hook() override {
    if (!slot->tensor.defined()) checkpoint->fill_slots();
    TORCH_CHECK(slot->tensor.defined(), "a checkpointed segment took another way the second time");
    return std::exchange(slot->tensor, Tensor());
  }
  std::shared_ptr<Checkpoint> checkpoint;
  std::shared_ptr<Slot> slot;
};

// Of the second run: the tensor goes into the slot of the first run.
struct Refills final : SavedVariableHooks {
  explicit Refills(Checkpoint* checkpoint) : checkpoint(checkpoint) {}
  void call_pack_hook(const Tensor& tensor) override {
    saved = tensor.requires_grad() ? tensor.detach() : tensor;
    checkpoint->fill_slot(saved);
  }
  Tensor call_unpack_hook() override { return saved; }
  Checkpoint* checkpoint;
  Tensor saved;
};

// What saves tensors on this thread; null leaves it to the nodes.
struct Saving {
  std::shared_ptr<Checkpoint> first;
  Checkpoint* second = nullptr;
  bool on_host = false;  // where neither is
};
thread_local Saving saving;

// Sets it until the end of a scope.
class SavingGuard {
 public:
  explicit SavingGuard(Saving now) : before_(std::exchange(saving, std::move(now))) {}
  SavingGuard(const SavingGuard&) = delete;
  ~SavingGuard() { saving = std::move(before_); }

 private:
  Saving before_;
};

void Checkpoint::fill_slots() {
  const SavingGuard guard({nullptr, this});
  at::AutoGradMode grad(true);
  at::Generator random = generator();
  const Tensor random_now = random.get_state();
  random.set_state(random_);
  filled_ = 0;
  std::vector<Tensor> inputs;
  for (torch::autograd::SavedVariable& saved : saved_) inputs.push_back(saved.unpack());
  inputs.insert(inputs.end(), inputs_.begin(), inputs_.end());
  std::vector<Tensor*> pointers;
  for (Tensor& input : inputs) pointers.push_back(&input);
  char* message = nullptr;
  delete run(pointers.data(), pointers.size(), /*is_second=*/true, &message);
  random.set_state(random_now);
  const std::string text = message == nullptr ? "" : message;
  free(message);
  TORCH_CHECK(filled_ == slots_.size(), text.empty() ? "a checkpointed segment saved less the second time" : text);
}

struct Engine final : torch::autograd::Engine {
  std::unique_ptr<SavedVariableHooks> get_default_saved_variable_hooks() override {
    if (saving.second != nullptr) return std::make_unique<Refills>(saving.second);
    if (saving.first != nullptr) return std::make_unique<Forgets>(saving.first);
    if (saving.on_host) return snapscope::on_host();
    return nullptr;
  }

  // It lives for ever, as its threads do.
  static torch::autograd::Engine& get() {
    static Engine* engine = new Engine;
    return *engine;
  }
};

}  // namespace

// Whether what this thread's graphs save waits on the host from now on, outside of checkpoints; returns what was before.
SNAPSCOPE_API bool snapscope_activations_on_host(bool on) {
  torch::autograd::set_default_engine_stub(Engine::get);
  return std::exchange(saving.on_host, on);
}

// Runs a segment without keeping its activations; backward runs it again. `data` is dropped in the end.
SNAPSCOPE_API char* snapscope_checkpoint(SnapscopeForward run, SnapscopeDrop drop, void* data, TensorPointers inputs,
                                         size_t count, const SnapscopeSaving* with, Tensor** out) {
  torch::autograd::set_default_engine_stub(Engine::get);
  return snapscope::guarded([&] {
    const auto checkpoint = std::make_shared<Checkpoint>(run, drop, data, inputs, count, *with);
    const SavingGuard guard({checkpoint, nullptr});
    char* message = nullptr;
    *out = checkpoint->run(inputs, count, /*is_second=*/false, &message);
    const std::string text = message == nullptr ? "a checkpointed segment failed" : message;
    free(message);
    TORCH_CHECK(*out != nullptr, text);
  });
}
