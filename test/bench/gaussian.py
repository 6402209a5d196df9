"""race_estimate(sketch, q, bandwidth => h): a Gaussian kernel, asked of private grids and of fitted rows.

Compared with the exact densities of the records (KernelDensity of scikit-learn with bandwidth h) and with a noisy
histogram of the best bin width in hindsight, convolved with the same Gaussian.  Errors are root mean squares over 200
queries, times 10⁴, of densities whose kernel is 1 at 0; coverage is that of 95 % intervals, the mean and the worst of 20
releases.  gaussian.py FOLDER [TABLE ...]: a folder to work in.  It needs a server with racepriv (PGHOST and so on); RACEPRIV_DATA
adds salaries.  LSQ, a folder with lsq.py of github talwagner/lsq, adds its authors' LSQ-RFF and LSQ-FGT at their best settings in
hindsight; they take the number of records for public.
"""
import os
import sys

import numpy as np

from fit_mixtures import MIXTURES
from gate import array
from server import Session, load

RELEASES = 20
DELTA = 1e-6


def gaussian(points, queries, weights, h):
    """Kernel sums, by blocks of queries"""
    return np.concatenate([np.exp(-((points[None] - block[:, None]) ** 2).sum(axis=2) / (2 * h * h)) @ weights
                           for block in np.array_split(queries, 100)])


def rms(found, truth):
    return 1e4 * np.sqrt(np.mean((found - truth) ** 2, axis=-1))


def histogram(x, queries, upper, h, truth, epsilon):
    random, best, dims = np.random.default_rng(1), np.inf, x.shape[1]
    for side in np.unique(np.geomspace(8, 2000 if dims == 1 else 150, 20).astype(int)):
        cells = np.minimum((np.clip(x / upper, 0, 1) * side).astype(int), side - 1)
        counts = np.bincount(np.ravel_multi_index(cells.T, (side,) * dims), minlength=side ** dims)
        noisy = counts[:, None] + random.laplace(0, 1 / epsilon, (side ** dims, RELEASES))
        centers = (np.stack(np.unravel_index(np.arange(side ** dims), (side,) * dims), 1) + 0.5) * upper / side
        sums = gaussian(centers, queries, noisy, h)
        best = min(best, rms((sums / np.maximum(noisy.sum(axis=0), 1)).T, truth).mean())
    return best


def lsq(x, queries, upper, h, truth, epsilon):
    sys.path.insert(0, os.environ['LSQ'])
    from lsq import LSQ_FGT, LSQ_RFF
    scale, dims = 1 / (h * np.sqrt(2)), x.shape[1]      # their kernel is exp(-|x - y|^2)
    np.random.seed(1)
    side = int(np.ceil(upper * scale)) + 2

    def error(mechanism, draws):
        errors = []
        for _ in range(draws):
            mechanism.sanitize(epsilon)
            errors.append(rms(mechanism.private_kde(queries * scale).ravel(), truth))
        return np.mean(errors)

    fourier = min(np.mean([error(LSQ_RFF(x * scale, dims, n), 2) for _ in range(4)]) for n in (16, 64, 256, 1024))
    gauss = min((error(LSQ_FGT(np.clip(x, 0, upper) * scale, dims, side, rho), 4) for rho in (2, 4, 6, 8)
                 if side ** dims * rho ** dims < 2e5), default=np.nan)
    return fourier, gauss


def measure(session, folder, name, x, queries, bandwidth, upper):
    dims = x.shape[1]
    for table, values in (('d', x), ('q', queries)):
        session.run(f'DROP TABLE IF EXISTS {table}')
        load(session, folder, table, values)
    box = f"lower => {array([0] * dims)}, upper => {array([upper] * dims)}"
    for kind, params, epsilon, delta, fit in (
            ('grid', "sequence => 'grid', ", 0.1, 0, ''), ('grid', "sequence => 'grid', ", 1, 0, ''),
            ('fitted rows, δ', 'rows => 1024, range => 1024, ', 1, DELTA, 'race_fit')):
        session.run(f"DROP TABLE IF EXISTS r; CREATE TABLE r AS SELECT i, {fit}(race_privatize(s, {epsilon}, {delta})) AS s FROM "
                    f"(SELECT race_build(race_params('l2', {dims}, {bandwidth}, {params}{box}), x) AS s FROM d) v, generate_series(1, {RELEASES}) i")
        for factor in (0.5, 1, 2):
            h = factor * bandwidth
            truth = gaussian(x, queries, np.ones(len(x)), h) / len(x)
            lines = session.run('SELECT array_agg(e.kernel_density ORDER BY id), array_agg(e.lower ORDER BY id), array_agg(e.upper ORDER BY id) '
                                f'FROM r, q, race_estimate(s, x, bandwidth => {h}) e GROUP BY i')[0]
            found = np.array([line.replace('{', '').replace('}', '').replace('|', ',').split(',') for line in lines], float)
            found = found.reshape(RELEASES, 3, len(queries)) * (np.sqrt(2 * np.pi) * h) ** dims
            held = 100 * ((found[:, 1] <= truth) & (truth <= found[:, 2])).mean(axis=1)
            rival = histogram(x, queries, upper, h, truth, epsilon) if delta == 0 else np.nan
            others = lsq(x, queries, upper, h, truth, epsilon) if delta == 0 and 'LSQ' in os.environ else (np.nan, np.nan)
            print(f'{name:10s} {kind:15s} ε={epsilon:<4} h={factor:<4} error {rms(found[:, 0], truth).mean():7.2f} '
                  f'histogram {rival:7.2f} LSQ-RFF {others[0]:7.2f} LSQ-FGT {others[1]:7.2f} coverage {held.mean():5.1f} worst {held.min():5.1f} '
                  f'width {1e4 * np.median(found[:, 2] - found[:, 1]):8.1f}', flush=True)


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    random = np.random.default_rng(3)
    with Session() as session:
        session.run('CREATE EXTENSION IF NOT EXISTS racepriv')
        if 'RACEPRIV_DATA' in os.environ and (not names or 'salaries' in names):
            x = np.loadtxt(os.path.join(os.environ['RACEPRIV_DATA'], 'salaries.csv.gz'), delimiter=',', skiprows=1)[:, None]
            measure(session, folder, 'salaries', x, np.linspace(10000, 250000, 200)[:, None], 5000, 260000)
        for mixture in MIXTURES:
            if mixture.name in (names or ('smooth', 'spiky', 'heavy', 'line', 'ring')):
                x, queries = mixture.generate()
                measure(session, folder, mixture.name, x, random.permutation(queries)[:200], mixture.bandwidth, 1)


main()
