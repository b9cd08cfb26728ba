"""Random programs: a list of steps that PyTorch and autograd_lab run alike, with views and changes in place.

A program is plain data made from its number alone: leaves (arrays), and steps ``(kind, name, places, arguments)``. A place
between 0 and 1 counts the tensors that are live when the step runs. A step that PyTorch refuses stays in the program: both have
to refuse it.
"""

import numpy as np

SHAPES = [(3,), (4,), (2, 3), (3, 3), (1, 3), (3, 1), (2, 3, 4), ()]
UNARY = {
    "neg": lambda t, x: -x,
    "tanh": lambda t, x: x.tanh(),
    "sigmoid": lambda t, x: t.sigmoid(x),
    "exp": lambda t, x: (x * 0.1).exp(),
    "sin": lambda t, x: x.sin(),
    "cos": lambda t, x: t.cos(x),
    "relu": lambda t, x: x.relu(),
    "abs": lambda t, x: x.abs(),
    "square": lambda t, x: (x * 0.5) ** 2,
    "sqrt": lambda t, x: (x * x + 1).sqrt(),
    "log": lambda t, x: (x * x + 1).log(),
    "clamp": lambda t, x: x.clamp(-0.7, 0.9),
    "softplus": lambda t, x: t.nn.functional.softplus(x),
    "clone": lambda t, x: x.clone(),
    "contiguous": lambda t, x: x.contiguous(),
    "detach": lambda t, x: x.detach(),
    "atan": lambda t, x: t.atan(x),
}
BINARY = {
    "add": lambda t, a, b: a + b,
    "sub": lambda t, a, b: a - b,
    "mul": lambda t, a, b: a * b.tanh(),
    "div": lambda t, a, b: a / (b * b + 1),
    "maximum": lambda t, a, b: t.maximum(a, b),
    "minimum": lambda t, a, b: t.minimum(a, b),
    "atan2": lambda t, a, b: t.atan2(a, b),
    "where": lambda t, a, b: t.where(a > b, a, b.sin()),
    "matmul": lambda t, a, b: a @ b.tanh(),
    "matmul of a transpose": lambda t, a, b: a.tanh() @ b.mT,
    "cat": lambda t, a, b: t.cat([a, b], 0),
    "stack": lambda t, a, b: t.stack([a, b], -1),
    "addcmul": lambda t, a, b: t.addcmul(a, a.tanh(), b.tanh(), value=0.5),
}
REDUCTIONS = {
    "sum": lambda t, x, d, k: x.sum(d, keepdim=k),
    "mean": lambda t, x, d, k: x.mean(d, keepdim=k),
    "amax": lambda t, x, d, k: x.amax(d, keepdim=k),
    "max": lambda t, x, d, k: x.max(d, keepdim=k).values,
    "min": lambda t, x, d, k: x.min(dim=d, keepdim=k)[0],
    "var": lambda t, x, d, k: x.var(d, correction=0, keepdim=k),
    "logsumexp": lambda t, x, d, k: x.logsumexp(d, keepdim=k),
    "prod": lambda t, x, d, k: x.tanh().prod(d, keepdim=k),
    "norm": lambda t, x, d, k: t.linalg.vector_norm(x, dim=d, keepdim=k),
    "cumsum": lambda t, x, d, k: x.cumsum(d),
    "softmax": lambda t, x, d, k: x.softmax(d),
    "sort": lambda t, x, d, k: x.sort(d, descending=k).values,
    "flip": lambda t, x, d, k: x.flip(d),
}
VIEWS = {
    "view": lambda t, x, a: x.view(-1),
    "reshape": lambda t, x, a: x.reshape(-1),
    "reshape back": lambda t, x, a: x.reshape(a["shape"]),
    "transpose": lambda t, x, a: x.transpose(a["dim"], -1),
    "permute": lambda t, x, a: x.permute(a["order"]),
    "slice": lambda t, x, a: x[a["start"] :: a["step"]],
    "slice of a dim": lambda t, x, a: x[..., a["start"] :],
    "select": lambda t, x, a: x.select(a["dim"], -1),
    "item": lambda t, x, a: x[a["start"]],
    "unsqueeze": lambda t, x, a: x.unsqueeze(a["dim"]),
    "squeeze": lambda t, x, a: x.squeeze(),
    "expand": lambda t, x, a: x.expand(2, *x.shape),
    "narrow": lambda t, x, a: x.narrow(a["dim"], 0, 2),
    "split": lambda t, x, a: x.split(2, a["dim"])[-1],
    "chunk": lambda t, x, a: x.chunk(2, a["dim"])[0],
    "unbind": lambda t, x, a: x.unbind(a["dim"])[0],
    "diagonal": lambda t, x, a: x.diagonal(dim1=-2, dim2=-1),
    "mT": lambda t, x, a: x.mT if x.ndim else x.t(),  # PyTorch: deprecated without dimensions
    "flatten": lambda t, x, a: x.flatten(),
    "view_as": lambda t, x, a: x.view_as(x),
}
PICKS = {
    "index": lambda t, x, a: x[rows(t, x, a)],
    "index of the last": lambda t, x, a: x[..., t.tensor(a["rows"])],
    "mask": lambda t, x, a: x[x > 0.1],
    "index_select": lambda t, x, a: x.index_select(0, rows(t, x, a)),
    "gather": lambda t, x, a: x.gather(-1, t.zeros(x.shape, dtype=t.int64)),
    "roll": lambda t, x, a: x.roll(1, 0),
    "take": lambda t, x, a: t.take(x, rows(t, x, a)),
    "masked_fill": lambda t, x, a: x.masked_fill(x < 0, 0.25),
    "index_fill": lambda t, x, a: x.index_fill(0, rows(t, x, a), 0.5),
    "tril": lambda t, x, a: x.tril(),
    "repeat": lambda t, x, a: x.repeat(2, *[1] * x.ndim),
    "pad": lambda t, x, a: t.nn.functional.pad(x, (1, 0)),
}


