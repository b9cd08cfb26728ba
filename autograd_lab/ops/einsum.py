"""``einsum``: products and sums named by letters, computed by matrix products of pairs."""

import functools
import string

import numpy as np

from ..core.op import op
from ..core.public import public
from ..core.tensor import Tensor
from .dims import one_dim
from .elementwise import mul
from .matmul import matmul
from .reduce import sum_row
from .samples import Sample, spread
from .shape import expand_copy, permute_view, reshape
from .triangles import diagonal_view, embed_diagonal

# Everything below works on arrays and Tensors alike, so one rule serves plain backward and create_graph.


def _without_repeats(x, labels):
    """Diagonals for letters that an operand names twice."""
    labels = list(labels)
    for letter in dict.fromkeys(labels):
        while labels.count(letter) > 1:
            a = labels.index(letter)
            b = labels.index(letter, a + 1)
            x = diagonal_view(x, 0, a, b)
            labels = [v for i, v in enumerate(labels) if i not in (a, b)] + [letter]
    return x, labels


def _summed(x, labels, keep):
    """Sum over the letters that nobody else needs."""
    dims = tuple(i for i, v in enumerate(labels) if v not in keep)
    if dims:
        x = sum_row(x, dims, False)
    return x, [v for v in labels if v in keep]


def _arranged(x, labels, wanted):
    order = tuple(labels.index(v) for v in wanted)
    return x if order == tuple(range(len(order))) else permute_view(x, order)


def _sizes(x, labels):
    return dict(zip(labels, x.shape, strict=True))


def _pair(a, la, b, lb, keep):
    """Contract two operands, keeping the letters in ``keep``, by one batched matrix product."""
    sa, sb = _sizes(a, la), _sizes(b, lb)
    both = [v for v in la if v in lb]
    batch = [v for v in both if v in keep]
    inner = [v for v in both if v not in keep]
    left, right = [v for v in la if v not in lb], [v for v in lb if v not in la]
    size = {**sb, **sa}
    for v in both:
        size[v] = max(sa[v], sb[v])
    if any(sa[v] != sb[v] for v in both):  # a size of 1 stretches
        a = expand_copy(a, tuple(size[v] for v in la)) if any(sa[v] != size[v] for v in la) else a
        b = expand_copy(b, tuple(size[v] for v in lb)) if any(sb[v] != size[v] for v in lb) else b
    n = lambda labels: int(np.prod([size[v] for v in labels], dtype=np.int64))  # noqa: E731
    lead = tuple(size[v] for v in batch)
    a2 = reshape(_arranged(a, la, batch + left + inner), (n(batch), n(left), n(inner)))
    b2 = reshape(_arranged(b, lb, batch + inner + right), (n(batch), n(inner), n(right)))
    if not inner:
        out = mul(a2, b2) if type(a2) is not np.ndarray else a2 * b2
    elif not batch:
        out = matmul(reshape(a2, a2.shape[1:]), reshape(b2, b2.shape[1:]))
    else:
        out = matmul(a2, b2)
    out_labels = batch + left + right
    return reshape(out, (*lead, *(size[v] for v in left), *(size[v] for v in right))), out_labels


def contract(operands, inputs, output):
    """The einsum of arrays or Tensors; ``inputs`` and ``output`` are lists of letters."""
    parts = [_without_repeats(x, labels) for x, labels in zip(operands, inputs, strict=True)]
    x, labels = parts[0]
    for i, (other, other_labels) in enumerate(parts[1:], 1):
        later = set(output).union(*(set(lab) for _, lab in parts[i + 1 :]))
        x, labels = _summed(x, labels, later | set(other_labels))
        other, other_labels = _summed(other, other_labels, later | set(labels))
        x, labels = _pair(x, labels, other, other_labels, later)
    x, labels = _summed(x, labels, set(output))
    return _arranged(x, labels, output)


def _forward(xp, operands, inputs, output):
    out = contract(operands, inputs, output)
    return out.copy() if len(operands) == 1 and isinstance(out, np.ndarray) and out.base is not None else out


def _rule(needs, g, y, operands, inputs, output):
    return tuple(
        _operand_rule(g, operands, inputs, output, k) if need else None for k, need in enumerate(needs)
    )  # fmt: skip


