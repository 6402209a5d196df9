"""Other private linear regressions, in NumPy: what race_regress is compared with.

Rows are [1, x] with columns in [-1, 1], clipped to a norm B; targets are in [-1, 1].  Each
method gets its settings (B, the radius of coefficients) by the best mean error in hindsight,
and delta > 0 noise by the tight conversion of zCDP: advantages that ours does not have.

SSP: noisy sums of products (Vu & Slavkovic 2009; Foulds et al. 2016).  AdaSSP: with a ridge that
adapts to the smallest eigenvalue (Wang 2018, algorithm 2).  OPS: one sample of the posterior
(Dimitrakakis et al. 2014; Wang, Fienberg & Smola 2015), the exponential mechanism with delta = 0.
AdaOPS: its scale adapts to the smallest eigenvalue and to the norm of the solution (Wang 2018, algorithm 3).
Objective perturbation: Kifer, Smith & Thakurta (2012), whose minimum has a closed form.
"""
import numpy as np
from scipy.optimize import brentq

NORMS = [1, 1.5, 2, 6 ** 0.5]   # B
RADII = [0.5, 1, 2]             # of coefficients


def rho_of(epsilon, delta):
    """The largest rho whose zCDP is (epsilon, delta)-DP (Canonne, Kamath & Steinke 2020)"""
    alpha = 1 + np.exp(np.linspace(-6, 8, 4000))

    def excess(log_rho):
        exponent = (alpha - 1) * (alpha * np.exp(log_rho) - epsilon)
        return np.min(exponent - np.log(alpha - 1) + alpha * np.log1p(-1 / alpha)) - np.log(delta)

    return np.exp(brentq(excess, -25, 5))


def clip(v, norm):
    return v * np.minimum(1, norm / np.linalg.norm(v, axis=1, keepdims=True))


def symmetric(random, d, draw):
    upper = np.triu(draw(random, (d, d)))
    return upper + np.triu(upper, 1).T


class Budget:
    """Gaussian noise, or Laplace noise with delta = 0"""

    def __init__(self, epsilon, delta, random):
        self.epsilon, self.delta, self.random = epsilon, delta, random
        self.rho = rho_of(epsilon, delta) if delta > 0 else None

    def noise(self, share, l2, l1, shape):
        if self.delta > 0:
            return self.random.normal(0, l2 / np.sqrt(2 * self.rho * share), shape)
        return self.random.laplace(0, l1 / (self.epsilon * share), shape)

    def products(self, share, v, norm):
        """v'v with noise; the triangle has L1 norm (d + 1) / 2 B^2"""
        d = v.shape[1]
        upper = np.triu(self.noise(share, norm ** 2, (d + 1) / 2 * norm ** 2, (d, d)))
        return v.T @ v + upper + np.triu(upper, 1).T

    def sums(self, share, v, y, norm):
        d = v.shape[1]
        return v.T @ y + self.noise(share, norm, np.sqrt(d) * norm, d)

    def smallest(self, share, v, norm):
        """A lower bound of the smallest eigenvalue"""
        if self.delta > 0:
            deviation = norm ** 2 / np.sqrt(2 * self.rho * share)
            margin = deviation * np.sqrt(2 * np.log(1 / self.delta))
        else:
            deviation = norm ** 2 / (self.epsilon * share)
            margin = deviation * np.log(20)
        return max(np.linalg.eigvalsh(v.T @ v)[0] +
                   self.noise(share, norm ** 2, norm ** 2, None) - margin, 0)


def ssp(v, y, norm, _, budget):
    return np.linalg.lstsq(budget.products(1 / 2, v, norm), budget.sums(1 / 2, v, y, norm),
                           rcond=None)[0]


def ada_ssp(v, y, norm, _, budget, failure=0.05):
    d = v.shape[1]
    smallest = budget.smallest(1 / 3, v, norm)
    scale = (norm ** 2 / np.sqrt(2 * budget.rho / 3) if budget.delta > 0 else
             (d + 1) / 2 * norm ** 2 / (budget.epsilon / 3))
    ridge = max(np.sqrt(d * np.log(2 * d ** 2 / failure)) * scale - smallest, 0)
    a = budget.products(1 / 3, v, norm) + ridge * np.eye(d)
    return np.linalg.lstsq(a, budget.sums(1 / 3, v, y, norm), rcond=None)[0]


