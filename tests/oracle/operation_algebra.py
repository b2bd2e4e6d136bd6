"""Products, decompositions, transforms and sparse matrices: cuBLAS, cuSOLVER, cuFFT and cuSPARSE."""

from threading import Thread

import torch
import torch.nn.functional as F
from torch import nn

from operation import KIB, MIB, check, expect, group, peak_of, rounded, size_of

FLOATS = {"fp32": torch.float32, "fp64": torch.float64, "fp16": torch.float16, "bf16": torch.bfloat16}
COMPLEX = {"complex64": torch.complex64, "complex128": torch.complex128}

# The work space that PyTorch gives each handle and stream, by compute capability.
CUBLAS_WORK_SPACE = {9: 32 * MIB, None: 8_320 * KIB}


def matrix(*shape: int, dtype: torch.dtype = torch.float32, grad: bool = False) -> torch.Tensor:
    """A matrix, or a batch of them."""
    return torch.zeros(shape, device="cuda", dtype=dtype, requires_grad=grad)


def try_products() -> None:
    """Products of every kind, in every type."""
    for precision, dtype in (FLOATS | COMPLEX).items():
        a, b, batch = matrix(64, 32, dtype=dtype), matrix(32, 48, dtype=dtype), matrix(4, 64, 32, dtype=dtype)
        with check(f"product, {precision}"):
            expect((a @ b).shape, (64, 48), "shape")
            expect((batch @ b).shape, (4, 64, 48), "shape")
            expect(torch.bmm(batch, batch.mT).shape, (4, 64, 64), "shape")
        with check(f"product and sum, {precision}"):
            torch.addmm(matrix(48, dtype=dtype), a, b)
            torch.addmm(matrix(64, 48, dtype=dtype), a, b, beta=2, alpha=0.5)
            torch.baddbmm(matrix(4, 64, 64, dtype=dtype), batch, batch.mT)
        with check(f"vectors, {precision}"):
            vector = matrix(32, dtype=dtype)
            expect((a @ vector).shape, (64,), "shape")
            expect((torch.dot(vector, vector).shape, torch.vdot(vector, vector).shape), ((), ()), "shapes")
            torch.outer(vector, vector)
            torch.addr(matrix(32, 32, dtype=dtype), vector, vector)
        with check(f"layer, {precision}"):
            nn.Linear(32, 48, dtype=dtype, device="cuda")(a).abs().sum().backward()


@group()
def products() -> None:
    try_products()


@group(cards="t4-16gb", name="products, T4")
def products_old() -> None:
    try_products()


@group(cards="h100-80gb", name="products, cuBLASLt")
def products_lt() -> None:
    torch.backends.cuda.preferred_blas_library("cublaslt")
    try_products()


@group(cards="h100-80gb", name="products with an activation")
def fused_products() -> None:
    for precision in "fp16", "bf16", "fp32":
        dtype = FLOATS[precision]
        with check(f"linear with bias, {precision}: its output and cuBLASLt's work space"):
            layer, image = nn.Linear(256, 512, device="cuda", dtype=dtype), matrix(1024, 256, dtype=dtype)
            layer(image)
            with torch.no_grad():
                expect(peak_of(lambda: layer(image)), rounded(1024 * 512 * dtype.itemsize))
        with check(f"linear with GELU, {precision}"):
            output = torch._addmm_activation(layer.bias, image, layer.weight.t(), use_gelu=True)
            expect(output.shape, (1024, 512), "shape")


def try_work_spaces() -> None:
    """The work space of the first product, and another for a second thread."""
    major = torch.cuda.get_device_capability()[0]
    work_space = CUBLAS_WORK_SPACE.get(major, CUBLAS_WORK_SPACE[None])
    a = matrix(256, 256)
    with check("the first product"):
        expect(peak_of(lambda: a @ a), work_space + size_of(a))
    with check("the next one"):
        expect(peak_of(lambda: a @ a), size_of(a))
    with check("another stream"), torch.cuda.stream(torch.cuda.Stream()):
        expect(peak_of(lambda: a @ a), work_space + size_of(a))
    with check("another thread"):
        thread = Thread(target=lambda: a @ a)
        before = torch.cuda.memory_allocated()
        thread.start()
        thread.join()
        expect(torch.cuda.memory_allocated() - before, work_space)


for each in "t4-16gb", "a100-80gb", "h100-80gb", "b200-180gb":
    group(cards=each, name=f"work space of cuBLAS, {each}")(try_work_spaces)


