"""Kernels beside l2 on real data: prints tables, and writes them to a file.

real_data.py LIBRARY RESULTS: a shared library of the room lsh, and the file to write.
It needs a server with racepriv (PGHOST and so on), and slashdot.csv.gz and
pulsar.csv.gz in the folder RACEPRIV_DATA.  test/bench/run has it all.
"""
import sys

from graph import read_graph
from lsh import Library
from report import Report, machine
from server import Session
from sets import slashdot
from transforms import learned_transforms


def main():
    path, results = sys.argv[1:]
    library = Library(path)
    report = Report()
    with Session() as session:
        session.run('CREATE EXTENSION racepriv')
        report.write('# Kernels on real data\n')
        report.write('Written by `make bench`.\n')
        report.write(machine(session.value('SHOW server_version'), library.vector_code())
                     + '.')
        slashdot(report, session, read_graph(), library)
        learned_transforms(report, session, library)
        report.conclude()
    with open(results, 'w') as file:
        file.write(report.text)


if __name__ == '__main__':
    main()
