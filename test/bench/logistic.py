"""Private logistic regression by objective perturbation (Chaudhuri, Monteleoni & Sarwate
2011, algorithm 2): what classifiers are held against."""
import numpy as np

REGULARIZATIONS = [1e-4, 1e-3, 1e-2, 1e-1]
RADII = [2, 4, 8]       # of scaled records, which are clipped to it
CURVATURE = 1 / 4       # at most that of the logistic loss
STEPS = 50              # of Newton's method


def clip(x, radius):
    """To the unit ball, with a column for the intercept"""
    x = np.column_stack([x / radius, np.ones(len(x))]) / np.sqrt(2)
    return x / np.maximum(np.linalg.norm(x, axis=1), 1)[:, None]


def draw_noise(random, dims, epsilon):
    direction = random.standard_normal(dims)
    return direction / np.linalg.norm(direction) * random.gamma(dims, 2 / epsilon)


def private_weights(x, sign, epsilon, regularization, random):
    """x in the unit ball; sign is 1 or -1"""
    n, dims = x.shape
    ratio = CURVATURE / (n * regularization)
    left = epsilon - 2 * np.log1p(ratio)
    if left <= 0:
        regularization = CURVATURE / (n * np.expm1(epsilon / 4))
        left = epsilon / 2
    noise = draw_noise(random, dims, left)
    weights = np.zeros(dims)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(np.clip(sign * (x @ weights), -500, 500)))
        gradient = -(x.T @ (sign * p)) / n + regularization * weights + noise / n
        hessian = (x.T * (p * (1 - p))) @ x / n + regularization * np.eye(dims)
        step = np.linalg.solve(hessian, gradient)
        weights = weights - step / max(1, np.linalg.norm(step) / 10)
        if np.linalg.norm(step) < 1e-10:
            break
    return weights


def best_objective_perturbation(x, is_class, test_x, test_is_class, epsilon, seed):
    """The accuracy of each setting, for the best in hindsight"""
    random = np.random.default_rng(seed)
    return [np.mean((clip(test_x, radius) @ private_weights(
        clip(x, radius), np.where(is_class, 1, -1), epsilon, regularization, random) > 0)
        == test_is_class) for radius in RADII for regularization in REGULARIZATIONS]


def calibration_error(highest, right):
    """How far the largest probabilities are from how often they are right, in 10 bins"""
    bins = np.minimum((highest * 10).astype(int), 9)
    return sum(abs(right[bins == b].sum() - highest[bins == b].sum()) for b in range(10)) / len(highest)
