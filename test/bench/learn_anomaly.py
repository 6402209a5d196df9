"""Anomalies: how well race_typicality tells pulsars from other stars; prints a table.

learn_anomaly.py FOLDER RESULTS: a folder to work in, the file to write.  It needs a server with racepriv (PGHOST and
so on) where accuracy.sql has run.  test/bench/run has it all.

The sketch is of all records.  A record is the more anomalous, the less typical it is; pulsars
are the anomalies.  The measure is the area under the curve of true against false alarms (AUC).
"""
import sys

import numpy as np

from accuracy_tasks import numbers
from report import Report
from server import Session

SEEDS = 10
EPSILONS = [0.01, 0.1, 1]
BANDWIDTH = 0.2                 # of each column's public range
ROWS = 1024
BOX = "lower => '{0,0,0,0,0,0,0,0}', upper => '{1,1,1,1,1,1,1,1}'"
WITHIN = 0.005                  # of the exact density's AUC, at this epsilon:
CLAIMED = 0.1


def auc(scores, anomalous):
    """Scores without ties, or with few"""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(1, len(scores) + 1)
    n = anomalous.sum()
    return (ranks[anomalous].sum() - n * (n + 1) / 2) / n / (len(scores) - n)


def mahalanobis(x, epsilon, random):
    """Distances by mean and covariance with Laplace noise, of columns in [0, 1]: half of
    epsilon for the sums, half for those of products (in terms of 2 x - 1, whose products lie
    within +-1); the number of records is taken as known"""
    y = 2 * np.clip(x, 0, 1) - 1
    n, dims = y.shape
    mean = (y.sum(axis=0) + random.laplace(0, dims / (epsilon / 2), dims)) / n
    products = dims * (dims + 1) // 2
    noise = np.triu(random.laplace(0, products / (epsilon / 2), (dims, dims)))
    second = (y.T @ y + noise + np.triu(noise, 1).T) / n
    values, vectors = np.linalg.eigh(second - np.outer(mean, mean))
    least = np.sqrt(2) * products / (epsilon / 2) / n * np.sqrt(2 * dims)  # of the noise
    apart = (y - mean) @ vectors
    return (apart ** 2 / np.maximum(values, least)).sum(axis=1)


class Pulsars:
    def __init__(self, session):
        self.session = session
        self.x = np.array([numbers(line) for line in
                           session.run('SELECT x FROM pulsars ORDER BY id')[0]])
        self.anomalous = np.array(session.run('SELECT class FROM pulsars ORDER BY id')[0],
                                  int) == 1
        session.run(
            f'CREATE TEMP TABLE built AS SELECT seed, (SELECT race_build(race_params('
            f"'l2', 8, {BANDWIDTH}, seed => seed, rows => {ROWS}), x) FROM pulsars) AS s "
            f'FROM generate_series(1, {SEEDS}) seed')

    def auc_of(self, sketch):
        """AUC of each seed; sketch is SQL over s"""
        self.session.run('DROP TABLE IF EXISTS releases; CREATE TEMP TABLE releases AS '
                         f'SELECT seed, {sketch} AS r FROM built')
        lines, _ = self.session.run(
            'SELECT a.* FROM releases, LATERAL (SELECT array_agg(race_typicality(r, x) '
            'ORDER BY id) FROM pulsars) a ORDER BY seed')
        return np.array([auc(-numbers(line), self.anomalous) for line in lines])

    def exact(self):
        lines, _ = self.session.run(
            f"SELECT avg(race_kernel('l2(bandwidth={BANDWIDTH})', r.x, q.x)) FROM pulsars q, "
            '(SELECT x FROM pulsars WHERE id % 10 = 0) r GROUP BY q.id ORDER BY q.id')
        return auc(-np.array(lines, float), self.anomalous)

    def others(self, epsilon):
        return np.array([auc(mahalanobis(self.x, epsilon, np.random.default_rng(seed)),
                             self.anomalous) for seed in range(SEEDS)])


def shown(values):
    return f'{np.median(values):.4f} ({values.min():.4f})'


def main():
    report = Report()
    with Session() as session:
        session.run('SET client_min_messages = error')
        pulsars = Pulsars(session)
        exact = pulsars.exact()
        report.write('# Anomalies: AUC of race_typicality on pulsars\n\n'
                     f'Median (and worst) of {SEEDS} seeds, pure ε; exact density, by every tenth '
                     f'record: {exact:.4f}.\n')
        lines = []
        for epsilon in EPSILONS:
            raw = pulsars.auc_of(f'race_privatize(s, {epsilon})')
            fitted = pulsars.auc_of(f'race_fit(race_privatize(s, {epsilon}, fit => true), {BOX})')
            lines.append((f'{epsilon:g}', shown(raw), shown(fitted),
                          shown(pulsars.others(epsilon))))
            if epsilon == CLAIMED:
                report.at_most('AUC, thousandths below the exact, raw, median',
                               1000 * (exact - np.median(raw)), 1000 * WITHIN)
                report.at_most('AUC, thousandths below the exact, fitted, median',
                               1000 * (exact - np.median(fitted)), 1000 * WITHIN)
        report.table(('ε', 'raw', 'fitted', 'private Mahalanobis'), lines)
        report.conclude()
    with open(sys.argv[2], 'w') as file:
        file.write(report.text)


if __name__ == '__main__':
    main()
