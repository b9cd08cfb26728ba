"""The state of one sweep: what has arrived where, un-broadcast, cast and accumulated, and who owns the buffers."""

from heapq import heappop, heappush

import numpy as np

from ..backend.memory import LARGE, is_fresh, pooled_numpy
from ..core.tape import LEAF, Node, Slot
from ..ops.shape import cast, sum_to


class Sweep:
    """The state of one sweep: cotangents waiting at nodes and leaves, and who owns their buffers.

    heap           negated sequence numbers of the nodes that wait
    nodes, pending node and cotangent by sequence number
    leaves         by ``id``: (leaf, cotangent so far, whether nobody else holds that array)
    owned          keys whose buffer an addition of this sweep made: only these are added to in place
    plan           which nodes lead to ``inputs=``, or None
    """

    __slots__ = ("create", "retain", "heap", "nodes", "pending", "leaves", "owned", "plan")

    def __init__(self, create, retain):
        self.create, self.retain = create, retain
        self.heap, self.nodes, self.pending, self.leaves, self.owned = [], {}, {}, {}, set()
        self.plan = None

    def begin(self, roots, grads):
        """Bring the seeds to the roots and return what to run first, as ``next`` does."""
        for root, g in zip(roots, grads, strict=True):
            node = root._node
            new = self.arrive(root if node is LEAF else node, g)[2]
            if new:
                heappush(self.heap, -new)
        return self.next()

    def next(self):
        """The newest node that waits, as (key, node, cotangent); (0, None, None) when none does."""
        if not self.heap:
            return 0, None, None
        key = -heappop(self.heap)
        return key, self.nodes.pop(key), self.pending.pop(key)

    # ----- arrivals -----

    def fit(self, g, shape, dtype):
        """Un-broadcast and cast a cotangent to the shape and dtype of the tensor it belongs to."""
        d = g._d if self.create else g
        if d.shape != shape:
            g = sum_to(g, shape)
            d = g._d if self.create else g
        if d.dtype is not dtype and d.dtype != dtype:
            g = cast(g, dtype)
        return g

    def add(self, key, before, g, owned):
        """Accumulate; in place only into a buffer that an earlier addition of this sweep made."""
        if self.create:
            return before + g
        if key in owned:
            return np.add(before, g, out=before)
        total = before + g if g.nbytes < LARGE else pooled_numpy.add(before, g)
        if type(total) is np.ndarray:
            owned.add(key)
        return total

    def arrive(self, edge, g, fresh=False):
        """Bring a cotangent to where ``edge`` leads. Returns (g as fitted, the total so far, key of a new node or 0)."""
        kind = type(edge)
        if kind is Node:
            key = edge.seq
            if self.plan is not None and key not in self.plan.needed:
                return g, g, 0
            g = self.fit(g, edge.shape, edge.dtype)
            before = self.pending.get(key)
            if before is None:
                self.pending[key] = g
                self.nodes[key] = edge
                return g, g, key
            total = self.pending[key] = self.add(key, before, g, self.owned)
            return g, total, 0
        if kind is Slot:
            return self._arrive_slot(edge, g)
        if self.plan is not None and id(edge) not in self.plan.wanted:
            return g, g, 0
        return (*self.reach_leaf(edge, g, fresh), 0)

    def reach_leaf(self, leaf, g, fresh):
        """Bring a cotangent to a leaf; ``fresh``: nobody else holds the array. Returns it as fitted, and the total so far."""
        d = leaf._d
        if self.create or g.shape != d.shape or g.dtype is not d.dtype:
            fitted = self.fit(g, d.shape, d.dtype)
            fresh = fresh or fitted is not g
            g = fitted
        key = id(leaf)
        before = self.leaves.get(key)
        if before is None:
            self.leaves[key] = (leaf, g, fresh)
            return g, g
        total = self.add(key, before[1], g, self.owned)
        self.leaves[key] = (leaf, total, True)
        return g, total

    def _arrive_slot(self, edge, g):
        node, nr = edge.node, edge.nr
        key = node.seq
        if self.plan is not None and key not in self.plan.needed:
            return g, g, 0
        g = self.fit(g, node.shape[nr], node.dtype[nr])
        waiting = self.pending.get(key)
        new = 0
        if waiting is None:
            waiting = self.pending[key] = [None] * len(node.shape)
            self.nodes[key] = node
            new = key
        before = waiting[nr]
        waiting[nr] = g if before is None else self.add((key, nr), before, g, self.owned)
        return g, waiting[nr], new


def is_ours(out, g, mine, edges):
    """Whether nobody else holds what a rule returned: a fresh array, or our own ``g`` handed on to one place."""
    if out is g:
        return mine and len(edges) == 1
    return type(out) is not np.ndarray or is_fresh(out)
