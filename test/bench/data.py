"""The records, real and made: the same in tables, in files for bare.c, in memory."""
import os

import numpy as np

from lsh import Vectors
from measure import BANDWIDTH
from server import FLOAT8, load

DIMS = {1: 100000, 55: 50000, 256: 20000}       # and how many records
SIZES = [10000, 100000, 316228, 1000000]        # of records of 3 numbers

# Rows of up to a page stay in the table's own file
INLINE = 'WITH (toast_tuple_target = 8160)'


def read_skin():
    path = os.path.join(os.environ['RACEPRIV_DATA'], 'skin.csv.gz')
    return np.loadtxt(path, delimiter=',', skiprows=1, usecols=(0, 1, 2))


def normal_records(n, dims):
    """Records that lie some ten bandwidths apart, whatever dims is"""
    random = np.random.default_rng(1)
    return random.standard_normal((n, dims)) * (10 * BANDWIDTH / dims ** 0.5)


class Data:
    def __init__(self, session, bare, folder):
        self.session = session
        self.bare = bare
        self.folder = folder
        self.records = {}

    def add(self, table, x, oid=FLOAT8, options=INLINE):
        self.records[table] = x
        self.bare.keep(table, Vectors(x))
        load(self.session, self.folder, table, x, oid, options)

    def add_all(self):
        self.add('skin', read_skin())
        for dims, n in DIMS.items():
            self.add(f'normal_{dims}', normal_records(n, dims))
        for n in SIZES:
            self.add(f'normal_{n}', normal_records(n, 3))