def _operand_rule(g, operands, inputs, output, k):
    """The cotangent of operand k: the einsum of g with the other operands, spread over what was summed or on a diagonal."""
    x, labels = operands[k], inputs[k]
    distinct = list(dict.fromkeys(labels))
    size = {v: x.shape[labels.index(v)] for v in distinct}
    others = [o for i, o in enumerate(operands) if i != k]
    other_labels = [lab for i, lab in enumerate(inputs) if i != k]
    present = set(output).union(*map(set, other_labels))
    wanted = [v for v in distinct if v in present]
    out = contract([g, *others], [output, *other_labels], wanted)
    if any(size[v] == 1 and have != 1 for v, have in zip(wanted, out.shape, strict=True)):
        out = sum_row(out, tuple(i for i, v in enumerate(wanted) if size[v] == 1), True)
    have = dict(zip(wanted, out.shape, strict=True))
    shape, full = tuple(have.get(v, 1) for v in distinct), tuple(size[v] for v in distinct)
    if out.shape != shape:
        out = reshape(out, shape)
    if shape != full:  # summed over, or another operand's size of 1 was stretched
        out = expand_copy(out, full)
    return _onto_diagonals(out, distinct, labels, x.shape)


def _onto_diagonals(g, distinct, labels, shape):
    """Undo ``_without_repeats``: put g on the diagonals of an operand that names letters twice."""
    if len(distinct) == len(labels):
        return g
    steps, now = [], list(labels)
    sizes = list(shape)
    for letter in dict.fromkeys(now):
        while now.count(letter) > 1:
            a = now.index(letter)
            b = now.index(letter, a + 1)
            steps.append((tuple(sizes), a, b))
            n = sizes[a]
            now = [v for i, v in enumerate(now) if i not in (a, b)] + [letter]
            sizes = [s for i, s in enumerate(sizes) if i not in (a, b)] + [n]
    g = _arranged(g, distinct, now)
    for before, a, b in reversed(steps):
        g = embed_diagonal(g, before, 0, a, b)
    return g


def _samples():
    for equation, shapes in (("ij,jk->ik", ((3, 4), (4, 2))), ("bij,bjk->bik", ((2, 3, 4), (2, 4, 2))), ("i,j->ij", ((3,), (4,))),
                             ("ii->i", ((3, 3),)), ("ij->j", ((3, 4),)), ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 2))),
                             ("iji,j->", ((3, 2, 3), (2,))), ("ij,jk->ik", ((3, 1), (4, 2)))):  # fmt: skip
        left, _, right = equation.partition("->")
        inputs = tuple(tuple(part) for part in left.split(","))
        operands = [spread(s, seed=i) for i, s in enumerate(shapes)]
        yield Sample(*operands, params=(inputs, tuple(right)), note=equation)


def _reference(operands, inputs, output):
    size = {}
    for labels, x in zip(inputs, operands, strict=True):
        for v, n in zip(labels, x.shape, strict=True):
            size[v] = max(n, size.get(v, 1))
    operands = [np.broadcast_to(x, [size[v] for v in labels]) for labels, x in zip(inputs, operands, strict=True)]
    return np.einsum(",".join("".join(p) for p in inputs) + "->" + "".join(output), *operands)


einsum_row = op(
    "einsum", _forward, joint=_rule, saves="operands", kind="matmul", arity="many", dtypes="match",
    samples=_samples, ref=_reference,
    formula={"forward": "Σ of products over the letters that are not kept", "rules": ["Σ of ḡ · the other operands"]},
)  # fmt: skip


@public("einsum", method=False)
def einsum(*args):
    """Sums of products in letters: ``einsum("bij,bjk->bik", a, b)``; letters missing on the right are summed over.

    ``...`` stands for leading dimensions that broadcast. Without ``->`` the letters that occur once, in alphabetical order,
    are kept. Raises: RuntimeError for an equation that does not fit the operands.
    """
    if not args:
        raise TypeError("einsum(): at least one operand must be provided")
    if isinstance(args[0], Tensor):
        args = _from_sublists(args)
    equation, operands = args[0], args[1:]
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = operands[0]
    if not operands:
        raise ValueError("einsum(): at least one operand must be provided")
    inputs, output = _read(equation, tuple([x._d.ndim for x in operands]))
    _check_sizes(inputs, operands)
    return einsum_row(list(operands), inputs, output)