@group(cards="h100-80gb", name="small types")
def small_types() -> None:
    one = torch.ones((), device="cuda")
    for name, dtype in {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}.items():
        with check(f"scaled product, fp8 {name}"):
            a = matrix(64, 128, dtype=dtype)
            b = matrix(256, 128, dtype=torch.float8_e4m3fn).t()
            expect(torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16).shape, (64, 256), "shape")
    with check("scaled product by rows, fp8"):
        a, b = matrix(64, 128, dtype=torch.float8_e4m3fn), matrix(256, 128, dtype=torch.float8_e4m3fn).t()
        scales = matrix(64, 1), matrix(1, 256)
        torch._scaled_mm(a, b, *scales, out_dtype=torch.bfloat16)
    with check("grouped product, bf16"):
        a, b = matrix(64, 32, dtype=torch.bfloat16), matrix(4, 48, 32, dtype=torch.bfloat16).transpose(-2, -1)
        ends = torch.tensor([16, 32, 48, 64], device="cuda", dtype=torch.int32)
        expect(torch._grouped_mm(a, b, ends).shape, (64, 48), "shape")
    with check("product, int8"):
        product = torch._int_mm(matrix(64, 128, dtype=torch.int8), matrix(256, 128, dtype=torch.int8).t())
        expect((product.shape, product.dtype), ((64, 256), torch.int32), "shape")


@group(cards="b200-180gb", name="small types, B200")
def small_types_blackwell() -> None:
    with check("scaled product by blocks, fp8"):
        a, b = matrix(128, 128, dtype=torch.float8_e4m3fn), matrix(128, 128, dtype=torch.float8_e4m3fn).t()
        scales = [matrix(128 * 4, dtype=torch.float8_e8m0fnu) for _ in range(2)]
        torch._scaled_mm(a, b, *scales, out_dtype=torch.bfloat16)
    with check("grouped product, bf16"):
        a, b = matrix(64, 32, dtype=torch.bfloat16), matrix(4, 48, 32, dtype=torch.bfloat16).transpose(-2, -1)
        ends = torch.tensor([16, 32, 48, 64], device="cuda", dtype=torch.int32)
        torch._grouped_mm(a, b, ends)


@group()
def decompositions() -> None:
    linalg = torch.linalg
    for precision, dtype in ({"fp32": torch.float32, "fp64": torch.float64} | COMPLEX).items():
        for batch in (), (3,), (3, 200):
            a, b = matrix(*batch, 16, 16, dtype=dtype), matrix(*batch, 16, 4, dtype=dtype)
            tall = matrix(*batch, 20, 12, dtype=dtype)
            label = f"{precision}, batch of {list(batch)}"
            with check(f"solve and invert, {label}"):
                expect(linalg.solve(a, b).shape, b.shape, "shape")
                linalg.inv(a), linalg.lstsq(tall, matrix(*batch, 20, 3, dtype=dtype))
                linalg.solve_triangular(a, b, upper=True)
            with check(f"LU and determinants, {label}"):
                linalg.lu_factor(a), linalg.lu(a), linalg.det(a), linalg.slogdet(a), linalg.ldl_factor(a)
                linalg.lu_solve(*linalg.lu_factor(a), b), linalg.ldl_solve(*linalg.ldl_factor(a), b)
            with check(f"Cholesky, {label}"):
                factor = linalg.cholesky(a)
                torch.cholesky_solve(b, factor), torch.cholesky_inverse(factor)
            with check(f"QR, {label}"):
                linalg.qr(tall), linalg.qr(tall, mode="complete"), torch.geqrf(tall)
                torch.ormqr(*torch.geqrf(tall), tall), linalg.householder_product(*torch.geqrf(tall))
            with check(f"singular values, {label}"):
                for driver in None, "gesvd", "gesvdj", "gesvda":
                    linalg.svd(tall, full_matrices=False, driver=driver)
                linalg.svdvals(tall), linalg.pinv(tall), linalg.matrix_rank(tall), linalg.norm(a, 2, dim=(-2, -1))
            with check(f"eigenvalues, {label}"):
                linalg.eigh(a), linalg.eigvalsh(a), linalg.eig(a), linalg.eigvals(a)
            with check(f"powers, {label}"):
                linalg.matrix_power(a, 5)
                if not batch:
                    # Of a batch the host would have to read which matrices are small.
                    linalg.matrix_exp(a)
    with check("gradients"):
        a = matrix(8, 8, grad=True)
        for run in linalg.inv, linalg.det, linalg.svdvals, linalg.eigvalsh:
            run(a).sum().backward()
    with check("the inverse takes its output and pivots"):
        a = matrix(1024, 1024)
        linalg.inv(a)
        expect(peak_of(lambda: linalg.inv(a)) >= size_of(a), True, "peak")


