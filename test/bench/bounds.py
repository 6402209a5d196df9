"""Bounds by noisy counts, beside others: writes BOUNDS.md.

	test/bench/run bounds
	PGDATABASE=bench python3 -B test/bench/bounds.py BOUNDS.md [REPEATS]

Each method says bounds of a column that nobody knows.  The column is described with them and released at epsilon = 1, and its mean and
quantiles are asked.  All methods see the same tables, whose seeds are fixed; noise is not.
"""
import io
import subprocess
import sys

import numpy as np

REPORT = sys.argv[1]
REPEATS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
SIZES = ((10000, 0.05), (10000, 0.2), (100000, 0.05))
QUANTILES = (0.1, 0.5, 0.9)
HINDSIGHT = (0, 0.0005, 0.002, 0.01)    # quantiles of bounds that are known exactly
OCTAVES = 256                           # counters by sign and binary exponent, as RACE_BOUNDS_OCTAVES
FALSE_ALARM = 1e-6                      # of all octaves without a number, one passes this often
METHODS = ("best", "octaves", "quantiles", "race_describe")


def salaries(rng, n):
    """Log-normal, with a Pareto tail for 2 %"""
    return np.round(np.where(rng.random(n) < 0.02, 60000 * (1 + rng.pareto(2, n)), 40000 * np.exp(rng.normal(0, 0.35, n))), 2)


TABLES = {
    "lognormal": lambda rng, n: np.exp(rng.normal(10, 1, n)),
    "normal far": lambda rng, n: rng.normal(1e6, 100, n),
    "integers": lambda rng, n: rng.poisson(4, n).astype(float),
    "heavy tail, signs": lambda rng, n: 100 * rng.standard_t(2, n),
    "salaries": salaries,
}


def psql(arguments, text):
    run = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-F", "\t"] + arguments, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return [line.split("\t") for line in run.stdout.splitlines()]


def load(name, x, whole):
    psql([], f"CREATE TABLE {name} (x {'int' if whole else 'float8'}); SET client_min_messages = warning; CALL race_protect('{name}', epsilon_limit => 1e6);")
    text = io.StringIO()
    np.savetxt(text, x, fmt="%d" if whole else "%.17g")
    psql(["-c", f"COPY {name} FROM STDIN"], text.getvalue())


def edge(k):
    """The lower end of octave k"""
    half = OCTAVES // 2
    return 0.0 if k == half else 2.0 ** (k - half - 64) if k > half else -2.0 ** (half - k - 64)


