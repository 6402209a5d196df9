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
author and word, and `rows` each row of the table, in which a person has many values several times.  The rivals count each of her
values once.

Second table: the sum of squared errors of all categories (one that is not found is answered by 0), of the others, of what is missing
and of all records, by the formulas of both kinds of noise, for each share that the choice may have, with epsilon .1, 1 and 10; beside
the share that is taken (race_choice_plan) what the best one would bring.
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
        return sorted((row[person], row[value]) for row in csv.DictReader(file) if row[value])


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
    (found, persons, error, all_), = sql(f"""
SELECT jsonb_array_length(domains->0->'categories'), domains->0->'persons_least', (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (c.upper - c.lower) / 3.92)
FROM race_crosstab('{release}', 'value') c WHERE c.value1 <> 'other'), (SELECT (c.upper - c.lower) / 3.92 FROM race_count('{release}') c)
FROM race_catalog WHERE name = '{release}'""")
    return int(found), int(persons), float(error or "nan"), float(all_)


def upper_tail(z):
    return math.erfc(z / math.sqrt(2)) / 2


def tail_point(p):
    low, high = 0, 38
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if upper_tail(middle) > p else (low, middle)
    return high


def plans(epsilon, delta, m):
    """For each share: threshold, standard error of a number, whether it is Laplace noise, variance of a cell, of the three kinds of plans"""
    point = tail_point(delta / 2 / m)
    one = gaussian_sigma(epsilon, delta / 2, 1)
    for share in range(1, 63):
        part = share / 64
        rest = epsilon * (1 - part)
        cells = [(delta, 2 * (m / rest)**2), (delta * part, (gaussian_sigma(rest, delta * (1 - part), 1) * m)**2)]
        for own, cell in cells:
            scale = m / (epsilon * part)
            steps = math.exp(-1 / scale)
            odds = math.log((2 * steps * own / m - math.expm1(-1 / scale)) / (own / m * (1 + steps)))
            yield share, math.ceil(max(scale * odds, scale, 1)) + 1, scale * math.sqrt(2), True, cell
            sigma = gaussian_sigma(epsilon * part, own / 2, 1) * math.sqrt(m)
            yield share, 1.5 + tail_point(own / 2 / m) * sigma, sigma, False, cell
        sigma = one * math.sqrt(m / part)
        yield share, 1.5 + point * sigma, sigma, False, (one * m)**2 / (1 - part)


def passes(persons, threshold, sigma, is_laplace):
    if not is_laplace:
        return upper_tail((threshold - persons) / sigma)
    tail = math.exp(-abs(threshold - persons) / sigma * math.sqrt(2)) / 2
    return tail if persons < threshold else 1 - tail


def squared_error(numbers, threshold, sigma, is_laplace, cell):
    total = 3 * cell
    for persons, times in numbers.items():
        p = passes(persons, threshold, sigma, is_laplace)
        total += times * (p * sigma * sigma + (1 - p) * persons * persons)
    return total


def shares(tables):
    yield "| table | ε | m | share in 64ths | its threshold | root of the sum of squared errors | best share | with that |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, rows in tables.items():
        persons = {}
        for person, value in sorted(set(rows)):
            persons.setdefault(person, []).append(value)
        for m, epsilon in itertools.product((1, 10, 30), (0.1, 1, 10)):
            draw = random.Random(m)
            numbers = {}
            for values in persons.values():
                for value in draw.sample(values, min(m, len(values))):
                    numbers[value] = numbers.get(value, 0) + 1
            sizes = {}
            for number in numbers.values():
                sizes[number] = sizes.get(number, 0) + 1
            all_ = list(plans(epsilon, 1e-6, m))
            taken = min(all_, key=lambda plan: plan[1]**2 + plan[2]**2 + 3 / 1024 * plan[4])
            best = min(all_, key=lambda plan: squared_error(sizes, *plan[1:]))
            yield (f"| {name} | {epsilon} | {m} | {taken[0]} | {taken[1]:.0f} | {math.sqrt(squared_error(sizes, *taken[1:])):.0f} | "
                   f"{best[0]} | {math.sqrt(squared_error(sizes, *best[1:])):.0f} |")


def main():
    tables = {"words": list(made_words())}
    if DATA:
        tables["basket items"] = column("purchases.csv.gz", "member", "item")
        tables["diagnoses"] = column("discharges.csv.gz", "patient", "diag_1")
    lines = ["| table | ε, δ | m | Laplace | Gaussian | racepriv | its threshold | error of a count | of all records |", "|---|---|---|---|---|---|---|---|---|"]
    for (name, rows), kind in ((item, kind) for item in tables.items() for kind in ("", "loose" if item[0] == "words" else "rows")):
        unique = kind == ""
        if kind != "rows":
            rows = sorted(set(rows))
        persons = {}
        for person, value in rows:
            persons.setdefault(person, set()).add(value)
        persons = {person: sorted(values) for person, values in persons.items()}
        table = (name + " " + kind).strip().replace(" ", "_")
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
                lines.append(f"| {name}{'' if unique else ', ' + kind} | {epsilon}, {delta:g} | {m} | {mean[0]:.1f} | {mean[1]:.1f} | "
                             f"{statistics.mean(o[0] for o in own):.1f} | {own[0][1]} | {statistics.mean(o[2] for o in own):.1f} | {statistics.mean(o[3] for o in own):.1f} |")
                print(lines[-1], flush=True)
    with open(REPORT, "w") as file:
        file.write("# Categories that a release chooses\n\nWritten by `test/bench/run choice` "
                   f"(`test/bench/choice.py` says what is measured). Values found, means of {RUNS} runs; persons that a value needs; median standard error of a count, and that of all records.\n\n"
                   + "\n".join(lines) + "\n\n" + "\n".join(shares(tables)) + "\n")


main()
