"""The memory that building takes."""
from measure import build_sql, params
from report import megabytes
from server import Session, peak_memory

REPEATS = 41        # of skin: ten million records


def repeated(times):
    return f'generate_series(1, {times}), skin'


def peak_of_build(source):
    """In a session that has scanned the table and loaded the extension, so that
    only what the build takes is new"""
    with Session() as session:
        session.run('SET enable_material = off')    # scan skin again, keep no copy
        session.run(f'SELECT avg(x[1]), race_count(race_build({params(3, 1, 2)}, x)) '
                    'FROM skin')
        return peak_memory(session, build_sql(source, 3))


def memory_of_builds(report, session):
    report.heading('Memory')
    report.write('Peak above what the backend had, MB, R = W = 1024: what '
                 '/proc/PID/status says of a session that has scanned the table before.\n')
    sketch = int(session.value('SELECT pg_column_size(s) FROM release_sketch_1024'))
    once = peak_of_build('skin')
    twice = peak_of_build(repeated(2))
    often = peak_of_build(repeated(REPEATS))
    report.table(('', 'MB', 'of the sketch'),
                 [(name, megabytes(size), f'{size / sketch:.2f}')
                  for name, size in (('the sketch', sketch), ('skin', once),
                                     ('skin twice', twice),
                                     (f'skin {REPEATS} times', often))])
    report.at_most('5: peak memory of a build, of the sketch', once / sketch, 3)
    report.at_most('5: growth over ten million records, of the sketch',
                   (often - twice) / sketch, 0.05)
