"""The Fisher–Yates shuffle from the front, for given draws, without a Python loop over many elements."""

import numpy as np

_BY_HAND = 256


def fisher_yates(target):
    """The order after every step i = 0, 1, … has exchanged places i and ``target[i]``, where ``target[i] >= i``.

    Args: target, an int64 array. Returns: a list or an array of the numbers below ``len(target)``.
    """
    return _loop(target.tolist()) if len(target) <= _BY_HAND else _chains(target)


def _loop(target):
    """The definition, which is fastest for few elements."""
    order = list(range(len(target)))
    for i, t in enumerate(target):
        order[i], order[t] = order[t], order[i]
    return order


def _chains(target):
    """All steps at once.

    Step i takes what lies at place target[i] and leaves there what lay at place i. So what lies at a place is what the
    latest earlier step aimed at that place left, which was lying at that step's own place at the time: a chain of
    places that ends at one never aimed at before, whose content is still its own number. Sorting the steps by target
    finds for every step the latest earlier one with the same target; following the links of all chains, two at a time,
    four at a time and so on, finds all ends.
    """
    n = len(target)
    index = np.int32 if n < 1 << 31 else np.int64
    bits = n.bit_length()
    steps = np.arange(n)
    keys = np.sort((target << bits) | steps)
    by_target, step = (keys >> bits).astype(index), (keys & ((1 << bits) - 1)).astype(index)
    same = by_target[1:] == by_target[:-1]

    # earlier[i]: the latest step before i with i's target, or -1.
    before = np.where(same, step[:-1], index(-1))
    earlier = np.full(n, -1, index)
    earlier[step[1:]] = before

    # link[k]: the latest step before k that aimed at place k, or k itself. Steps aimed at k come no later than k, so it
    # is the last of them, unless that is step k, which aims at its own place; then it is the one before.
    link = steps.astype(index)
    last = np.append(~same, True)
    place, latest = by_target[last], step[last]
    latest = np.where(latest == place, earlier[place], latest)
    aimed = latest >= 0
    link[place[aimed]] = latest[aimed]
    moving = np.flatnonzero(link != steps)
    while len(moving):
        now = link[moving]
        further = link[now]
        link[moving] = further
        moving = moving[further != now]
    # A place never aimed at before still has its own number; if it is the step's own, a chain may lead to it.
    return np.where(earlier >= 0, link[earlier], np.where(target == steps, link, target))
