"""Products and factorisations."""

import torch

from .layouts import broadcast, strides_in_order
from .views import call, copy, dimension, scratch, view


def product(a, b, size, dtype, added=None, beta=0, alpha=1):
    """Of Views of matrices, with the same dimensions in front."""
    out = torch.empty(size, dtype=dtype)
    outer = a.rank - 2
    target = view(out)
    if added is None:
        call("matmul", [target], [a, b], (), outer)
    else:
        call("addmm", [target], [added.expand(size), a, b], [beta, alpha], outer)
    return out


def mm__default(self, mat2):
    return product(view(self), view(mat2), (self.shape[0], mat2.shape[1]), self.dtype)


def bmm__default(self, mat2):
    return product(view(self), view(mat2), (*self.shape[:2], mat2.shape[2]), self.dtype)


def addmm__default(self, mat1, mat2, *, beta=1, alpha=1):
    return product(view(mat1), view(mat2), (mat1.shape[0], mat2.shape[1]), mat1.dtype, view(self), beta, alpha)


def baddbmm__default(self, batch1, batch2, *, beta=1, alpha=1):
    return product(view(batch1), view(batch2), (*batch1.shape[:2], batch2.shape[2]), batch1.dtype, view(self), beta, alpha)


def addbmm__default(self, batch1, batch2, *, beta=1, alpha=1):
    """The batch is another dimension that is summed over; copies of the matrices make it one with theirs."""
    batch, rows, depth = batch1.shape
    columns = batch2.shape[2]
    beside, below = scratch((rows, batch, depth), batch1.dtype), scratch((batch, depth, columns), batch2.dtype)
    copy(beside, view(batch1).transpose(0, 1))
    copy(below, view(batch2))
    a, b = beside.with_((rows, batch * depth), (batch * depth, 1)), below.with_((batch * depth, columns), (columns, 1))
    return product(a, b, (rows, columns), batch1.dtype, view(self), beta, alpha)


def column(vector):
    return vector.with_((*vector.size, 1), (*vector.stride, 1))


def row(vector):
    return vector.with_((1, *vector.size), (1, *vector.stride))


def mv__default(self, vec):
    return addmv(view(self), view(vec), self.dtype)


def addmv(matrix, vector, dtype, added=None, beta=0, alpha=1):
    out = torch.empty(matrix.size[:1], dtype=dtype)
    if added is None:
        call("matmul", [column(view(out))], [matrix, column(vector)])
    else:
        call("addmm", [column(view(out))], [column(added.expand(matrix.size[:1])), matrix, column(vector)], [beta, alpha])
    return out


def addmv__default(self, mat, vec, *, beta=1, alpha=1):
    return addmv(view(mat), view(vec), mat.dtype, view(self), beta, alpha)


def addr__default(self, vec1, vec2, *, beta=1, alpha=1):
    size = (vec1.shape[0], vec2.shape[0])
    dtype = torch.promote_types(torch.promote_types(vec1.dtype, vec2.dtype), self.dtype)
    return product(column(view(vec1)), row(view(vec2)), size, dtype, view(self), beta, alpha)


def dot__default(self, tensor):
    out = torch.empty((), dtype=self.dtype)
    call("dot", [view(out)], [view(self), view(tensor)])
    return out


def vdot__default(self, other):
    return dot__default(self, other)


def linalg_cross__default(self, other, *, dim=-1):
    size = broadcast(self.shape, other.shape)
    d = dimension(dim, len(size))
    out = torch.empty(size, dtype=self.dtype)
    call("cross", [view(out).move_last([d])], [view(t).expand(size).move_last([d]) for t in (self, other)], (), len(size) - 1)
    return out


def linalg_matrix_exp__default(self):
    out = torch.empty(self.shape, dtype=self.dtype)
    call("matrix_exp", [view(out)], [view(self)], (), self.dim() - 2)
    return out


def _pdist_forward__default(self, p=2.0):
    rows = self.shape[0]
    out = torch.empty((rows * (rows - 1) // 2,), dtype=self.dtype)
    call("pdist", [view(out)], [view(self)], [p])
    return out


def columns_first(size):
    """Matrices as LAPACK lays them out."""
    front = list(range(len(size) - 2))
    return strides_in_order(size, [*front, len(size) - 1, len(size) - 2])


def lapack(size, dtype):
    return torch.empty_strided(size, columns_first(size), dtype=dtype)


def cholesky_inverse__default(self, upper=False):
    out = lapack(self.shape, self.dtype)
    call("cholesky_inverse", [view(out)], [view(self)], [upper], self.dim() - 2)
    return out


def batches(self, other):
    """Views of matrices with the same dimensions in front."""
    front = broadcast(self.shape[:-2], other.shape[:-2])
    return [view(t).expand((*front, *t.shape[-2:])) for t in (self, other)]


def cholesky_solve__default(self, input2, upper=False):
    b, factor = batches(self, input2)
    out = lapack(b.size, self.dtype)
    call("cholesky_solve", [view(out)], [b, factor], [upper], b.rank - 2)
    return out


def triangular_solve__default(self, A, upper=True, transpose=False, unitriangular=False):
    b, a = batches(self, A)
    out, kept = lapack(b.size, self.dtype), lapack(a.size, A.dtype)
    call("triangular_solve", [view(out)], [b, a], [upper, transpose, unitriangular], b.rank - 2)
    copy(view(kept), a)
    return out, kept


def geqrf__default(self):
    out = lapack(self.shape, self.dtype)
    factors = torch.empty((*self.shape[:-2], min(self.shape[-2:])), dtype=self.dtype)
    call("geqrf", [view(out), view(factors)], [view(self)], (), self.dim() - 2)
    return out, factors


def ormqr__default(self, input2, input3, left=True, transpose=False):
    out = lapack(input3.shape, self.dtype)
    call("ormqr", [view(out)], [view(self), view(input2), view(input3)], [left, transpose], self.dim() - 2)
    return out


def lu_unpack__default(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    front, (rows, columns) = LU_data.shape[:-2], LU_data.shape[-2:]
    least = min(rows, columns)
    sizes = [(*front, rows, rows), (*front, rows, least), (*front, least, columns)]
    parts = [torch.empty(size, dtype=LU_data.dtype) for size in sizes]
    call("lu_unpack", [view(p) for p in parts], [view(LU_data), view(LU_pivots)], (), len(front))
    asked = [unpack_pivots, unpack_data, unpack_data]
    return tuple(p if wanted else torch.empty((0,), dtype=LU_data.dtype) for p, wanted in zip(parts, asked))
