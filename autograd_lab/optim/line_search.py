"""Line search for LBFGS: a step that satisfies the strong Wolfe conditions."""

import math


def cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """The minimum, within bounds, of the cubic through two points with their slopes."""
    low, high = bounds or (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if not square >= 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    if x1 > x2:
        x1, g1, x2, g2 = x2, g2, x1, g1
    below = g2 - g1 + 2 * d2
    if not below:
        return (low + high) / 2
    return min(max(x2 - (x2 - x1) * ((g2 + d2 - d1) / below), low), high)


def strong_wolfe(at, t, slope, f, g, reach, *, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_ls=25):
    """Find a step length.

    Args: at: gives loss, gradient and slope at a step length; t: first length; slope, f, g: at length 0; reach: largest
    element of the direction; c1, c2: constants of the conditions. Returns: loss, gradient, length, number of evaluations.
    """
    points, done, tries = _bracket(at, t, slope, f, g, c1, c2, max_ls)
    evaluations = tries + 1
    low, high = (0, 1) if points[0][1] <= points[-1][1] else (1, 0)
    stuck = False
    while not done and tries < max_ls:
        (x1, f1, _, g1), (x2, f2, _, g2) = points
        if abs(x2 - x1) * reach < tolerance_change:
            break
        t = cubic_minimum(x1, f1, g1, x2, f2, g2)
        left, right = min(x1, x2), max(x1, x2)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:
            if stuck or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        new = (t, *at(t))
        evaluations += 1
        tries += 1
        if new[1] > f + c1 * t * slope or new[1] >= points[low][1]:
            points[high] = new
            low, high = (0, 1) if points[0][1] <= points[1][1] else (1, 0)
        else:
            if abs(new[3]) <= -c2 * slope:
                done = True
            elif new[3] * (points[high][0] - points[low][0]) >= 0:
                points[high] = points[low]
            points[low] = new
    t, f_new, g_new, _ = points[low]
    return f_new, g_new, t, evaluations


def _bracket(at, t, slope, f, g, c1, c2, max_ls):
    """Two points (length, loss, gradient, slope) around a good step, or one that is good; whether it is; lengthenings."""
    start = before = (0, f, g, slope)
    new = (t, *at(t))
    tries = 0
    while tries < max_ls:
        if new[1] > f + c1 * t * slope or (tries > 1 and new[1] >= before[1]):
            return [before, new], False, tries
        if abs(new[3]) <= -c2 * slope:
            return [new], True, tries
        if new[3] >= 0:
            return [before, new], False, tries
        bounds = (t + 0.01 * (t - before[0]), t * 10)
        longer = cubic_minimum(before[0], before[1], before[3], t, new[1], new[3], bounds)
        before, t = new, longer
        new = (t, *at(t))
        tries += 1
    return [start, new], False, tries
