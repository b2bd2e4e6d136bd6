// Which module, phase and operation an allocation belongs to.
//
// The memory history asks for the stack of each event.
// Ours is the place of the asking thread: the operations under way, the module and its parents, the phase.
// Modules and phases are set from Rust; operations by a callback of the dispatcher.
// Backward runs on threads of the autograd engine. There the module is that of the forward operation whose gradient
// is computed: both carry the same sequence number.
#include "shim.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <ATen/record_function.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/core/DeviceGuard.h>

namespace {

// The order is that of `Phase` in place.rs.
constexpr const char* kPhases[] = {"setup",    "data",      "forward",    "loss",
                                   "backward", "optimizer", "evaluation", "recompute"};
constexpr int kBackward = 4;
// What stands in a frame instead of a phase where it names an operation.
constexpr int kOperation = -1;
// Gradients of one step look their forward operation up; a longer memory would only grow.
constexpr size_t kMostOperations = 1 << 22;

struct Module {
  const Module* parent;
  std::string path;
};

// Names live until the process ends, since frames point to them.
const char* interned(std::string_view name) {
  static std::mutex mutex;
  static std::unordered_set<std::string> names;
  std::lock_guard<std::mutex> lock(mutex);
  return names.emplace(name).first->c_str();
}

std::mutex modules_mutex;
std::deque<Module> modules;  // a deque, so that addresses stay

const Module* module_of(uint32_t id) {
  std::lock_guard<std::mutex> lock(modules_mutex);
  return &modules.at(id);
}

struct ThreadPlace {
  const Module* module = nullptr;
  int phase = 0;
  const char* node = nullptr;            // the backward node under way, or the last one
  std::vector<const char*> operations;   // outermost first
  uint64_t step_told = 0;                // whose text the allocator was given, with the phase
  int phase_told = -1;
};
thread_local ThreadPlace here;

// 0 while the model is built, else the step under way, counted from 1.
std::atomic<uint64_t> step{0};

std::mutex forward_mutex;
std::unordered_map<uint64_t, const Module*> forward_modules;

struct BackwardPlace {
  const Module* module = nullptr;
  const char* node = nullptr;
};
std::mutex backward_mutex;
BackwardPlace last_backward;

// How many devices a run uses at once.
std::atomic<int> devices{1};

// The text that the events of this thread carry as `user_metadata`; each device has its own.
void tell_allocator() {
  const uint64_t now = step.load(std::memory_order_relaxed);
  if (here.step_told == now && here.phase_told == here.phase) return;
  here.step_told = now;
  here.phase_told = here.phase;
  const std::string phase = kPhases[here.phase];
  const std::string text = now == 0 ? phase : "step " + std::to_string(now - 1) + " · " + phase;
  c10::cuda::CUDACachingAllocator::setUserMetadata(text);
  for (int device = 0, count = devices.load(std::memory_order_relaxed); device < count && count > 1; ++device) {
    const c10::DeviceGuard guard({c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device)});
    c10::cuda::CUDACachingAllocator::setUserMetadata(text);
  }
}

uint64_t forward_key(uint64_t thread, int64_t sequence) {
  return thread << 48 | static_cast<uint64_t>(sequence);
}

// The engine at work on a node is no operation: backward names the node, and what a checkpoint computes again in the
// midst of it is not the node's.
bool is_operation(const at::RecordFunction& function) {
  return function.scope() != at::RecordScope::BACKWARD_FUNCTION &&
         std::string_view(function.name()).substr(0, 18) != "autograd::engine::";
}

void enter_operation(const at::RecordFunction& function) {
  // Some names live only as long as their operation, such as those of the autograd engine.
  here.operations.push_back(interned(function.name()));
  if (function.seqNr() < 0 || here.module == nullptr) return;
  const uint64_t key = forward_key(at::RecordFunction::currentThreadId(), function.seqNr());
  std::lock_guard<std::mutex> lock(forward_mutex);
  if (forward_modules.size() > kMostOperations) forward_modules.clear();
  forward_modules[key] = here.module;
}

void enter_node(const at::RecordFunction& function) {
  std::string_view name = function.name();
  if (const size_t colon = name.rfind(": "); colon != name.npos) name.remove_prefix(colon + 2);
  here.node = interned(name);
  here.phase = kBackward;
  tell_allocator();
  if (function.seqNr() >= 0) {
    std::lock_guard<std::mutex> lock(forward_mutex);
    const auto found = forward_modules.find(forward_key(function.forwardThreadId(), function.seqNr()));
    if (found != forward_modules.end()) here.module = found->second;
  }
  std::lock_guard<std::mutex> lock(backward_mutex);
  last_backward = {here.module, here.node};
}

std::unique_ptr<at::ObserverContext> on_enter(const at::RecordFunction& function) {
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    enter_node(function);
  } else if (is_operation(function)) {
    enter_operation(function);
  }
  return nullptr;
}

// A node stays in place after its end: the engine adds up gradients between nodes, and those sums are of the last one.
void on_leave(const at::RecordFunction& function, at::ObserverContext*) {
  if (is_operation(function) && !here.operations.empty()) here.operations.pop_back();
}

// Makes room, and says nothing about why.
bool is_allocation(std::string_view operation) { return operation.substr(0, 11) == "aten::empty"; }

// The operation that a person would name: not the one that makes room for another's result.
const char* innermost_operation() {
  for (auto name = here.operations.rbegin(); name != here.operations.rend(); ++name) {
    if (!is_allocation(*name)) return *name;
  }
  return here.operations.empty() ? nullptr : here.operations.back();
}

// `what` is a `const char*` where `phase` is `kOperation`, else a `const Module*` or null for the phase itself.
struct Frame {
  const void* what;
  int phase;
  bool operator==(const Frame& other) const { return what == other.what && phase == other.phase; }
};