def rows(t, x, a):
    """Numbers of rows that are there: PyTorch may have written some rows when it refuses the next."""
    size = x.shape[0] if x.ndim else 1
    return t.tensor([i % max(size, 1) for i in a["rows"]])


def _set_item(t, x, v, a):
    x[a["start"]] = v


def _set_last(t, x, v, a):
    x[..., -1] = v


def _set_rows(t, x, v, a):
    x[rows(t, x, a)] = v


def _set_masked(t, x, v, a):
    x[x > 0] = 0.125


def _set_slice(t, x, v, a):
    x[a["start"] :] = v


CHANGES = {
    "add_": lambda t, x, v, a: x.add_(v, alpha=0.5),
    "sub_": lambda t, x, v, a: x.sub_(v),
    "mul_": lambda t, x, v, a: x.mul_(v.cos()),
    "mul_ by a number": lambda t, x, v, a: x.mul_(0.5),
    "div_": lambda t, x, v, a: x.div_(2.0),
    "copy_": lambda t, x, v, a: x.copy_(v if v.ndim <= x.ndim else x * 0.5),
    "zero_": lambda t, x, v, a: x.zero_(),
    "fill_": lambda t, x, v, a: x.fill_(0.3),
    "tanh_": lambda t, x, v, a: x.tanh_(),
    "relu_": lambda t, x, v, a: x.relu_(),
    "clamp_": lambda t, x, v, a: x.clamp_(-0.5, 0.5),
    "neg_": lambda t, x, v, a: x.neg_(),
    "masked_fill_": lambda t, x, v, a: x.masked_fill_(x > 0.5, 0.1),
    "index_add_": lambda t, x, v, a: x.index_add_(0, rows(t, x, a), x[:1].expand(3, *x.shape[1:]).clone()),
    "transpose_": lambda t, x, v, a: x.transpose_(0, -1),
    "x[i] = v": _set_item,
    "x[..., -1] = v": _set_last,
    "x[rows] = v": _set_rows,
    "x[mask] = number": _set_masked,
    "x[i:] = v": _set_slice,
}
TABLES = {"unary": UNARY, "binary": BINARY, "reduction": REDUCTIONS, "view": VIEWS, "pick": PICKS, "change": CHANGES}
SHARES = {"unary": 0.15, "binary": 0.2, "reduction": 0.1, "view": 0.2, "pick": 0.1, "change": 0.25}


def make(seed, length=20):
    """(leaves, steps) of the program with this number."""
    rng = np.random.default_rng(seed)
    leaves = [rng.normal(size=SHAPES[i]) for i in rng.choice(len(SHAPES), 3)]
    leaves.append(rng.normal(size=leaves[0].shape))
    kinds, shares = list(SHARES), list(SHARES.values())
    steps = []
    for _ in range(length):
        kind = str(rng.choice(kinds, p=shares))
        names = list(TABLES[kind])
        arguments = {
            "dim": int(rng.integers(-2, 2)), "keepdim": bool(rng.integers(2)), "start": int(rng.integers(-2, 2)),
            "step": int(rng.integers(1, 3)), "rows": rng.integers(0, 2, 3).tolist(), "shape": SHAPES[rng.integers(len(SHAPES))],
            "order": rng.permutation(2 + rng.integers(2)).tolist(),
        }  # fmt: skip
        steps.append((kind, names[rng.integers(len(names))], rng.random(2).tolist(), arguments))
    return leaves, steps


def do(library, step, live):
    """One step on the live tensors: its result, or None after a change in place."""
    kind, name, (first, second), arguments = step
    function = TABLES[kind][name]
    x = live[int(first**0.6 * len(live))]
    if kind == "unary":
        return function(library, x)
    if kind == "reduction":
        return function(library, x, arguments["dim"], arguments["keepdim"])
    if kind in ("view", "pick"):
        return function(library, x, arguments)
    fitting = [v for v in live if tuple(v.shape) == tuple(x.shape)] if second < 0.7 else live
    other = fitting[int((second / 0.7 if second < 0.7 else (second - 0.7) / 0.3) * len(fitting))]
    if kind == "binary":
        return function(library, x, other)
    function(library, x, other, arguments)
    return None


def refusal(error):
    """An error as text: its type and the first line of its message."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def run(library, program):
    """(trace, gradients, ends): the live values after each step, the leaves' gradients of each end, the ends' values.

    In place of values there is the error as text.
    """
    leaves = [library.tensor(a, requires_grad=True) for a in program[0]]
    live = [leaf * 1.0 for leaf in leaves] + [leaves[0]]
    trace = []
    for step in program[1]:
        try:
            made = do(library, step, live)
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            trace.append(refusal(error))
            continue
        if step[0] not in ("view", "change"):
            made = made.contiguous()  # the layout of what is computed is each library's own affair
        if made is not None and made.numel() <= 200:
            live.append(made)
        trace.append([v.detach().numpy().copy() for v in live])
    ends = [v for v in live if v.requires_grad]
    return trace, [gradients(library, leaves, v) for v in ends], [v.detach().numpy().copy() for v in ends]


def weights(end):
    """The cotangent of an end."""
    return np.asarray(np.random.default_rng(0).normal(size=tuple(end.shape)))


def gradients(library, leaves, end):
    """The leaves' gradients of one tensor, for a cotangent that is the same in both libraries; None for a leaf without a part."""
    try:
        loss = (end * library.tensor(weights(end))).sum()
        found = library.autograd.grad(loss, leaves, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        return refusal(error)
    return [None if g is None else g.numpy() for g in found]