@group()
def transforms() -> None:
    fft = torch.fft
    for name, dtype in {"fp32": torch.float32, "fp64": torch.float64, "fp16": torch.float16}.items():
        signal = matrix(4, 64, 64, dtype=dtype)
        with check(f"real, {name}"):
            expect(fft.irfft(fft.rfft(signal)).shape, signal.shape, "shape")
            fft.rfft2(signal), fft.rfftn(signal), fft.hfft(signal, n=64), fft.ihfft(signal)
        with check(f"complex, {name}"):
            spectrum = fft.fft(signal)
            fft.ifft(spectrum), fft.fft2(spectrum), fft.ifftn(spectrum)
    with check("lengths that are prime"):
        fft.fft(matrix(3, 101)), fft.rfft(matrix(3, 997)), fft.fft2(matrix(2, 31, 37))
    with check("its output only"):
        signal = matrix(64, 1024, dtype=torch.complex64)
        expect(peak_of(lambda: fft.fft(signal)), size_of(signal))
    with check("gradients"):
        signal = matrix(4, 64, grad=True)
        fft.rfft(signal).abs().sum().backward()
    with check("short-time transform"):
        torch.stft(matrix(2, 4000), 400, window=torch.hann_window(400, device="cuda"), return_complex=True)


def csr(rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    """A sparse matrix with two elements in each row, whose indices the host has seen."""
    starts = torch.arange(0, 2 * rows + 1, 2)
    places = torch.tensor([0, 1] * rows)
    return torch.sparse_csr_tensor(starts, places, torch.ones(2 * rows, dtype=dtype), (rows, columns)).cuda()


@group()
def sparse() -> None:
    for precision, dtype in ({"fp32": torch.float32, "fp64": torch.float64} | COMPLEX).items():
        a, b = csr(32, 24, dtype), matrix(24, 8, dtype=dtype)
        with check(f"sparse times dense, {precision}"):
            expect((a @ b).shape, (32, 8), "shape")
            expect((a @ b[:, 0]).shape, (32,), "shape")
            torch.sparse.mm(a, b)
        with check(f"sparse times sparse, {precision}"):
            expect((a @ csr(24, 8, dtype)).shape, (32, 8), "shape")
        with check(f"sampled product, {precision}"):
            torch.sparse.sampled_addmm(a, matrix(32, 5, dtype=dtype), matrix(5, 24, dtype=dtype))
        with check(f"sum, {precision}"):
            expect((a + a).shape, (32, 24), "shape")
        with check(f"triangular solution, {precision}"):
            square = csr(32, 32, dtype)
            torch.triangular_solve(matrix(32, 8, dtype=dtype), square, upper=False)
            torch.triangular_solve(matrix(32, 1, dtype=dtype), square)
        with check(f"blocks, {precision}"):
            blocks = torch.ones(16, 16, dtype=dtype).to_sparse_bsr((4, 4)).cuda()
            blocks @ matrix(16, 8, dtype=dtype), blocks @ matrix(16, dtype=dtype)
            torch.triangular_solve(matrix(16, 8, dtype=dtype), blocks)
            torch.triangular_solve(matrix(16, 1, dtype=dtype), blocks)
    with check("coordinates"):
        a = torch.ones(32, 24).to_sparse().cuda()
        torch.sparse.mm(a, matrix(24, 8)), a.coalesce(), a.to_dense(), a.to_sparse_csr()
    with check("embedding with sparse gradients"):
        layer = nn.Embedding(100, 16, sparse=True, device="cuda")
        layer(torch.zeros(4, 5, dtype=torch.long, device="cuda")).sum().backward()
        torch.optim.SparseAdam(list(layer.parameters())).step()


@group(cards="h100-80gb", name="two of four")
def two_of_four() -> None:
    for name, dtype in {"fp16": torch.float16, "bf16": torch.bfloat16, "int8": torch.int8}.items():
        dense = torch.tensor([0, 0, 1, 1], dtype=dtype).tile(128, 64)
        with check(f"compressed to half and two bits, {name}"):
            compressed = torch._cslt_compress(dense.cuda())
            sixteenths = 10 if dtype is torch.int8 else 9
            expect(compressed.untyped_storage().nbytes(), dense.nbytes * sixteenths // 16)
        with check(f"product, {name}"):
            product = torch._cslt_sparse_mm(compressed, matrix(256, 64, dtype=dtype).t().contiguous().t().t()[:256])
            expect(product.shape[0], 128, "rows")
        with check(f"search, {name}"):
            torch._cslt_sparse_mm_search(compressed, matrix(256, 64, dtype=dtype))


@group()
def reductions() -> None:
    with check("functions of cub"):
        values = torch.zeros(5000, device="cuda")
        values.sort(), values.topk(10), values.cumsum(0), values.unique(), values.nonzero(), values.argsort()
    with check("histogram"):
        torch.histc(torch.zeros(5000, device="cuda"), 20)
    with check("cross entropy"):
        scores = matrix(64, 1000, grad=True)
        F.cross_entropy(scores, torch.zeros(64, dtype=torch.long, device="cuda")).backward()
        expect(scores.grad.shape, scores.shape, "shape")
