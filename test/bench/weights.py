"""Weights beside rows that are repeated: writes WEIGHTS.md to standard output.

	PGDATABASE=bench python3 -B test/bench/weights.py [RELEASES]

10,000 persons with whole weights from 1 to 20, as rows with a weight, and each as so many rows, with max_contributions = 20.  Both
are asked for the same, in units of weight 1: counts of ten towns, means of an income by town, the density of ages, and the mean
that moments tell.
"""
import math
import subprocess
import sys

import numpy as np

RELEASES = int(sys.argv[1]) if len(sys.argv) > 1 else 20
MOST = 20
TOWNS = 10
AGES = np.arange(25, 90, 8)
BANDWIDTH = 10


def sql(text):
    run = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-F", "\t"], input="SET client_min_messages = error;" + text,
                         capture_output=True, text=True, check=True)
    return np.array([line.split("\t") for line in run.stdout.splitlines()], dtype=float)


def prepare():
    checks = f"CHECK (town BETWEEN 0 AND {TOWNS - 1}), ADD CHECK (age BETWEEN 0 AND 99), ADD CHECK (income BETWEEN 0 AND 100)"
    return sql(f"""
DO $$ BEGIN PERFORM setseed(0.5); END $$;
CREATE TABLE weighted AS SELECT i, floor({TOWNS} * random() * random())::int AS town, floor(20 + 60 * random() ^ 2)::int AS age,
    100 * random() ^ 3 AS income, 1 + floor({MOST} * random() ^ 3)::int AS w FROM generate_series(1, 10000) i;
ALTER TABLE weighted ALTER town SET NOT NULL, ALTER age SET NOT NULL, ALTER income SET NOT NULL, ADD {checks};
CREATE TABLE repeated (LIKE weighted INCLUDING ALL);
INSERT INTO repeated SELECT r.* FROM weighted r, generate_series(1, w);
CALL race_protect('weighted', 'weighted', 1e6, 0.9);
CALL race_protect('repeated', 'repeated', 1e6, 0.9, max_contributions => {MOST});
SELECT town, age, income, w FROM weighted;""")


def kernel(distance):
    c = np.maximum(np.abs(distance) / BANDWIDTH, 1e-9)
    return np.vectorize(math.erf)(1 / c / np.sqrt(2)) - 2 * c / np.sqrt(2 * np.pi) * (1 - np.exp(-1 / (2 * c * c)))


def truth(rows):
    town, age, income, w = rows.T
    in_town = (town[:, None] == np.arange(TOWNS)) * w[:, None]
    return {"counts of towns": in_town.sum(0), "means by town": income @ in_town / in_town.sum(0),
            "density of ages": kernel(age[:, None] - AGES).T @ w / w.sum(), "mean of moments": np.array([income @ w / w.sum()])}


def release(dataset, number, epsilon, delta):
    """What one release of each kind answers"""
    name = f"{dataset} {epsilon} {delta} {number}"
    weight = f", weight => 'w', weight_max => {MOST}" if dataset == "weighted" else ""
    sketch = f"CALL race_release_sketch('{name} %s', '{dataset}', %s, '%s', epsilon => {epsilon}, delta => {delta}{weight});"
    found = sql(f"CALL race_release('{name}', '{dataset}', '{{town}}', epsilon => {epsilon}, delta => {delta}, measure => 'income'{weight});"
                + sketch % ("ages", f"race_params('l2', 1, {BANDWIDTH}, lower => '{{0}}', upper => '{{99}}')", "ARRAY[age]")
                + sketch % ("moments", "race_moment_params('{0}', '{100}', norm => 2, targets => 0)", "ARRAY[income]")
                + f"""
SELECT count FROM race_crosstab('{name}', 'town') WHERE value1 ~ '^[0-9]' ORDER BY value1;
SELECT coalesce(mean, 'NaN') FROM race_mean('{name}', 'income', by => 'town') WHERE value1 ~ '^[0-9]' ORDER BY value1;
SELECT race_kde(race_released('{name} ages'), ARRAY[age]) FROM unnest('{{{','.join(map(str, AGES))}}}'::float8[]) age;
SELECT (race_moments_matrix(race_released('{name} moments'))).means[1];""").ravel()
    sizes = np.cumsum([0, TOWNS, TOWNS, len(AGES), 1])
    return [found[a:b] for a, b in zip(sizes, sizes[1:])]


def main():
    rows = prepare()
    true = truth(rows)
    print(f"""# Weights, beside rows that are repeated

10,000 persons with whole weights from 1 to {MOST}, {rows[:, 3].sum():,.0f} in all: as rows with `weight => 'w', weight_max => {MOST}`, and each as so many rows, with `max_contributions => {MOST}`. Root of the mean
squared error of {RELEASES} releases, in units of weight 1: counts of {TOWNS} towns, means of an income (0 to 100) by town, with it as measure (of those that are told), the density of ages at {len(AGES)} places (in thousandths), and the mean of the income by moments. Made by `test/bench/weights.py`.

| ε, δ | | """ + " | ".join(true) + " |\n|---|---|" + "---|" * len(true))
    for epsilon in (0.1, 1, 10):
        for delta in (0, 1e-6):
            for dataset in ("weighted", "repeated"):
                answers = [release(dataset, i, epsilon, delta) for i in range(RELEASES)]
                cells = []
                for k, (question, exact) in enumerate(true.items()):
                    error = np.array([a[k] for a in answers]) - exact
                    cells.append(f"{np.sqrt(np.nanmean(error ** 2)) * (1000 if 'density' in question else 1):.3g}")
                print(f"| {epsilon}, {delta:g} | {dataset} | " + " | ".join(cells) + " |", flush=True)


main()
