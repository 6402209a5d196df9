"""What an oracle would make of private halves of a grid: a limit that no release can tell how to reach.

Each node of a grid has noise of the least scale that epsilon allows.  The oracle knows the true
number of records at each node, so that only the upper half has noise to it; it smooths with the
kernel of the width that has the least expected error, which it knows for each query; and it takes
the best cells in hindsight.
"""
import numpy as np

WIDTHS = (0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11, 16)      # of smoothing, in bandwidths


def split(x, shares, lower, upper, cells):
    """Records, and their shares, divided linearly over the nodes of a grid"""
    dims = x.shape[1]
    size = (cells + 1,) * dims
    width = (np.array(upper) - lower) / cells
    place = np.clip((x - lower) / width, 0, cells)
    first = np.minimum(place.astype(int), cells - 1)
    rest = place - first
    records, above = np.zeros(np.prod(size)), np.zeros(np.prod(size))
    for corner in np.ndindex((2,) * dims):
        weights = np.where(corner, rest, 1 - rest).prod(axis=1)
        node = np.ravel_multi_index((first + corner).T, size)
        records += np.bincount(node, weights, minlength=len(records))
        above += np.bincount(node, weights * shares, minlength=len(records))
    places = np.stack(np.unravel_index(np.arange(len(records)), size), 1) * width + lower
    return places, records, above


def squared_error(kernels, records, above, truth, mean, variance):
    """The least expected one at a query"""
    of_noise = variance * (truth ** 2 + (1 - truth) ** 2)
    least = (mean - truth) ** 2             # by the mean of all
    for kernel in kernels:
        mass = kernel @ records
        if mass > 0:
            bias = kernel @ above / mass - truth
            least = min(least, bias ** 2 + of_noise * (kernel @ kernel) / mass ** 2)
    return least


def oracle(asked, epsilon, cells, kernel_at):
    """The root mean square error over queries, as a share"""
    task = asked.task
    places, records, above = split(asked.x, asked.share, task.lower, task.upper, cells)
    kept = records > 0                      # it knows where none are
    places, records, above = places[kept], records[kept], above[kept]
    errors = []
    for query, truth in zip(asked.queries, asked.truth):
        distances = np.linalg.norm((places - query) / task.bandwidths, axis=1)
        kernels = (kernel_at(distances / width) for width in WIDTHS)
        errors.append(squared_error(kernels, records, above, truth, asked.share.mean(), 2 / epsilon ** 2))
    return np.sqrt(np.mean(errors))