def sample_in_ball(random, mean, precision, radius):
    """A normal sample within a ball, by Gibbs' sampler over directions; 0 is its start"""
    root = np.linalg.inv(np.linalg.cholesky(precision)).T
    theta = np.zeros(len(mean))
    for _ in range(300):
        direction = root @ random.normal(size=len(mean))
        along = direction @ precision @ direction
        center = direction @ precision @ (mean - theta) / along
        b, c = theta @ direction, direction @ direction
        reach = np.sqrt(max(b * b + c * (radius ** 2 - theta @ theta), 0))
        low, high = sorted(((-b - reach) / c, (-b + reach) / c))
        for _ in range(100):
            step = random.normal(center, 1 / np.sqrt(along))
            if low <= step <= high:
                break
        else:
            step = min(max(center, low), high)
        theta = theta + step * direction
    return theta


def ops(v, y, norm, radius, budget):
    """The exponential mechanism; the loss of a record is at most (1 + B radius)^2, and adding one
    changes all losses in one direction."""
    gamma = 2 * budget.epsilon / (1 + norm * radius) ** 2
    a = v.T @ v + 1e-3 * np.eye(v.shape[1])
    return sample_in_ball(budget.random, np.linalg.solve(a, v.T @ y), gamma * a, radius)


def ada_ops(v, y, norm, radius, budget):
    """A sample of N(solution, (gamma A)^-1).  A record with slope L = B (1 + B |solution|) moves the
    solution by L / (eigenvalue) and costs gamma L^2 / (2 eigenvalue) in zCDP."""
    d = v.shape[1]
    smallest = budget.smallest(1 / 4, v, norm)
    ridge = max(smallest, norm ** 2 * 4)
    a = v.T @ v + (ridge - smallest) * np.eye(d)
    solution = np.linalg.solve(a, v.T @ y)
    length = np.linalg.norm(solution)
    length = min(max(length + budget.noise(1 / 4, norm * (1 + norm * radius) / ridge,
                                           norm * (1 + norm * radius) / ridge, None), 0), radius)
    slope = norm * (1 + norm * length)
    half = budget.rho / 2 if budget.delta > 0 else (budget.epsilon / 2) ** 2 / 2
    return budget.random.multivariate_normal(solution, np.linalg.inv(a) * slope ** 2 /
                                             (2 * ridge * half))


def objective(v, y, norm, radius, budget):
    d = v.shape[1]
    slope = norm * (1 + norm * radius)
    epsilon = budget.epsilon
    if budget.delta > 0:
        deviation = slope * np.sqrt(8 * np.log(2 / budget.delta) + 4 * epsilon) / epsilon
        b = budget.random.normal(0, deviation, d)
    else:
        direction = budget.random.normal(size=d)
        b = direction / np.linalg.norm(direction) * budget.random.gamma(d, 2 * slope / epsilon)
    a, c = v.T @ v, v.T @ y - b

    def solve(ridge):
        return np.linalg.solve(a + ridge * np.eye(d), c)

    ridge = 2 * norm ** 2 / epsilon
    if np.linalg.norm(solve(ridge)) <= radius:
        return solve(ridge)
    return solve(brentq(lambda r: np.linalg.norm(solve(r)) - radius, ridge, 1e9))


METHODS = {'SSP': (ssp, True), 'AdaSSP': (ada_ssp, True), 'OPS': (ops, True),
           'AdaOPS': (ada_ops, False), 'objective perturbation': (objective, True)}


def settings(method):
    radii = [1] if method in ('SSP', 'AdaSSP') else RADII
    return [(norm, radius) for norm in NORMS for radius in radii]


def errors(method, v, y, test, truth, epsilon, delta, seed):
    """The mean square error of each setting; predictions are clipped to the bounds."""
    found = []
    for norm, radius in settings(method):
        budget = Budget(epsilon, delta, np.random.default_rng([seed, len(found)]))
        theta = METHODS[method][0](clip(v, norm), y, norm, radius, budget)
        found.append(np.mean((np.clip(test @ theta, -1, 1) - truth) ** 2))
    return found
