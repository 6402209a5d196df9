"""Categories that a release chooses, beside thresholds of others: writes CHOICE.md.

	test/bench/run choice
	PGDATABASE=bench RACEPRIV_DATA=folder python3 -B test/bench/choice.py CHOICE.md [RUNS]

How many values are found, and how far their numbers are off, by a release of the column alone, with (epsilon, delta) = (3, 1e-5)
or (1, 1e-6), where a person has up to m values.  The rivals get all of (epsilon, delta), in the same run, of the same m values of
each person, which they choose anew:

	Laplace		noise of scale m / epsilon, threshold 1 - ln(2 - 2 (1 - delta)^(1/m)) m / epsilon (Wilson et al. 2020; SmartNoise SQL)
	Gaussian	noise of the analytic Gaussian mechanism (Balle & Wang 2018) for delta / 2 and sqrt(m), threshold
			1 + sigma z((1 - delta / 2)^(1/m)), as Google's library

Words are made: 5,000 authors, 30 words each, of a Zipf vocabulary of 20,000.  `loose` has the same rows without a unique index of
author and word, so that numbers of persons are no numbers of records.
"""
import csv
import gzip
import itertools
import math
import os
import random
import statistics
import subprocess
import sys

REPORT = sys.argv[1]
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
DATA = os.environ.get("RACEPRIV_DATA")
NORMAL = statistics.NormalDist()


def sql(text):
    run = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-F", "\t"], input="SET client_min_messages = error;" + text,
                         capture_output=True, text=True, check=True)
    return [line.split("\t") for line in run.stdout.splitlines()]


def made_words():
    draw = random.Random(1)
    cumulated = list(itertools.accumulate(1 / (i + 2.7) for i in range(20000)))
    for author in range(5000):
        words = set()
        while len(words) < 30:
            words.update(draw.choices(range(20000), cum_weights=cumulated, k=30 - len(words)))
        yield from ((author, f"w{word}") for word in sorted(words))


def column(name, person, value):
    with gzip.open(os.path.join(DATA, name), "rt") as file:
        rows = enumerate(csv.DictReader(file))
        return sorted({(row[person] if person else str(i), row[value]) for i, row in rows if row[value]})


def gaussian_sigma(epsilon, delta, change):
    low, high = 1e-3 * change, 1e6 * change
    for _ in range(200):
        sigma = math.sqrt(low * high)
        a, b = change / (2 * sigma), epsilon * sigma / change
        if NORMAL.cdf(a - b) - math.exp(epsilon) * NORMAL.cdf(-a - b) > delta:
            low = sigma
        else:
            high = sigma
    return high


def rivals(persons, epsilon, delta, m, draw):
    numbers = {}
    for values in persons.values():
        for value in draw.sample(values, min(m, len(values))):
            numbers[value] = numbers.get(value, 0) + 1
    scale = m / epsilon
    threshold = 1 - math.log(2 - 2 * (1 - delta) ** (1 / m)) * scale
    yield sum(n + draw.choice((-1, 1)) * draw.expovariate(1 / scale) >= threshold for n in numbers.values())
    sigma = gaussian_sigma(epsilon, delta / 2, math.sqrt(m))
    threshold = 1 + sigma * NORMAL.inv_cdf((1 - delta / 2) ** (1 / m))
    yield sum(draw.gauss(n, sigma) >= threshold for n in numbers.values())


def ours(dataset, release, epsilon, delta):
    sql(f"CALL race_release('{release}', '{dataset}', '{{value}}', {epsilon}, {delta});")
    (found, persons, error), = sql(f"""
SELECT jsonb_array_length(domains->0->'categories'), domains->0->'persons_least', (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (c.upper - c.lower) / 3.92)
FROM race_crosstab('{release}', 'value') c WHERE c.value1 <> 'other') FROM race_catalog WHERE name = '{release}'""")
    return int(found), int(persons), float(error or "nan")


def main():
    tables = {"words": list(made_words())}
    if DATA:
        tables["basket items"] = column("purchases.csv.gz", "member", "item")
        tables["diagnoses"] = column("discharges.csv.gz", "patient", "diag_1")
    lines = ["| table | ε, δ | m | Laplace | Gaussian | racepriv | its threshold | error of a count |", "|---|---|---|---|---|---|---|---|"]
    for (name, rows), unique in ((item, unique) for item in tables.items() for unique in ((True, False) if item[0] == "words" else (True,))):
        persons = {}
        for person, value in rows:
            persons.setdefault(person, []).append(value)
        table = name.replace(" ", "_") + ("" if unique else "_loose")
        copied = "\n".join(f"{person}\t{value}" for person, value in rows)
        sql(f"CREATE TABLE {table} (person text NOT NULL, value text NOT NULL);\n\\copy {table} FROM pstdin\n{copied}\n\\.\n")
        if unique:
            sql(f"CREATE UNIQUE INDEX ON {table} (person, value)")
        for m in (1, 10, 30):
            if m > 1 and max(map(len, persons.values())) < m / 3:
                continue
            sql(f"CALL race_protect('{table} {m}', '{table}', epsilon_limit => 1e5, delta_limit => 0.5, unit_column => 'person', max_contributions => {m})")
            for epsilon, delta in ((3, 1e-5), (1, 1e-6)):
                draw = random.Random(m)
                others = [list(rivals(persons, epsilon, delta, m, draw)) for _ in range(RUNS)]
                own = [ours(f"{table} {m}", f"{table} {m} {epsilon} {run}", epsilon, delta) for run in range(RUNS)]
                mean = [statistics.mean(column) for column in zip(*others)]
                lines.append(f"| {name}{'' if unique else ', loose'} | {epsilon}, {delta:g} | {m} | {mean[0]:.1f} | {mean[1]:.1f} | "
                             f"{statistics.mean(o[0] for o in own):.1f} | {own[0][1]} | {statistics.mean(o[2] for o in own):.1f} |")
                print(lines[-1], flush=True)
    with open(REPORT, "w") as file:
        file.write("# Categories that a release chooses\n\nWritten by `test/bench/run choice` "
                   f"(`test/bench/choice.py` says what is measured). Values found, means of {RUNS} runs; persons that a value needs; median standard error.\n\n"
                   + "\n".join(lines) + "\n")


main()
