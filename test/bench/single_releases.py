"""Coverage of single releases of rows: what the errors of all densities of a release have in common, and what intervals hold.

single_releases.py FOLDER TABLE KIND EPSILON [RELEASES]: a folder to work in; a table of fit_mixtures.py, or salaries, skin or pulsar in
RACEPRIV_DATA; kinds are raw, fitted, pure (raw or fitted, chosen for a fit) and grid.  It needs a server with racepriv (PGHOST and so on).  Each
release has row functions and noise of its own.  Before: Student's distribution with the degrees of freedom of the blocks of rows alone.
"""
import sys

import numpy as np

import gate
from gate import array
from server import Session, load

STUDENT = {15: 2.1314, 7: 2.3646}


def release(session, folder, name, kind, epsilon, releases):
    x, q, h, upper = (gate.real_density if name in ('salaries', 'skin', 'pulsar') else gate.made_density)(name)
    q, d = q[np.random.default_rng(3).permutation(len(q))[:200]], x.shape[1]
    for table, values in (('d', x), ('q', q)):
        session.run(f'DROP TABLE IF EXISTS {table}')
        load(session, folder, table, values)
    box = f'lower => {array([0] * d)}, upper => {array([upper] * d)}'
    rows = "sequence => 'grid', " if kind == 'grid' else 'rows => 1024, range => 1024, seed => i, '
    private = f"race_privatize((SELECT race_build(race_params('l2', {d}, {h}, {rows}{box}), x) FROM d), {epsilon}, " + {
        'raw': '1e-6)', 'fitted': '1e-6)', 'pure': '0, fit => true)', 'grid': '0, fit => true)'}[kind]
    session.run(f'CREATE TEMP TABLE r AS SELECT i, {"race_fit" if kind in ("fitted", "pure") else ""}({private}) AS s FROM generate_series(1, {releases}) i')
    rows = session.run('SELECT kernel_density, standard_error, e.lower, e.upper, race_count(s), (race_info(s)).rows FROM r, q, race_estimate(s, x) e ORDER BY i, id')[0]
    truth = gate.kernel_sums(x / h, q / h, np.ones((len(x), 1)))[:, 0] / len(x)
    return len(x), truth, np.array([row.split('|') for row in rows], float).reshape(releases, len(q), 6)


def main():
    folder, name, kind, epsilon, releases = *sys.argv[1:4], float(sys.argv[4]), int((sys.argv[5:] or [20])[0])
    with Session() as session:
        n, truth, a = release(session, folder, name, kind, epsilon, releases)
    error, deviation = a[..., 0] - truth, a[..., 1]
    factor = error @ truth / (truth @ truth)
    counted = a[:, 0, 4] / n - 1
    slope = factor @ counted / (counted @ counted)
    z = error / deviation
    eigenvalues = np.linalg.eigvalsh(z.T @ z)
    k = 1 / max(np.sum(eigenvalues ** 2) / np.sum(eigenvalues) ** 2 - 1 / releases, 1e-9)
    parts = [1 - np.sum((error - np.outer(f, truth)) ** 2) / np.sum(error ** 2) for f in (factor, slope * counted)]
    print(f'{name} {kind} ε={epsilon:g}: of squared errors a factor of a release {parts[0]:.2f}, its count {parts[1]:.2f}; '
          f'independent errors {k:.1f}')
    before = STUDENT.get(15 if a[0, 0, 5] >= 32 else 7) if kind != 'grid' else 1.96
    for what, lower, upper in (('before', a[..., 0] - before * deviation, a[..., 0] + before * deviation), ('now', a[..., 2], a[..., 3])):
        held = 100 * np.mean((lower <= truth) & (truth <= upper), axis=1)
        print(f'  {what:6} coverage {held.mean():.1f}, the worst of 20', *[f'{held[i:i + 20].min():.1f}' for i in range(0, releases, 20)],
              f'width {1e4 * np.mean(upper - lower):.2f}')


main()