// Each different stack exists once and as long as the process.
struct Stack final : c10::GatheredContext {
  Stack(uint32_t number, std::vector<Frame> frames) : number(number), frames(std::move(frames)) {}
  const uint32_t number;
  const std::vector<Frame> frames;  // innermost first
};

std::mutex stacks_mutex;
std::deque<std::shared_ptr<Stack>> stacks;
std::unordered_multimap<size_t, uint32_t> stacks_by_hash;

std::shared_ptr<Stack> interned(const std::vector<Frame>& frames) {
  size_t hash = frames.size();
  for (const Frame& frame : frames) {
    hash = (hash ^ reinterpret_cast<size_t>(frame.what) ^ static_cast<size_t>(frame.phase)) * 0x9e3779b97f4a7c15;
  }
  std::lock_guard<std::mutex> lock(stacks_mutex);
  const auto [first, last] = stacks_by_hash.equal_range(hash);
  for (auto found = first; found != last; ++found) {
    if (stacks[found->second]->frames == frames) return stacks[found->second];
  }
  const uint32_t number = static_cast<uint32_t>(stacks.size());
  stacks.push_back(std::make_shared<Stack>(number, frames));
  stacks_by_hash.emplace(hash, number);
  return stacks.back();
}

void collect_frames(std::vector<Frame>& frames) {
  frames.clear();
  for (auto name = here.operations.rbegin(); name != here.operations.rend(); ++name) {
    if (!is_allocation(*name) || here.operations.size() == 1) frames.push_back({*name, kOperation});
  }
  if (here.phase == kBackward && here.node != nullptr) frames.push_back({here.node, kOperation});
  for (const Module* module = here.module; module != nullptr; module = module->parent) {
    frames.push_back({module, here.phase});
  }
  frames.push_back({nullptr, here.phase});
}

}  // namespace

namespace snapscope {

Place place() {
  const char* operation = innermost_operation();
  if (operation == nullptr && here.phase == kBackward) operation = here.node;
  return {here.module == nullptr ? "" : here.module->path, here.phase, operation == nullptr ? "" : operation};
}

Place last_backward_place() {
  std::lock_guard<std::mutex> lock(backward_mutex);
  return {last_backward.module == nullptr ? "" : last_backward.module->path, kBackward,
          last_backward.node == nullptr ? "" : last_backward.node};
}

std::shared_ptr<c10::GatheredContext> current_stack() {
  thread_local std::vector<Frame> frames;
  thread_local std::shared_ptr<Stack> last;
  collect_frames(frames);
  // An allocation is often followed by another of the same operation, or by the segment that it needs.
  if (last == nullptr || !(last->frames == frames)) last = interned(frames);
  return last;
}

uint32_t stack_number(const std::shared_ptr<c10::GatheredContext>& stack) {
  // Every context of this process comes from `current_stack`.
  return stack == nullptr ? kNoStack : static_cast<const Stack*>(stack.get())->number;
}

void install_places() {
  at::addGlobalCallback(at::RecordFunctionCallback(on_enter, on_leave)
                            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

}  // namespace snapscope

// Adds a module below another (`parent` is -1 for none) and returns its number.
SNAPSCOPE_API uint32_t snapscope_module(int64_t parent, const char* path) {
  std::lock_guard<std::mutex> lock(modules_mutex);
  modules.push_back({parent < 0 ? nullptr : &modules.at(static_cast<size_t>(parent)), path});
  return static_cast<uint32_t>(modules.size() - 1);
}

// Puts the calling thread into a module; what it was in before is returned, for `snapscope_leave`.
SNAPSCOPE_API const void* snapscope_enter(uint32_t module) {
  const void* before = here.module;
  here.module = module_of(module);
  return before;
}

SNAPSCOPE_API void snapscope_leave(const void* before) { here.module = static_cast<const Module*>(before); }

// Sets the phase of the calling thread; the one before is returned.
SNAPSCOPE_API int snapscope_set_phase(int phase) {
  const int before = here.phase;
  here.phase = phase;
  tell_allocator();
  return before;
}

// Begins a step: 0 while the model is built, then counted from 1.
SNAPSCOPE_API void snapscope_set_step(uint64_t now) {
  step.store(now, std::memory_order_relaxed);
  tell_allocator();
  std::lock_guard<std::mutex> lock(forward_mutex);
  forward_modules.clear();
}

// The first `count` devices are used from now on.
SNAPSCOPE_API void snapscope_use_devices(int count) { devices.store(count, std::memory_order_relaxed); }

// The number of different stacks so far; those below it never change.
SNAPSCOPE_API uint32_t snapscope_stacks() {
  std::lock_guard<std::mutex> lock(stacks_mutex);
  return static_cast<uint32_t>(stacks.size());
}

// Calls `visit` for each frame of a stack, innermost first, with the words of `frame_rules` in the crate `shared`.
SNAPSCOPE_API void snapscope_frames(uint32_t number, void (*visit)(void*, const char* file, const char* name),
                                    void* state) {
  std::shared_ptr<Stack> stack;
  {
    std::lock_guard<std::mutex> lock(stacks_mutex);
    stack = stacks.at(number);
  }
  for (const Frame& frame : stack->frames) {
    if (frame.phase == kOperation) {
      visit(state, "operator", static_cast<const char*>(frame.what));
      continue;
    }
    const char* phase = kPhases[frame.phase];
    if (frame.what == nullptr) {
      visit(state, "phase", phase);
    } else {
      const std::string name = static_cast<const Module*>(frame.what)->path + " · " + phase;
      visit(state, "module", name.c_str());
    }
  }
}