def octave(x):
    _, exponent = np.frexp(x)
    k = np.where(x == 0, 0, np.clip(exponent + 63, 0, OCTAVES // 2 - 1)).astype(int)
    return np.where(x < 0, OCTAVES // 2 - 1 - k, OCTAVES // 2 + k)


def octaves(rng, x, epsilon):
    """One reading with all of epsilon"""
    counts = np.bincount(octave(x), minlength=OCTAVES) + np.round(rng.laplace(0, 1 / epsilon, OCTAVES))
    passed = np.flatnonzero(counts >= np.log(OCTAVES / (2 * FALSE_ALARM)) / epsilon)
    return (edge(passed[0]), edge(passed[-1] + 1)) if len(passed) else (-1.0, 1.0)


def quantiles(rng, x, epsilon):
    """Octaves with half of epsilon, and two quantiles between them by the exponential mechanism, with a quarter each"""
    lower, upper = octaves(rng, x, epsilon / 2)
    points = np.concatenate([[lower], np.sort(np.clip(x, lower, upper)), [upper]])
    found = []
    for q in (0.002, 0.998):
        utility = -np.abs(np.arange(len(points) - 1) - q * len(x))
        with np.errstate(divide="ignore"):
            score = np.log(np.diff(points)) + epsilon / 4 / 2 * utility
        i = int(np.argmax(score + rng.gumbel(size=len(score))))
        found.append(rng.uniform(points[i], points[i + 1]))
    return min(found), max(found)


def describe(name, bounds, whole):
    lower, upper = (int(np.floor(bounds[0])), int(np.ceil(bounds[1]))) if whole else map(float, bounds)
    upper = upper if upper > lower else lower + 1
    psql([], f"SET client_min_messages = warning; CALL race_describe('{name}', 'x', lower => {lower!r}, upper => {upper!r});")
    return lower, upper


def ask(name, release, x):
    """The errors of the mean, in standard deviations, and of the quantiles, in interquartile ranges"""
    answer = psql([], f"""SET client_min_messages = warning; CALL race_release('{release}', '{name}', '{{x}}', epsilon => 1);
        SELECT mean FROM race_mean('{release}', 'x'); SELECT value FROM race_quantiles('{release}', 'x', '{{{','.join(map(str, QUANTILES))}}}') ORDER BY p;""")
    told = [float(value) for (value,) in answer]
    truth = np.quantile(x, QUANTILES, method="inverted_cdf")
    middle = np.diff(np.quantile(x, (0.25, 0.75)))[0]
    return abs(told[0] - x.mean()) / x.std(), np.mean(np.abs(np.array(told[1:]) - truth)) / middle


def measure(rng, number, table, n, epsilon):
    """For each method the errors of mean and quantiles, and the share of numbers beyond the bounds"""
    whole = table == "integers"
    x = TABLES[table](rng, n)
    name = f"t{number}"
    load(name, x, whole)
    best = []
    for q in HINDSIGHT:
        describe(name, np.quantile(x, (q, 1 - q)), whole)
        best.append(ask(name, f"{name} best {q}", x))
    found = {"best": (min(e[0] for e in best), min(e[1] for e in best), None)}
    for method, choose in (("octaves", octaves), ("quantiles", quantiles)):
        lower, upper = describe(name, choose(rng, x, epsilon), whole)
        found[method] = ask(name, f"{name} {method}", x) + (np.mean((x < lower) | (x > upper)),)
    (lower, upper), = psql([], f"""SET client_min_messages = warning; CALL race_describe('{name}', 'x'); CALL race_describe('{name}', 'x', bounds => 'private', epsilon => {epsilon});
        SELECT lower, upper FROM race_columns WHERE dataset = '{name}' AND column_name = 'x';""")
    found["race_describe"] = ask(name, f"{name} race_describe", x) + (np.mean((x < float(lower)) | (x > float(upper))),)
    psql([], f"DROP TABLE {name}")
    return found


def number(value):
    return f"{value:.0f}" if value >= 10 else f"{value:.4f}".removeprefix("0")


def main():
    rng = np.random.default_rng(1)
    tables = 0
    with open(REPORT, "w") as report:
        print(f"""# Bounds by noisy counts, beside others

`race_describe(…, bounds => 'private', epsilon => …)` on five made tables, one number a person, and then `race_release` of this column at ε = 1. The error of the mean is in standard deviations, that of the quantiles .1, .5 and .9, on average, in interquartile ranges; then the share of numbers beyond the bounds.
Medians of {REPEATS} tables (of shares means), all methods with the same tables. Made by `test/bench/run bounds`.

- *best*: the least error of four pairs of bounds that are known exactly: the extremes, and the quantiles .0005, .002 and .01 from either end. The least is taken for the mean and for the quantiles each.
- *octaves*: one reading with all of ε, counts by sign and binary exponent (as Google's and OpenDP's approximate bounds); those pass that one without a number does in one of 10⁶ searches.
- *quantiles*: octaves with half of ε, and between them the quantiles .002 and .998 by the exponential mechanism, with a quarter each.
- *race_describe*: octaves, cells for a centre, and octaves around it, with an eighth, an eighth and three quarters; beside an octave that passes, less is needed.

The tables: log-normal e^N(10, 1); N(10⁶, 10²), far from zero; Poisson with mean 4, integers; 100 times Student's t with 2 degrees, heavy tails of both signs; salaries, log-normal with σ = .35 and a Pareto tail for 2 %.

| rows, ε of bounds | table | {" | ".join(METHODS)} |
|---|---|{"---|" * len(METHODS)}""", file=report)
        for n, epsilon in SIZES:
            for table in TABLES:
                found = []
                for _ in range(REPEATS):
                    tables += 1
                    found.append(measure(rng, tables, table, n, epsilon))
                cells = []
                for method in METHODS:
                    mean, middle = (np.median([f[method][i] for f in found]) for i in (0, 1))
                    beyond = "" if method == "best" else f", {100 * np.mean([f[method][2] for f in found]):.1f} %"
                    cells.append(f"{number(mean)} / {number(middle)}{beyond}")
                print(f"| {n:,}, {epsilon} | {table} | " + " | ".join(cells) + " |", file=report, flush=True)


main()
