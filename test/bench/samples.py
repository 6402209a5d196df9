"""Where records of a model of rows are no better than independent columns: the border in src/answers/sample.c.

	PGDATABASE=bench python3 -B test/bench/samples.py [DIMS,...]

In a database with racepriv.  Of made tables of 5,000 rows, six clusters or two factors, in the unit cube: the energy distance (Szekely & Rizzo
2013) of 1,500 drawn records from 1,500 others of the table's distribution, and of records whose columns are shuffled, over the mean
distance of two records; and the misfit of the model, which noisy rows tell.
"""
import subprocess
import sys

import numpy as np

RECORDS, DRAWN = 5000, 1500
DIMS = [int(d) for d in (sys.argv[1] if len(sys.argv) > 1 else "4,8,16,32").split(",")]
random = np.random.default_rng(5)


def sql(text):
    run = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-F", "|"], input="SET client_min_messages = error;" + text,
                         capture_output=True, text=True, check=True)
    return [line.split("|") for line in run.stdout.splitlines()]


def array(x):
    return "{" + ",".join(f"{v:.5g}" for v in x) + "}"


def distance(a, b):
    return np.sqrt(np.maximum((a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T, 0)).mean()


def energy(a, b, other):
    return max(2 * distance(a, b) - (distance(a, a) + distance(b, b)) * DRAWN / (DRAWN - 1), 0) / distance(b, other)


def tables(dims):
    centers, factors = random.random((6, dims)) * 0.8 + 0.1, random.normal(0, 0.16 / np.sqrt(2), (2, dims))
    yield "clusters", lambda n: centers[random.integers(0, 6, n)] + random.normal(0, 0.06, (n, dims))
    yield "factors", lambda n: 0.5 + random.normal(0, 1, (n, 2)) @ factors + random.normal(0, 0.03, (n, dims))


for dims in DIMS:
    for name, draw in tables(dims):
        x, y, z = (np.clip(draw(n), 0, 1) for n in (RECORDS, DRAWN, DRAWN))
        independent = np.stack([random.permutation(column) for column in x.T], 1)[:DRAWN]
        rows = "\n".join(map(array, x))
        sql(f"DROP TABLE IF EXISTS d; CREATE TABLE d (x float8[]);\n\\copy d FROM pstdin\n{rows}\n\\.\n")
        params = (f"race_params('l2', {dims}, {0.25 * np.sqrt(dims)}, rows => 1024, range => 64, "
                  f"lower => '{array([0] * dims)}', upper => '{array([1] * dims)}')")
        for epsilon, delta in ((0.1, 0), (1, 0), (1, 1e-6), (10, 1e-6)):
            sql(f"DROP TABLE IF EXISTS s; CREATE TABLE s AS SELECT race_fit(race_privatize(race_build({params}, x), {epsilon}, {delta}, fit => true)) AS s FROM d")
            sample = np.array([[float(v) for v in row[0].strip("{}").split(",")] for row in sql(f"SELECT x FROM s, race_sample(s, {DRAWN}, 1)")])
            found, rival = energy(sample, y, z), energy(independent, y, z)
            print(f"{dims} dims, {name}, epsilon {epsilon:g}, delta {delta:g}: samples {found:.3f}, independence {rival:.3f}, "
                  f"ratio {found / rival:.2f}, misfit {float(sql('SELECT misfit FROM s, race_info(s)')[0][0]):.3f}", flush=True)
