"""Intervals of counts that the model of a release answers: writes INTERVALS.md.

	RACEPRIV_DATA=folder test/bench/run intervals
	PGDATABASE=bench python3 -B test/bench/intervals.py INTERVALS.md [QUESTIONS]

Public tables are released with all columns below, and asked for counts with conditions on 2, 3 and 4 columns, ranges of numbers and sets
of categories.  Width over error is the median; an error below 1 record counts as 1.  The last two columns are what the same ratio would
be if somebody knew the 95 % quantile of the release's errors over a scale: over the root of the count, or over what pairs of conditions
may depend on each other, the count times the root of the sum of (1 - p)(1 - q) / (p q).  No interval that follows from such a scale
alone is narrower.
"""
import csv
import gzip
import json
import math
import os
import random
import subprocess
import sys

REPORT = sys.argv[1]
QUESTIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 90
FOLDER = os.environ['RACEPRIV_DATA']
MOST_RECORDS = 40000
FEW_VALUES = 12         # a column with more numbers than that is one of numbers
LEAST_SHARE, LEAST_COUNT = 0.02, 20     # of conditions, and of records that meet all of them
BUDGETS = ((0.1, 0), (1, 0), (1, 1e-6), (10, 0))
TABLES = {
    'adult': 'age workclass education-num marital-status occupation relationship race sex hours-per-week income>50K',
    'air': 'pm25 temp dew pressure wind speed',
    'airfoil': 'frequency angle chord velocity thickness sound_level',
    'discharges': 'race gender age time_in_hospital num_lab_procedures num_procedures num_medications number_inpatient',
    'naval': 'x2 x4 x5 x6 x8 x11 x13 compressor_decay',
    'nursery': 'parents has_nurs form children housing finance social health final_evaluation',
    'occupancy': 'temperature humidity light co2 humidity_ratio occupied',
    'pulsar': 'x1 x2 x3 x4 x5 x6 x7 x8 class',
}
some = random.Random(5)


def psql(text, *arguments):
    run = subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-F', '\t', *arguments], input=text, stdout=subprocess.PIPE, text=True,
                         check=True)
    return [line.split('\t') for line in run.stdout.splitlines()]


def quote(text):
    return "'" + text.replace("'", "''") + "'"


class Column:
    """Values of a column, numbers or texts, and its declaration"""

    def __init__(self, name, texts):
        self.name = name
        try:
            self.values = [float(text) if text not in ('', 'NA') else None for text in texts]
            self.numbers = len(set(self.values)) > FEW_VALUES
        except ValueError:
            self.numbers = False
        if self.numbers:
            given = [x for x in self.values if x is not None]
            self.declaration = (f'"{name}" float8 CHECK ("{name}" BETWEEN {min(given)!r} AND {max(given)!r})'
                                + (' NOT NULL' if len(given) == len(texts) else ''))
            self.copied = ['\\N' if x is None else repr(x) for x in self.values]
        else:
            self.values = self.copied = texts
            self.categories = sorted(set(texts))
            self.declaration = f'"{name}" text NOT NULL CHECK ("{name}" IN ({",".join(map(quote, self.categories))}))'

    def condition(self):
        """A range or a set, and which records meet it"""
        if not self.numbers:
            chosen = some.sample(self.categories, some.randint(1, max(1, len(self.categories) // 2)))
            return chosen, [x in chosen for x in self.values]
        low, high = sorted(some.choice([x for x in self.values if x is not None]) for _ in range(2))
        return [low, high], [x is not None and low <= x < high for x in self.values]


def ask(columns):
    """A question: conditions, the true count, and the share of each"""
    while True:
        chosen = some.sample(columns, some.randint(2, 4))
        where = {column.name: column.condition() for column in chosen}
        count = sum(map(all, zip(*(met for _, met in where.values()))))
        shares = [sum(met) / len(met) for _, met in where.values()]
        if min(shares) > LEAST_SHARE and count >= LEAST_COUNT:
            return {name: condition for name, (condition, _) in where.items()}, count, shares


def scales(count, shares):
    pairs = sum((1 - p) * (1 - q) / (p * q) for i, p in enumerate(shares) for q in shares[:i])
    return math.sqrt(max(count, 1)), max(count, 1) * math.sqrt(pairs)


def quantile(numbers, part):
    return sorted(numbers)[min(int(part * len(numbers)), len(numbers) - 1)]


def describe(answers):
    """Width over error, how many hold, and what a scale would give"""
    errors = [max(abs(row[0] - count), 1) for row, count, _ in answers]
    held = sum(row[1] <= count <= row[2] for row, count, _ in answers) / len(answers)
    fields = [f'{quantile([(row[2] - row[1]) / error for (row, _, _), error in zip(answers, errors)], 0.5):.0f}', f'{held:.0%}',
              f'{quantile(errors, 0.5):.0f}']
    for number in range(2):
        sizes = [scales(row[0], shares)[number] for row, _, shares in answers]
        most = quantile([error / size for error, size in zip(errors, sizes)], 0.95)
        fields.append(f'{quantile([2 * most * size / error for error, size in zip(errors, sizes)], 0.5):.0f}')
    return fields


def main():
    lines = ['Intervals of counts that the model of a release answers. `RACEPRIV_DATA=folder test/bench/run intervals` writes this page.', '',
             '| table | ε | δ | answers | not measured | width / error | hold | error | by the root | by dependence |',
             '|---|---|---|---|---|---|---|---|---|---|']
    for table, names in TABLES.items():
        with gzip.open(f'{FOLDER}/{table}.csv.gz', 'rt') as file:
            rows = list(csv.DictReader(file))
        some.shuffle(rows)
        columns = [Column(name, [row[name] for row in rows[:MOST_RECORDS]]) for name in names.split()]
        psql(f'CREATE TABLE "{table}" ({",".join(column.declaration for column in columns)});'
             f"CALL race_protect('{table}', epsilon_limit => 1e6, delta_limit => 0.1);")
        psql('\n'.join(map('\t'.join, zip(*(column.copied for column in columns)))) + '\n', '-c', f'COPY "{table}" FROM STDIN')
        questions = [ask(columns) for _ in range(QUESTIONS)]
        for epsilon, delta in BUDGETS:
            name = f'{table} {epsilon} {delta}'
            listed = ','.join(f'"{column.name}"' for column in columns)
            psql(f"CALL race_release('{name}', '{table}', '{{{listed}}}', {epsilon}, {delta})")
            found = psql(';'.join(f"SELECT coalesce(count, -1), lower, upper, source FROM race_count('{name}', $q${json.dumps(where)}$q$)"
                                  for where, _, _ in questions) + ';')
            answers = [(tuple(map(float, row[:3])), count, shares) for row, (_, count, shares) in zip(found, questions) if row[3] == 'model']
            missing = sum(row[3] == 'not measured' for row in found)
            fields = describe(answers) if answers else ['–'] * 5
            lines.append(f'| {table} | {epsilon} | {delta} | {len(answers)} | {missing} | ' + ' | '.join(fields) + ' |')
            print(lines[-1], flush=True)
    with open(REPORT, 'w') as file:
        file.write('\n'.join(lines) + '\n')


main()
