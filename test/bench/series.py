"""Series beside other ways to release a table that grows: writes SERIES.md.

	test/bench/run series
	PGDATABASE=bench python3 -B test/bench/series.py SERIES.md [DAYS [ROWS]]

365 days of 10,000 rows, epsilon = 1 for all of them, a row is protected.  Asked is how many rows of each of ten towns a period
has: each day, month and year, each week that begins on any day, and the time from the first day to each.  The rivals, with the
same code and the same split between count and table (noise is drawn here, with the deviation that a release states):

	versions	a release each day of all rows so far, each with epsilon / 365 (basic) or rho / 365; a period is a difference
	days		a release each day of this day's rows, with all of epsilon: disjoint; a period is a sum
	dyadic		values of 1, 2, 4, ... 256 days, a ninth of epsilon each; the best linear unbiased estimate of them all, which is Honaker's
	split		days, months and the year, disjoint each, with the best parts of epsilon for day, week, month and year

Then how many lengths are good for so many intervals: variances, which are computed.
"""
import subprocess
import sys
import time

import numpy as np

REPORT = sys.argv[1]
DAYS = int(sys.argv[2]) if len(sys.argv) > 2 else 365
ROWS = int(sys.argv[3]) if len(sys.argv) > 3 else 10000
BASE = 8            # RACE_SERIES_BASE
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
-- budgets in rho have Gaussian noise: else so few counters get pure noise with a delta, too
CREATE TABLE grown_delta (LIKE grown INCLUDING ALL); INSERT INTO grown_delta TABLE grown; VACUUM ANALYZE grown_delta;
CREATE TABLE small_delta (LIKE small INCLUDING ALL);
CALL race_protect('grown', epsilon_limit => 1e6); CALL race_protect('small', epsilon_limit => 1e9);
CALL race_protect('grown_delta', epsilon_limit => 1e6, delta_limit => 0.5, accounting => 'zcdp');
CALL race_protect('small_delta', epsilon_limit => 1e6, delta_limit => 0.5, accounting => 'zcdp');""")
    exact = np.zeros((DAYS, TOWNS))
    for day, town, n in sql(f"SELECT on_day - date '{START}', town, count(*) FROM grown GROUP BY 1, 2"):
        exact[int(day), int(town)] = int(n)
    return exact


def declare(name, delta, days):
    sql(f"""CALL race_release('{name}', 'grown{'_delta' if delta else ''}', '{{town}}', 1, {delta}, series => '{{"by": "on_day", "every": "1 day",
        "starting": "{START}", "until": "{START + days}"}}');""")


def close(name):
    """Make what is over: the seconds that it took"""
    start = time.time()
    sql(f"CALL race_release_next('{name}')")
    return time.time() - start


def series(name, delta):
    """The series: the seconds that its days took with one call, and that a day takes by itself, as it does each night"""
    nights = []
    for night in range(3):
        declare(f"{name} {night}", delta, 1)
        nights.append(close(f"{name} {night}"))
    declare(name, delta, DAYS)
    return close(name), float(np.median(nights))


def incidence(days, lengths):
    """Which days each value has: of all values of these lengths"""
    return np.array([(np.arange(days) >= f) & (np.arange(days) < f + n) for n in lengths for f in range(0, days - n + 1, n)], dtype=float)


def powers(base, days, most=99):
    """Lengths of values: 1, base, ... as far as they fit"""
    return [base ** k for k in range(most) if base ** k <= days]


def ask(name, periods):
    """The counts of towns in each period, and the deviation that their intervals of 95 % state"""
    answers = sql("".join(f"SELECT count, (upper - count) / 1.96 FROM race_crosstab('{name}[{START + a},{START + b})', 'town');" for a, b in periods))
    answers = np.array(answers, dtype=float).reshape(len(periods), TOWNS, 2)
    return answers[:, :, 0], answers[:, :, 1]


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
    sql(f"CALL race_release('{name}', 'small{'_delta' if delta else ''}', '{{town}}', {epsilon!r}, {delta});")
    return float(sql(f"SELECT counter_noise_stddev FROM race_info('{name}')")[0][0])


def noise(rng, deviation, pure, shape):
    return np.round(rng.laplace(0, deviation / np.sqrt(2), shape) if pure else rng.normal(0, deviation, shape))


