// Selective checkpointing, as `torch.utils.checkpoint.create_selective_checkpoint_contexts` does it.
//
// Python sees every operation below autograd through a dispatch mode. Libtorch hands operations to whichever interpreter
// a mode belongs to: ours is one without Python, whose modes keep results in the first run of a segment, and in the
// second give them back in order.
//
//   first run    addmm -> kept 0    gelu    addmm -> kept 1
//   second run   addmm <- kept 0    gelu    addmm <- kept 1
#include "saving.h"

#include <string_view>

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/record_function.h>
#include <c10/core/SafePyObject.h>
#include <torch/csrc/utils/torch_dispatch_mode.h>

using c10::TensorImpl;
using c10::impl::PyInterpreter;
using c10::impl::PyObject_TorchDispatchMode;
using c10::impl::TorchDispatchModeTLS;
using snapscope::Keep;
using snapscope::Results;

struct snapscope::ResultsGuard::Mode {
  Results& results;
  const bool is_second;

  void run(const c10::OperatorHandle& operation, torch::jit::Stack& stack) const;
};

namespace {

bool is_kept(Keep keep, const c10::OperatorName& operation) {
  if (!operation.overload_name.empty()) return false;
  const std::string_view name = operation.name;
  switch (keep) {
    case Keep::kAttention:
      return name == "aten::_scaled_dot_product_flash_attention" ||
             name == "aten::_scaled_dot_product_efficient_attention" ||
             name == "aten::_scaled_dot_product_cudnn_attention";
    case Keep::kMatmul:
      return name == "aten::mm" || name == "aten::bmm" || name == "aten::addmm" || name == "aten::baddbmm";
    case Keep::kNothing:
      return false;
  }
  return false;
}

// Without the graph: autograd makes the tensor that an operation returns the end of one.
c10::IValue detached(const c10::IValue& result) {
  if (!result.isTensor() || !result.toTensor().defined() || !result.toTensor().is_floating_point()) return result;
  return result.toTensor().detach();
}

// An interpreter that is asked for nothing but to dispatch: no tensor here belongs to one.
struct Interpreter final : c10::impl::PyInterpreterVTable {
  std::string name() const override { return "snapscope"; }
  void incref(PyObject*) const override {}
  void decref(PyObject*) const override {}
  bool try_incref(const c10::impl::PyObjectSlot&) const override { return false; }
  size_t refcnt(PyObject*) const override { return 1; }
  void dispatch(const c10::OperatorHandle& operation, torch::jit::Stack* stack) const override;

  c10::intrusive_ptr<TensorImpl> detach(const TensorImpl*) const override { unused(); }
  void reportErrorCallback(PyObject*, c10::DispatchKey) const override { unused(); }
  void python_op_registration_trampoline(const c10::OperatorHandle&, c10::DispatchKey, c10::DispatchKeySet,
                                         torch::jit::Stack*, bool, bool) const override {
    unused();
  }
  void throw_abstract_impl_not_imported_error(std::string, const char*, const char*) const override { unused(); }
  void python_dispatcher(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack*) const override {
    unused();
  }
  bool is_contiguous(const TensorImpl*, at::MemoryFormat) const override { unused(); }
  c10::SymBool sym_is_contiguous(const TensorImpl*, at::MemoryFormat) const override { unused(); }
  bool is_strides_like(const TensorImpl*, at::MemoryFormat) const override { unused(); }
  bool is_non_overlapping_and_dense(const TensorImpl*) const override { unused(); }
  c10::Device device(const TensorImpl*) const override { unused(); }
  int64_t dim(const TensorImpl*) const override { unused(); }
  c10::IntArrayRef strides(const TensorImpl*) const override { unused(); }
  c10::IntArrayRef sizes(const TensorImpl*) const override { unused(); }
  c10::SymIntArrayRef sym_sizes(const TensorImpl*) const override { unused(); }
  c10::Layout layout(const TensorImpl*) const override { unused(); }
  int64_t numel(const TensorImpl*) const override { unused(); }
  c10::SymInt sym_numel(const TensorImpl*) const override { unused(); }
  c10::SymIntArrayRef sym_strides(const TensorImpl*) const override { unused(); }
  c10::SymInt sym_storage_offset(const TensorImpl*) const override { unused(); }
  void trace_gpu_event_creation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_event_deletion(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_event_record(c10::DeviceType, uintptr_t, uintptr_t) const override {}
  void trace_gpu_event_wait(c10::DeviceType, uintptr_t, uintptr_t) const override {}
  void trace_gpu_memory_allocation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_memory_deallocation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_stream_creation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_device_synchronization(c10::DeviceType) const override {}
  void trace_gpu_stream_synchronization(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_event_synchronization(c10::DeviceType, uintptr_t) const override {}
  void reset_backward_hooks(const TensorImpl*) const override {}

 private:
  [[noreturn]] static void unused() { TORCH_CHECK(false, "a dispatch mode without Python was asked about a tensor"); }
};

// It lives for ever, as libtorch expects of interpreters.
PyInterpreter* interpreter() {
  static auto* interpreter = new PyInterpreter(new Interpreter);
  return interpreter;
}

void Interpreter::dispatch(const c10::OperatorHandle& operation, torch::jit::Stack* stack) const {
  // What runs inside of a mode is not seen by it.
  torch::torch_dispatch_mode::StashTorchDispatchModeGuard stash;
  const PyObject* mode = stash.get_cur_mode()->ptr(interpreter());
  reinterpret_cast<const snapscope::ResultsGuard::Mode*>(mode)->run(operation, *stack);
}

}  // namespace

void snapscope::ResultsGuard::Mode::run(const c10::OperatorHandle& operation, torch::jit::Stack& stack) const {
  // The operation is under way already: it would be named twice.
  const at::DisableRecordFunctionGuard quiet;
  const c10::OperatorName& name = operation.operator_name();
  if (!is_kept(results.keep, name)) return operation.callBoxed(stack);
  auto& kept = results.by_operation[name.name];
  if (is_second) {
    TORCH_CHECK(!kept.empty(), "a checkpointed segment has more results the second time");
    torch::jit::drop(stack, operation.schema().arguments().size());
    for (c10::IValue& result : kept.front()) stack.push_back(std::move(result));
    kept.pop_front();
    return;
  }
  operation.callBoxed(stack);
  std::vector<c10::IValue> copies;
  for (const c10::IValue& result : torch::jit::last(stack, operation.schema().returns().size())) {
    copies.push_back(detached(result));
  }
  kept.push_back(std::move(copies));
}

snapscope::ResultsGuard::ResultsGuard(Results& results, bool is_second) {
  if (results.keep == Keep::kNothing) return;
  mode_ = std::make_unique<Mode>(Mode{results, is_second});
  auto* object = reinterpret_cast<PyObject*>(mode_.get());
  TorchDispatchModeTLS::push_non_infra_mode_onto_stack(
      std::make_shared<PyObject_TorchDispatchMode>(object, interpreter()));
}

snapscope::ResultsGuard::~ResultsGuard() {
  if (mode_ != nullptr) TorchDispatchModeTLS::pop_stack();
}
