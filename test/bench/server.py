"""The server under measurement: sessions, tables, and a backend's memory."""
import subprocess

import numpy as np

END = 'end of the answer'
FLOAT8, FLOAT4 = 701, 700       # pg_type.oid
ELEMENTS = {FLOAT8: ('float8', '>f8'), FLOAT4: ('real', '>f4')}


class Session:
    """A psql that stays.  Times are what its \\timing says: from sending a
    statement to having its answer, as a client on the same machine sees it.
    EXPLAIN ANALYZE would leave out planning and sending, which are part of
    what a short statement costs."""

    def __init__(self, *arguments):
        self.psql = subprocess.Popen(
            ['psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', *arguments], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.times('SET max_parallel_workers_per_gather = 0; SET jit = off')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.psql.stdin.close()
        self.psql.wait()

    def run(self, sql):
        """The lines of the answer, and the seconds of each statement"""
        self.psql.stdin.write(f'\\timing on\n{sql};\n\\echo {END}\n')
        self.psql.stdin.flush()
        lines = []
        seconds = []
        for line in self.psql.stdout:
            line = line.rstrip('\n')
            if line == END:
                return lines, seconds
            if line.startswith('Time: '):
                seconds.append(float(line.split()[1]) / 1000)
            else:
                lines.append(line)
        raise RuntimeError(f'psql ended at: {sql}')

    def times(self, sql):
        return self.run(sql)[1]

    def time(self, sql):
        return sum(self.times(sql))

    def value(self, sql):
        return self.run(sql)[0][0]


def time_of_fresh_session(sql):
    """Seconds of the first statement that a new backend gets"""
    answer = subprocess.run(
        ['psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', '\\timing on', '-c', sql],
        text=True, stdout=subprocess.PIPE, check=True).stdout
    return float(answer.split('Time: ')[1].split()[0]) / 1000


def write_copy(path, x, oid):
    """Records in the format of COPY BINARY: an id, and an array of type oid[]"""
    n, dims = x.shape
    element = ELEMENTS[oid][1]
    row = np.dtype([
        ('fields', '>i2'), ('id_size', '>i4'), ('id', '>i4'),
        ('size', '>i4'), ('ndim', '>i4'), ('nulls', '>i4'), ('oid', '>i4'),
        ('length', '>i4'), ('lower', '>i4'),
        ('elements', [('size', '>i4'), ('value', element)], (dims,))])
    width = np.dtype(element).itemsize
    rows = np.zeros(n, row)
    rows['fields'], rows['id_size'], rows['id'] = 2, 4, np.arange(n)
    rows['size'] = 20 + dims * (4 + width)
    rows['ndim'], rows['oid'], rows['length'], rows['lower'] = 1, oid, dims, 1
    rows['elements']['size'], rows['elements']['value'] = width, x
    with open(path, 'wb') as file:
        file.write(b'PGCOPY\n\xff\r\n\0' + bytes(8))
        rows.tofile(file)
        file.write(b'\xff\xff')


def load(session, folder, table, x, oid=FLOAT8, options=''):
    """A table (id, x) of the records"""
    path = f'{folder}/{table}.copy'
    write_copy(path, x, oid)
    session.run(f'CREATE TABLE {table} (id int, x {ELEMENTS[oid][0]}[]) {options}')
    session.run(f"\\copy {table} FROM '{path}' (FORMAT binary)\n")
    session.run(f'VACUUM ANALYZE {table}')


def memory(pid, field):
    """Bytes of a field of /proc/PID/status"""
    with open(f'/proc/{pid}/status') as status:
        for line in status:
            if line.startswith(field + ':'):
                return int(line.split()[1]) * 1024
    raise KeyError(field)


def cpu_time(pid):
    """Seconds that a process of one thread has run"""
    with open(f'/proc/{pid}/schedstat') as stat:
        return int(stat.read().split()[0]) / 1e9


def peak_memory(session, sql):
    """By how many bytes a statement raises the memory of its backend at most.
    Shared buffers count once a backend has touched them, so it must have
    scanned its tables before."""
    pid = session.value('SELECT pg_backend_pid()')
    with open(f'/proc/{pid}/clear_refs', 'w') as peak:
        peak.write('5')         # the peak starts again from what is used now
    before = memory(pid, 'VmRSS')
    session.run(sql)
    return memory(pid, 'VmHWM') - before
