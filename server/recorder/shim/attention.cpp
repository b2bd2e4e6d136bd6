// Which kernels attention may take.
#include "shim.h"

#include <ATen/Context.h>

// Each backend is allowed or not; PyTorch picks from what is left, in its own order.
SNAPSCOPE_API void snapscope_attention_backends(int flash, int efficient, int cudnn, int math) {
  at::Context& context = at::globalContext();
  context.setSDPUseFlash(flash != 0);
  context.setSDPUseMemEfficient(efficient != 0);
  context.setSDPUseCuDNN(cudnn != 0);
  context.setSDPUseMath(math != 0);
}