def questions():
    asked = {"day": [(i, i + 1) for i in range(DAYS)], "week from any day": [(i, i + 7) for i in range(DAYS - 6)]}
    asked["month"] = [(i, i + 30) for i in range(0, DAYS - 29, 30)]
    asked["year"] = [(0, DAYS)]
    asked["from the first day"] = [(0, i + 1) for i in range(DAYS)]
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
    lengths = powers(2, DAYS)
    values = incidence(DAYS, lengths)
    dyadic = np.linalg.lstsq(values, noise(rng, part(1 / len(lengths)), pure, (len(values), TOWNS)), rcond=None)[0]
    errors = {"dyadic": {}, "versions, basic": {}, "versions, zCDP": {}, "days": {}, "split": {}}
    for question, periods in asked.items():
        errors["versions, basic"][question] = np.array([basic[b] - basic[a] for a, b in periods])
        errors["versions, zCDP"][question] = np.array([prefix[b] - prefix[a] for a, b in periods])
        errors["dyadic"][question] = np.array([dyadic[a:b].sum(0) for a, b in periods])
        errors["days"][question] = np.array([days[a:b].sum(0) for a, b in periods])
        errors["split"][question] = split[1] if question == "month" else split[2] if question == "year" else \
            np.array([split[0][a:b].sum(0) for a, b in periods])
    if pure:
        del errors["versions, zCDP"]
    return errors


def of_lengths(report):
    """How many lengths are good: deviations of the best linear unbiased estimate, in those of one value with all of epsilon"""
    print("""## How many lengths

Deviation of the count of one interval, of all of them, and of any period (the mean over all), in those of a release with all of ε; computed, of the best linear unbiased estimate.

| intervals | lengths | one, δ = 0 | all | any | one, δ > 0 | all | any |
|---|---|---|---|---|---|---|---|""", file=report)
    for intervals in (12, 52, 92, 182, 365, 730):
        for levels in range(1, 1 + len(powers(BASE, intervals))):
            values = incidence(intervals, powers(BASE, intervals, levels))
            sums = np.zeros((intervals + 1, intervals + 1))
            sums[1:, 1:] = np.linalg.inv(values.T @ values).cumsum(0).cumsum(1)
            variance = np.diag(sums)[:, None] - 2 * sums + np.diag(sums)[None, :]
            found = np.sqrt([np.diag(variance, 1).mean(), variance[0, -1], variance[np.triu_indices(intervals + 1, 1)].mean()])
            print(f"| {intervals} | {levels} | " + " | ".join(f"{x:.2f}" for x in np.concatenate([found * levels, found * np.sqrt(levels)])) + " |",
                  file=report)


def main():
    rng = np.random.default_rng(1)
    exact = prepare()
    asked = questions()
    with open(REPORT, "w") as report:
        print(f"""# Series: one charge for a table that grows

{DAYS} days of {ROWS:,} rows, ε = 1 in all, a row is protected. Root of the mean squared error of the counts of {TOWNS} towns in a period. `series` is measured; the noise of rivals is drawn with
the deviation that a release of this ε states: `dyadic` are values of 1, 2, 4, … 256 days and the best linear unbiased estimate of them all (Honaker's), `versions` are releases each day of all rows so far, `days` of each day's rows alone (disjoint, all of ε: a series of one length),
`split` are days, months and the year, with the best parts of ε for day, week, month and year; other periods are sums of its days. Made by `test/bench/run series`.
""", file=report)
        for kind, delta in DELTA.items():
            seconds, night = series(kind, delta)
            answers = {q: ask(kind, p) for q, p in asked.items()}
            errors = {"series": {q: answers[q][0] - np.array([exact[a:b].sum(0) for a, b in p]) for q, p in asked.items()},
                      "series, as its intervals state": {q: deviation for q, (_, deviation) in answers.items()}}
            errors.update(rivals(rng, kind == "pure", asked))
            print(f"## δ = {delta:g}{', the budget in ρ' if delta else ''}\n\n| | " + " | ".join(asked) + " |\n|---|" + "---|" * len(asked), file=report)
            for name, found in errors.items():
                print(f"| {name} | " + " | ".join(f"{np.sqrt((found[q] ** 2).mean()):.1f}" for q in asked) + " |", file=report)
            print(f"\nClosing a day took {1000 * night:.0f} ms by itself, and {1000 * seconds / DAYS:.0f} ms on the average of all {DAYS} days with one call.\n", file=report)
        of_lengths(report)


main()