def _from_sublists(args):
    """``einsum(a, [0, 1], b, [1, 2], [0, 2])`` as an equation."""
    letters = string.ascii_letters
    word = lambda sub: "".join("..." if s is Ellipsis else letters[s] for s in sub)  # noqa: E731
    operands, subs = [], []
    i = 0
    while i + 1 < len(args):
        operands.append(args[i])
        subs.append(word(args[i + 1]))
        i += 2
    equation = ",".join(subs) + ("->" + word(args[i]) if i < len(args) else "")
    return (equation, *operands)


@functools.lru_cache(256)
def _read(equation, ndims):
    """The equation as lists of letters; the dimensions of ``...`` get capital Greek letters."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        more = "more" if len(ndims) > len(terms) else "fewer"
        raise RuntimeError(
            f"einsum(): {more} operands were provided than specified in the equation: {len(ndims)} for {len(terms)} terms in "
            f"{equation!r}"
        )
    spare = [chr(0x391 + i) for i in range(64)]
    widest = max((n - len(t.replace("...", "")) for t, n in zip(terms, ndims, strict=True) if "..." in t), default=0)
    inputs = [_letters(term, n, spare, widest, equation) for term, n in zip(terms, ndims, strict=True)]
    named = [v for labels in inputs for v in labels]
    if arrow:
        output = _letters(right, len(right.replace("...", "")) + (widest if "..." in right else 0), spare, widest, equation)
        for v in output:
            if v not in named:
                raise RuntimeError(f"einsum(): output subscript {v} does not appear in the equation for any input operand")
            if output.count(v) > 1:
                raise RuntimeError(f"einsum(): output subscript {v} appears more than once in the output")
    else:
        once = sorted(v for v in dict.fromkeys(named) if named.count(v) == 1 and v not in spare)
        output = [v for v in spare[:widest]] + once
    return tuple(map(tuple, inputs)), tuple(output)


def _letters(term, ndim, spare, widest, equation):
    before, dots, after = term.partition("...")
    for c in before + after:
        if c not in string.ascii_letters:
            raise RuntimeError(f"einsum(): invalid subscript given: {c!r} in {equation!r}, subscripts must be in [a-zA-Z]")
    n = ndim - len(before) - len(after)
    if n < 0 or (n and not dots):
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({len(before) + len(after)}) does not match the number of "
            f"dimensions ({ndim}) for operand {term!r}" + ("" if dots else " and no ellipsis was given")
        )
    return [*before, *spare[widest - n : widest], *after] if dots else list(before)


def _check_sizes(inputs, operands):
    size = {}
    for place, (labels, x) in enumerate(zip(inputs, operands, strict=True)):
        for d, (v, s) in enumerate(zip(labels, x._d.shape, strict=True)):
            known = size.get(v, 1)
            if labels.count(v) > 1 and s != x._d.shape[labels.index(v)]:
                raise RuntimeError(f"einsum(): subscript {v} is repeated for operand {place} but the sizes don't match")
            if s != 1 and known not in (1, s):
                raise RuntimeError(
                    f"einsum(): subscript {v} has size {s} for operand {place} (dimension {d}) which does not broadcast "
                    f"with {known}"
                )
            size[v] = max(known, s) if s else s


@public("tensordot", method=False)
def tensordot(a, b, dims=2, out=None):
    """Sum of products over the last ``dims`` dimensions of ``a`` and the first of ``b``, or over two lists of dimensions.

    Raises: RuntimeError where their sizes differ.
    """
    na, nb = a._d.ndim, b._d.ndim
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0 or dims > min(na, nb):
            raise RuntimeError(f"tensordot expects dims >= 0 and at most {min(na, nb)}, but got dims={dims}")
        left, right = range(na - dims, na), range(dims)
    else:
        left, right = ([dims[0]], [dims[1]]) if isinstance(dims[0], int) else dims
    pairs = {one_dim(j, nb): one_dim(i, na) for i, j in zip(left, right, strict=True)}
    for j, i in pairs.items():
        if a._d.shape[i] != b._d.shape[j] and 1 not in (a._d.shape[i], b._d.shape[j]):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a._d.shape[i]} in dim {i} and second has size "
                f"{b._d.shape[j]} in dim {j}"
            )
    letters = iter(string.ascii_letters)
    la = tuple(next(letters) for _ in range(na))
    lb = tuple(la[pairs[j]] if j in pairs else next(letters) for j in range(nb))
    summed = {la[i] for i in pairs.values()}
    return einsum_row([a, b], (la, lb), tuple(v for v in la + lb if v not in summed))
