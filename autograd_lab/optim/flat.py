"""How optimisers touch memory: small parameters of a group share flat buffers, large ones are worked on in slices.

A step then costs a dozen NumPy calls on slices that stay in the processor's cache, whatever the number of parameters,
and makes no temporaries. The state that ``optimizer.state[p]`` shows is a set of views of these buffers.
"""

import numpy as np

from ..core.storage import storage_of
from ..core.tensor import wrap

SLICE = 32768
"""Elements that are worked on at once; a few arrays of this length fit the second-level cache."""


class Batch:
    """Parameters of one dtype and one step count that are updated together.

    params     one large parameter, or many small ones whose gradients are gathered into ``grad``
    state      name -> flat array of all their state
    step       the number of steps they have taken, as one tensor that their states share (None: not counted)
    first      whether no state existed before
    """

    def __init__(self, params, names, state, counted):
        self.params = params
        d = params[0]._array()
        self.dtype, self.large = d.dtype, d.size >= SLICE
        self.n = n = sum(p._d.size for p in params)
        self.scratch = np.empty(min(n, SLICE) if self.large else n, d.dtype)
        self.work = np.empty_like(self.scratch)
        self.grad = None if self.large else np.empty(n, d.dtype)
        self.first = not any(name in state[p] for p in params for name in names)
        self.bounds = [(a, min(a + SLICE, n)) for a in range(0, n, SLICE)]
        self.state = {name: self._flat(name, state) for name in names}
        self.step = None
        if counted:
            held = state[params[0]].get("step")
            self.step = wrap(np.float32(0 if held is None else held._d))  # their own: others may have shared the former one
            for p in params:
                state[p]["step"] = self.step
        self.slices = [tuple(self.state[name][a:b] for name in names) for a, b in self.bounds]
        if not self.large:
            self.grads, self.deltas = self._views(self.grad), self._views(self.scratch)

    def _views(self, flat):
        out, start = [], 0
        for p in self.params:
            out.append(flat[start : start + p._d.size].reshape(p._d.shape))
            start += p._d.size
        return out

    def _flat(self, name, state):
        flat = np.zeros(self.n, self.dtype)
        for p, view in zip(self.params, self._views(flat), strict=True):
            held = state[p].get(name)
            if held is not None:
                view[...] = held._d
            state[p][name] = wrap(view)
        return flat

    def count(self):
        """Count one more step and return its number."""
        step = self.step
        step._d = np.float32(step._d + 1)
        return int(step._d)

    def run(self, update, *, decay=0.0, shrink=1.0, maximize=False, name="step"):
        """One step: ``update(g, out, work, *state)`` leaves in ``out`` what is to be subtracted from the parameters.

        decay     added times the parameter to the gradient; shrink  the parameter is first multiplied with this
        """
        if self.large:
            self._run_large(update, decay, shrink, maximize)
        else:
            self._run_small(update, decay, shrink, maximize)
        for p in self.params:
            storage_of(p).bump(name, None)
        self.first = False

    def _run_small(self, update, decay, shrink, maximize):
        for p, g in zip(self.params, self.grads, strict=True):
            if decay:
                np.multiply(p._d, decay, out=g)
                (np.subtract if maximize else np.add)(g, p._grad._d, out=g)
            elif maximize:
                np.negative(p._grad._d, out=g)
            else:
                g[...] = p._grad._d
        if len(self.bounds) == 1:
            update(self.grad, self.scratch, self.work, *self.slices[0])
        else:
            for (a, b), state in zip(self.bounds, self.slices, strict=True):
                update(self.grad[a:b], self.scratch[a:b], self.work[a:b], *state)
        for p, delta in zip(self.params, self.deltas, strict=True):
            d = p._d
            if type(d) is np.ndarray:
                if shrink != 1.0:
                    np.multiply(d, shrink, out=d)
                np.subtract(d, delta, out=d)
            else:
                p._d = d * d.dtype.type(shrink) - delta[()]

    def _run_large(self, update, decay, shrink, maximize):
        p = self.params[0]
        d = p._array()
        flat = d.reshape(-1) if d.flags.c_contiguous else np.ascontiguousarray(d).reshape(-1)
        grad = p._grad._d.reshape(-1)
        for (a, b), state in zip(self.bounds, self.slices, strict=True):
            g, part, out, work = grad[a:b], flat[a:b], self.scratch[: b - a], self.work[: b - a]
            if decay:
                np.multiply(part, decay, out=work)
                g = (np.subtract if maximize else np.add)(work, g, out=work)
            elif maximize:
                g = np.negative(g, out=work)
            update(g, out, work, *state)
            if shrink != 1.0:
                np.multiply(part, shrink, out=part)
            np.subtract(part, out, out=part)
        if not np.may_share_memory(flat, d):
            d[...] = flat.reshape(d.shape)


class Plan:
    """The batches of one parameter group, for as long as the same parameters have gradients."""

    def __init__(self, group, names, state, counted):
        self.params = list(group["params"])
        self.names = names
        active = [p for p in self.params if p._grad is not None]
        self.active = [p._grad is not None for p in self.params]
        self.arrays = [(p._d.dtype, p._d.shape) for p in self.params]
        together = {}
        for p in active:
            p._array() if p._d.ndim else None
            dtype, held = p._d.dtype, state[p]
            count = float(held["step"]._d) if "step" in held else 0.0
            has = bool(names) and names[0] in held
            key = id(p) if p._d.size >= SLICE else (dtype.str, count, has)
            together.setdefault(key, []).append(p)
        self.batches = [Batch(params, names, state, counted) for params in together.values()]

    def fits(self, group, names):
        """Whether the plan still describes the group."""
        params = group["params"]
        if len(params) != len(self.params) or names != self.names:
            return False
        for p, q, active, (dtype, shape) in zip(params, self.params, self.active, self.arrays, strict=True):
            d = p._d
            if p is not q or (p._grad is not None) is not active or d.dtype is not dtype or d.shape != shape:
                return False
        return True
