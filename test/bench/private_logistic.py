"""Private logistic regression by objective perturbation (Chaudhuri, Monteleoni & Sarwate
2011, algorithm 2), in NumPy: what classifiers are compared with."""
import itertools

import numpy as np
from scipy.optimize import minimize

CURVATURE = 0.25        # of the logistic loss, at most
PENALTIES = 10.0 ** np.arange(-5, -0.9)
CLIPS = [0.5, 1, 2, 4]  # norm, in root mean square norms


def noise_of(random, dims, scale):
    """Its density falls like exp(-norm / scale)"""
    direction = random.standard_normal(dims)
    return direction / np.linalg.norm(direction) * random.gamma(dims, scale)


def fit(x, sign, epsilon, penalty, random):
    """The weights; x has norms up to 1.  An infinite epsilon adds no noise."""
    n, dims = x.shape
    noise, more = np.zeros(dims), 0
    if np.isfinite(epsilon):
        ratio = CURVATURE / (n * penalty)
        left = epsilon - np.log(1 + 2 * ratio + ratio ** 2)
        if left <= 0:
            more = max(CURVATURE / (n * np.expm1(epsilon / 4)) - penalty, 0)
            left = epsilon / 2
        noise = noise_of(random, dims, 2 / left)

    def loss(w):
        margin = sign * (x @ w)
        slope = -sign / (1 + np.exp(np.clip(margin, -500, 500)))
        return (np.logaddexp(0, -margin).mean() + noise @ w / n + (penalty + more) / 2 * w @ w,
                slope @ x / n + noise / n + (penalty + more) * w)

    return minimize(loss, np.zeros(dims), jac=True, method='L-BFGS-B').x


def classify(x, label, test, classes, epsilon, penalty, random):
    """What it says of tests: with more than two classes, each against the others, for its
    part of epsilon"""
    if classes == 2:
        return (test @ fit(x, 2 * label - 1, epsilon, penalty, random) > 0).astype(int)
    weights = [fit(x, np.where(label == c, 1, -1), epsilon / classes, penalty, random)
               for c in range(classes)]
    return np.argmax(test @ np.array(weights).T, axis=1)


def clipped(x, matrix, origin, norm):
    z = (x - origin) @ matrix.T / norm
    z = np.hstack([z, np.ones((len(z), 1))]) / np.sqrt(2)
    return z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1)


def scalings(public):
    """Of columns by public rows, and of all by their covariance"""
    covariance = np.cov(public.T)
    deviations = np.sqrt(np.diag(covariance))
    shrunk = 0.9 * covariance + 0.1 * np.diag(np.diag(covariance))
    return [np.diag(1 / deviations), np.linalg.inv(np.linalg.cholesky(shrunk))]


def best_accuracy(public, x, label, test, truth, epsilon, random):
    """At its best setting in hindsight: an advantage that ours do not have"""
    classes = label.max() + 1
    best = 0
    for matrix, clip in itertools.product(scalings(public), CLIPS):
        a, b = (clipped(of, matrix, public.mean(axis=0), clip * np.sqrt(len(matrix)))
                for of in (x, test))
        for penalty in PENALTIES:
            says = classify(a, label, b, classes, epsilon, penalty, random)
            best = max(best, np.mean(says == truth))
    return best
