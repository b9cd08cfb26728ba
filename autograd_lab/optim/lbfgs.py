"""LBFGS: a quasi-Newton method with limited memory."""

import numpy as np

from ..core.modes import enable_grad
from ..core.storage import storage_of
from ..core.tensor import wrap
from .each import as_real
from .line_search import strong_wolfe
from .optimizer import Optimizer, check_number


class LBFGS(Optimizer):
    """Newton-like steps p ← p + t d with d = −H g, where H ≈ inverse Hessian is rebuilt from the last steps and changes of g.

    One ``step`` makes up to max_iter such steps and calls the closure each time. All state is kept with the first parameter.

    Args:
        params: parameters (one group only)
        lr: length t of a step, or the first one tried by the line search (default: 1)
        max_iter: most steps in one call (default: 20)
        max_eval: most evaluations in one call (default: None: 1.25 · max_iter)
        tolerance_grad: stop when no gradient is larger (default: 1e-7)
        tolerance_change: stop when steps or the loss change less (default: 1e-9)
        history_size: how many steps are remembered (default: 100)
        line_search_fn: "strong_wolfe" or None for fixed steps (default: None)

    Raises: ValueError for a negative lr or several groups; RuntimeError for another line search.

    Example::

        opt = torch.optim.LBFGS(net.parameters(), line_search_fn="strong_wolfe")

        def closure():
            opt.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            return loss

        opt.step(closure)

    Source: Liu and Nocedal, On the Limited Memory BFGS Method for Large Scale Optimization, 1989.
    """

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
                 line_search_fn=None):  # fmt: skip
        check_number("lr", lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, dict(lr=lr, max_iter=max_iter, max_eval=max_eval, tolerance_grad=tolerance_grad,
                                      tolerance_change=tolerance_change, history_size=history_size,
                                      line_search_fn=line_search_fn))  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    # ----- parameters as one vector -----

    def _gradient(self):
        parts = []
        for p in self.param_groups[0]["params"]:
            g = np.zeros_like(p._array()) if p._grad is None else p._grad._array()
            parts.append(as_real(g).reshape(-1))
        return np.concatenate(parts)

    def _place(self):
        return [p._array().copy() for p in self.param_groups[0]["params"]]

    def _move(self, start, t, d):
        """Set the parameters to start + t d."""
        at = 0
        for p, s in zip(self.param_groups[0]["params"], start, strict=True):
            here, s = as_real(p._array()), as_real(s)
            here[...] = s + d[at : at + s.size].reshape(s.shape) * t
            at += s.size
            storage_of(p).bump("LBFGS.step", None)

    # ----- stepping -----

    def step(self, closure):
        """Make up to max_iter steps.

        Args: closure: clears gradients, computes the loss and its gradients and returns the loss. Returns: the first loss.
        """
        if self._hooks:
            self._call_hooks("pre", closure)
        self._step_count += 1
        first = self._steps(closure)
        if self._hooks:
            self._call_hooks("post", closure)
        return first

    def _steps(self, closure):
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with enable_grad():
            first = closure()
        loss, evaluations = float(first), 1
        state["func_evals"] += 1
        g = self._gradient()
        if np.abs(g).max() <= group["tolerance_grad"]:
            return first
        memory = _Memory(state, group["history_size"])
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            d = memory.direction(g)
            memory.previous, memory.loss = g, loss
            lr = float(group["lr"])
            memory.t = t = float(min(1.0, 1.0 / np.abs(g).sum())) * lr if state["n_iter"] == 1 else lr
            slope = float(g @ d)
            if slope > -group["tolerance_change"]:
                break
            last = n == group["max_iter"]
            loss, g, memory.t, more = self._advance(closure, group, t, d, slope, loss, g, evaluations, last)
            evaluations += more
            state["func_evals"] += more
            if last or evaluations >= group["max_eval"] or np.abs(g).max() <= group["tolerance_grad"]:
                break
            if np.abs(d * memory.t).max() <= group["tolerance_change"] or abs(loss - memory.loss) < group["tolerance_change"]:
                break
        memory.store(state)
        return first

    def _advance(self, closure, group, t, d, slope, loss, g, evaluations, last):
        """Move along d. Returns: loss, gradient, length and number of evaluations."""
        start, search = self._place(), group["line_search_fn"]

        def at(length):
            self._move(start, length, d)
            with enable_grad():
                value = float(closure())
            gradient = self._gradient()
            return value, gradient, float(gradient @ d)

        if search is None:
            if last:  # in a stochastic setting the loss at the last point is of no use
                self._move(start, t, d)
                return loss, g, t, 0
            value, gradient, _ = at(t)
            return value, gradient, t, 1
        if search != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        reach = float(np.abs(d).max())
        loss, g, t, more = strong_wolfe(at, t, slope, loss, g, reach, max_ls=group["max_eval"] - evaluations)
        self._move(start, t, d)
        return loss, g, t, more


class _Memory:
    """Past steps and changes of the gradient, and the direction that follows from them."""

    def __init__(self, state, size):
        arrays = lambda name: [a._array() for a in state.get(name) or []]  # noqa: E731
        single = lambda name: state[name]._array() if name in state else None  # noqa: E731
        self.size = size
        self.changes, self.moves = arrays("old_dirs"), arrays("old_stps")
        self.ro = [r._array()[()] for r in state.get("ro") or []]
        self.scale = state.get("H_diag", 1)
        if self.scale is not None and not isinstance(self.scale, int):
            self.scale = self.scale._array()[()]
        self.d, self.previous = single("d"), single("prev_flat_grad")
        self.t, self.loss = state.get("t"), state.get("prev_loss")
        self.al = None

    def direction(self, g):
        """−H g, after taking the last step into account."""
        if self.d is None:
            self.d = -g
            return self.d
        y, s = g - self.previous, self.d * self.t
        ys = y @ s
        if ys > 1e-10:
            if len(self.changes) == self.size:
                for held in (self.changes, self.moves, self.ro):
                    held.pop(0)
            self.changes.append(y)
            self.moves.append(s)
            self.ro.append(1 / ys)
            self.scale = ys / (y @ y)
        q = -g
        self.al = [None] * self.size
        for i in range(len(self.changes) - 1, -1, -1):
            self.al[i] = (self.moves[i] @ q) * self.ro[i]
            q -= self.changes[i] * self.al[i]
        q *= self.scale
        for i, y in enumerate(self.changes):
            q += self.moves[i] * (self.al[i] - (y @ q) * self.ro[i])
        self.d = q
        return q

    def store(self, state):
        """Write everything into an optimiser's state, as tensors."""
        state["d"], state["t"] = wrap(self.d), self.t
        state["old_dirs"], state["old_stps"] = [wrap(a) for a in self.changes], [wrap(a) for a in self.moves]
        state["ro"] = [wrap(r) for r in self.ro]
        state["H_diag"] = self.scale if isinstance(self.scale, int) else wrap(self.scale)
        state["prev_flat_grad"], state["prev_loss"] = wrap(self.previous), self.loss
        if self.al is not None:
            state["al"] = [None if a is None else wrap(a) for a in self.al]
