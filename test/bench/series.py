"""Series beside other ways to release a table that grows: writes SERIES.md to standard output.

	PGDATABASE=bench python3 -B test/bench/series.py [DAYS [ROWS]]

365 days of 10,000 rows, epsilon = 1 for all of them, a row is protected.  Asked is how many rows of each of ten towns a period
has: each day, month and year, and each week that begins on any day.  The rivals, with the same code and the same split between
count and table (noise is drawn here, with the deviation that a release states):

	versions	a release each day of all rows so far, each with epsilon / 365 (basic) or rho / 365; a period is a difference
	days		a release each day of this day's rows, with all of epsilon: disjoint; a period is a sum
	split		days, months and the year, disjoint each, with the parts of epsilon that are best for these four questions
"""
import subprocess
import sys
import time

import numpy as np

DAYS = int(sys.argv[1]) if len(sys.argv) > 1 else 365
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
TOWNS = 10
DELTA = {"pure": 0.0, "delta": 1e-6}
START = np.datetime64("2025-01-01")


def sql(text):
    run = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-F", "\t"], input="SET client_min_messages = warning;" + text,
                         capture_output=True, text=True, check=True)
    return [line.split("\t") for line in run.stdout.splitlines()]


def prepare():
    sql(f"""
CREATE TABLE grown AS SELECT date '{START}' + i / {ROWS} AS on_day, ((i * 7919::bigint) % 1009 % 55) AS place FROM generate_series(0, {DAYS * ROWS - 1}) i;
ALTER TABLE grown ADD town int CHECK (town BETWEEN 0 AND {TOWNS - 1});
UPDATE grown SET town = floor((sqrt(8.0 * place + 1) - 1) / 2);
ALTER TABLE grown ALTER town SET NOT NULL; CREATE INDEX ON grown (on_day); VACUUM ANALYZE grown;
CREATE TABLE small (town int NOT NULL CHECK (town BETWEEN 0 AND {TOWNS - 1}));
CALL race_protect('grown', 'grown', 1e6, 0.5); CALL race_protect('small', 'small', 1e9, 0.5);""")
    exact = np.zeros((DAYS, TOWNS))
    for day, town, n in sql(f"SELECT on_day - date '{START}', town, count(*) FROM grown GROUP BY 1, 2"):
        exact[int(day), int(town)] = int(n)
    return exact


def series(name, delta):
    """The series, and the seconds that its days took"""
    sql(f"""CALL race_release('{name}', 'grown', '{{town}}', 1, {delta}, series => '{{"by": "on_day", "every": "1 day",
        "starting": "{START}", "until": "{START + DAYS}"}}');""")
    start = time.time()
    sql(f"CALL race_release_next('{name}')")
    return time.time() - start


def ask(name, periods):
    """The counts of towns in each period"""
    answers = sql("".join(f"SELECT count FROM race_crosstab('{name}[{START + a},{START + b})', 'town');" for a, b in periods))
    return np.array(answers, dtype=float).reshape(len(periods), TOWNS)


def stated(epsilon, delta, rho=None):
    """The deviation of a count of a release; epsilon such that the release costs this rho"""
    name = f"small {epsilon} {delta} {rho}"
    if rho is not None:
        low, high = 1e-9, 10.0
        for _ in range(60):
            middle = (low + high) / 2
            cost = float(sql(f"SELECT coalesce(_racepriv._race_rho_limit({middle!r}, {delta}), 0)")[0][0])
            low, high = (middle, high) if cost <= rho else (low, middle)
        epsilon = low
    sql(f"CALL race_release('{name}', 'small', '{{town}}', {epsilon!r}, {delta});")
    return float(sql(f"SELECT counter_noise_stddev FROM race_info('{name}')")[0][0])


def noise(rng, deviation, pure, shape):
    return np.round(rng.laplace(0, deviation / np.sqrt(2), shape) if pure else rng.normal(0, deviation, shape))


def questions():
    asked = {"day": [(i, i + 1) for i in range(DAYS)], "week from any day": [(i, i + 7) for i in range(DAYS - 6)]}
    asked["month"] = [(i, i + 30) for i in range(0, DAYS - 29, 30)]
    asked["year"] = [(0, DAYS)]
    return asked


def rivals(rng, pure, asked):
    """The errors of all rivals, for each question"""
    delta = DELTA["pure" if pure else "delta"]
    rho = None if pure else float(sql(f"SELECT _racepriv._race_rho_limit(1, {delta})")[0][0])
    part = (lambda p: stated(p, delta)) if pure else (lambda p: stated(None, delta, rho * p))
    prefix = np.concatenate([np.zeros((1, TOWNS)), noise(rng, part(1 / DAYS), pure, (DAYS, TOWNS))])
    basic = np.concatenate([np.zeros((1, TOWNS)), noise(rng, stated(1 / DAYS, delta / DAYS), pure, (DAYS, TOWNS))]) if not pure else prefix
    days = noise(rng, part(1), pure, (DAYS, TOWNS))
    weights = np.array([1 + np.sqrt(7), 1, 1]) ** (1 / 2 if pure else 2 / 3)
    shares = weights / weights.sum()
    split = [noise(rng, part(s), pure, (n, TOWNS)) for s, n in zip(shares, (DAYS, len(asked["month"]), 1))]
    errors = {"versions, basic": {}, "versions, zCDP": {}, "days": {}, "split": {}}
    for question, periods in asked.items():
        errors["versions, basic"][question] = np.array([basic[b] - basic[a] for a, b in periods])
        errors["versions, zCDP"][question] = np.array([prefix[b] - prefix[a] for a, b in periods])
        errors["days"][question] = np.array([days[a:b].sum(0) for a, b in periods])
        errors["split"][question] = split[1] if question == "month" else split[2] if question == "year" else \
            np.array([split[0][a:b].sum(0) for a, b in periods])
    if pure:
        del errors["versions, zCDP"]
    return errors


def main():
    rng = np.random.default_rng(1)
    exact = prepare()
    asked = questions()
    print(f"""# Series: one charge for a table that grows

{DAYS} days of {ROWS:,} rows, ε = 1 in all, a row is protected. Root of the mean squared error of the counts of {TOWNS} towns in a period. `series` is measured; the noise of rivals is drawn with
the deviation that a release of this ε states: `versions` are releases each day of all rows so far, `days` of each day's rows alone (disjoint, all of ε: a series of one length), `split` are days, months and the year, with the best parts of ε for these four questions, of which it can answer no others.
Made by `test/bench/series.py`.
""")
    for kind, delta in DELTA.items():
        seconds = series(kind, delta)
        errors = {"series": {q: ask(kind, p) - np.array([exact[a:b].sum(0) for a, b in p]) for q, p in asked.items()}}
        errors.update(rivals(rng, kind == "pure", asked))
        print(f"## δ = {delta:g}\n\n| | " + " | ".join(asked) + " |\n|---|" + "---|" * len(asked))
        for name, found in errors.items():
            print(f"| {name} | " + " | ".join(f"{np.sqrt((found[q] ** 2).mean()):.1f}" for q in asked) + " |")
        print(f"\nMaking the values of a day took {1000 * seconds / DAYS:.0f} ms on the average, of all of {DAYS} days with one call.\n")


main()
