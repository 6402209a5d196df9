"""race_estimate of private grids: how often 95 % intervals contain the truth, and how wide they are beside errors.

grid_intervals.py FOLDER [TABLE ...]: a folder to work in.  It needs a server with racepriv (PGHOST and so on) and RACEPRIV_DATA.
Each table has one to three of its first numeric columns, as parts of their ranges; half of 60 places are near records, and half
anywhere.  Of 20 releases: the share of intervals that contain the kernel sum of the records, on average and in the worst release,
and the mean half-width over 1.96 root mean square errors: 1 is exact.  CONTROL=0.2 makes intervals so many times as wide.
"""
import gzip
import os
import sys

import numpy as np

from gate import array
from server import Session, load

RELEASES = 20
PLACES = 60
EPSILONS = (0.1, 1, 10)
BANDWIDTHS = (0.05, 0.1, 0.15)      # parts of the ranges
COLUMNS = {'skin': 'b g r', 'pulsar': 'x1 x2 x3', 'airfoil': 'frequency thickness sound_level', 'adult': 'age hours-per-week education-num',
           'air': 'temp dew pressure', 'occupancy': 'temperature humidity co2', 'naval': 'x3 x4 x7',
           'discharges': 'num_lab_procedures num_medications time_in_hospital', 'pressure': 'systolic diastolic', 'salaries': 'annual_salary'}
DISTANCES = np.concatenate([np.linspace(0, 20, 4001), np.linspace(20.1, 200, 1800)])      # in bandwidths


def read(name):
    path = os.path.join(os.environ['RACEPRIV_DATA'], name + '.csv.gz')
    with gzip.open(path, 'rt') as file:
        header = file.readline().strip().split(',')
        numbers = [header.index(column) for column in COLUMNS[name].split()]
        x = np.loadtxt(file, delimiter=',', usecols=numbers, comments=None)
    x = x[np.random.default_rng(1).permutation(len(x))]
    return (x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0))


def places(x, bandwidth):
    random = np.random.default_rng(2)
    near = x[random.integers(0, len(x), PLACES // 2)]
    near = near + random.normal(0, bandwidth / 4, near.shape)
    return np.clip(np.concatenate([near, random.random(near.shape)]), 0, 1)


def densities(x, queries, bandwidth, kernel):
    return np.array([np.interp(np.sqrt(((x - q) ** 2).sum(axis=1)) / bandwidth, DISTANCES, kernel).mean() for q in queries])


def measure(session, folder, name, x, bandwidth, kernel):
    dims, queries = x.shape[1], places(x, bandwidth)
    truth = densities(x, queries, bandwidth, kernel)
    for table, values in (('d', x), ('q', queries)):
        session.run(f'DROP TABLE IF EXISTS {table}')
        load(session, folder, table, values)
    params = (f"race_params('l2', {dims}, {bandwidth}, sequence => 'grid', lower => {array([0] * dims)}, upper => {array([1] * dims)})")
    session.run(f'DROP TABLE IF EXISTS e; CREATE TABLE e AS SELECT race_build({params}, x) AS s FROM d')
    for epsilon in EPSILONS:
        session.run(f'DROP TABLE IF EXISTS r; CREATE TABLE r AS SELECT i, race_privatize(s, {epsilon}) AS s FROM e, generate_series(1, {RELEASES}) i')
        # a release is prepared once for all of its places
        lines = session.run('SELECT (SELECT array_agg(ARRAY[a.kernel_density, a.lower, a.upper] ORDER BY id) FROM q, race_estimate(s, x) a) FROM r')[0]
        found = np.array([line.replace('{', '').replace('}', '').split(',') for line in lines], float)
        found = found.reshape(RELEASES, PLACES, 3).transpose(0, 2, 1)
        half = (found[:, 2] - found[:, 1]) / 2 * float(os.environ.get('CONTROL', 1))
        held = 100 * (abs((found[:, 1] + found[:, 2]) / 2 - truth) <= half).mean(axis=1)
        errors = np.sqrt(((found[:, 0] - truth) ** 2).mean())
        print(f'| {name} | {dims} | {bandwidth} | {epsilon} | {held.mean():.1f} | {held.min():.1f} | {half.mean() / 1.96 / errors:.2f} | '
              f'{np.median(half) / 1.96 / np.median(abs(found[:, 0] - truth)) * 0.6745:.2f} |', flush=True)


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    print('| table | columns | bandwidth | ε | held, % | worst | width | median width |\n|---|---|---|---|---|---|---|---|')
    with Session() as session:
        session.run('CREATE EXTENSION IF NOT EXISTS racepriv')
        kernel = np.array(session.run("SELECT race_kernel('l2(dims=1,bandwidth=1)', '{0}', ARRAY[d]) FROM "
                                      f'unnest({array(DISTANCES)}::float8[]) d')[0], float)
        for name in names or COLUMNS:
            x = read(name)
            for dims in map(int, os.environ.get('DIMS', '1 2 3').split()):
                for bandwidth in BANDWIDTHS if dims <= x.shape[1] else ():
                    measure(session, folder, name, x[:, :dims], bandwidth, kernel)


main()
