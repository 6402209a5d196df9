"""Speed, memory and sizes: prints tables, and writes them to a file.

speed.py BARE LIBRARY FOLDER RESULTS: the program bare.c, a shared library of the room
lsh, a folder to work in, and the file to write.  It needs a server with racepriv
(PGHOST and so on), skin.csv.gz in the folder RACEPRIV_DATA, and
OPENBLAS_NUM_THREADS=1.  test/bench/run has it all.

All axes crossed would take hours: each is varied on its own around skin with
R = W = 1024.
"""
import os
import sys
import time

from builds import scaling, throughput, toast
from data import Data
from footprint import memory_of_builds
from kernels import throughput_of_kernels
from lsh import Library
from measure import Bare
from queries import make_sketches, sizes, statements, within_statement
from report import Report, machine
from server import Session
from workers import worker_gains


def load_of_machine():
    """Others who use the machine spoil most what needs both cores"""
    loads = ', '.join(f'{load:.1f}' for load in os.getloadavg())
    return f'Load {loads} over 1, 5 and 15 minutes'


def introduce(report, session, bare):
    report.write('# Speed, memory and sizes\n')
    report.write('Written by `make bench`.\n')
    report.write(machine(session.value('SHOW server_version'), bare.library.vector_code()) + '.\n')
    report.write(f'{load_of_machine()} before the run.\n')
    report.write('All figures are medians of one run; what is compared took turns.  '
                 'One thread, jit off, bandwidth 5; skin has 245,057 records.')


def measure_all(report, session, bare, folder):
    data = Data(session, bare, folder)
    data.add_all()
    introduce(report, session, bare)
    throughput(report, data)
    scaling(report, data)
    toast(report, data)
    worker_gains(report, data)
    make_sketches(session)
    within_statement(report, data)
    statements(report, session)
    throughput_of_kernels(report, data)
    sizes(report, session)
    memory_of_builds(report, session)
    report.conclude()


def main():
    program, library, folder, results = sys.argv[1:]
    start = time.monotonic()
    report = Report()
    with Session() as session:
        session.run('CREATE EXTENSION racepriv')
        bare = Bare(program, Library(library), folder)
        measure_all(report, session, bare, folder)
    report.keep(results, start, f' {load_of_machine()} after it.')


if __name__ == '__main__':
    main()
