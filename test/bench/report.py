"""What the benchmark prints: on the screen and into RESULTS.md."""
import datetime
import os
import platform
import subprocess
import time


def milliseconds(seconds):
    return f'{seconds * 1e3:,.1f}'


def microseconds(seconds):
    return f'{seconds * 1e6:,.1f}'


def megabytes(size):
    return f'{size / 2**20:,.2f}'


def ratio(value):
    return f'{value:,.2f}' if value < 100 else f'{value:,.0f}'


class Report:
    def __init__(self):
        self.text = ''
        self.claims = []

    def write(self, text):
        print(text, flush=True)
        self.text += text + '\n'

    def heading(self, text):
        self.write(f'\n## {text}\n')

    def table(self, header, rows):
        lines = [header, *rows]
        widths = [max(len(str(line[i])) for line in lines)
                  for i in range(len(header))]

        def show(cells):
            padded = (str(cell).rjust(width) for cell, width in zip(cells, widths))
            return '| ' + ' | '.join(padded) + ' |'

        rule = '|' + '|'.join('-' * (width + 1) + ':' for width in widths) + '|'
        self.write('\n'.join([show(header), rule, *map(show, rows)]) + '\n')

    def at_least(self, claim, value, limit, unit=''):
        self.claims.append((claim, f'{ratio(value)}{unit}',
                            f'at least {limit:,}{unit}', value >= limit))

    def at_most(self, claim, value, limit, unit=''):
        self.claims.append((claim, f'{ratio(value)}{unit}',
                            f'at most {limit:,}{unit}', value <= limit))

    def conclude(self):
        """The claims that are missed, in order of their numbers; a miss is said, and fails nothing"""
        self.heading('What it must show')
        misses = [claim for *claim, good in sorted(self.claims) if not good]
        kept = f'{len(self.claims) - len(misses)} of {len(self.claims)} limits are kept'
        self.write(f'{kept}, all but these:\n' if misses else f'{kept}.')
        if misses:
            self.table(('claim', 'measured', 'limit'), misses)

    def keep(self, path, start, note=''):
        """How long the run took since `start`, of time.monotonic(); then the file"""
        self.write(f'The run took {(time.monotonic() - start) / 60:.1f} minutes.{note}')
        with open(path, 'w') as file:
            file.write(self.text)


def machine(server_version, vector_code):
    """The machine and what ran on it"""
    lscpu = subprocess.run(['lscpu'], text=True, stdout=subprocess.PIPE).stdout
    cpu = dict(line.split(':', 1) for line in lscpu.splitlines() if ':' in line)
    model = f"{cpu['Model name'].strip()}, family {cpu['CPU family'].strip()}"
    ram = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    system = platform.freedesktop_os_release()['PRETTY_NAME']
    return (f'{model}, {os.cpu_count()} cores, '
            f'{ram / 2**30:.0f} GB; {system}, PostgreSQL {server_version}; '
            f'vector code: {vector_code}; {datetime.date.today()}')
