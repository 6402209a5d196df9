"""Read, question and build values of racepriv, the PostgreSQL extension for private sketches, without a server.

    sketch = racepriv.read(text)                    # a race_sketch, as text or as bytes
    sketch.count, sketch.kernel_sum([30, 2500]), sketch.density([30, 2500]), sketch.nodes(), sketch.tables(), sketch.moments()
    racepriv.build([racepriv.Part('l2', dims=2, sequence='sobol')], records).to_text()

The specification is doc/format.md of racepriv, and the words here are those of that page.
"""
import base64
import itertools
import math
import struct
import uuid
from dataclasses import dataclass, field

import numpy as np

KERNELS = ['', 'l2', 'l1', 'angular', 'jaccard', 'match', 'moments', 'least_squares', 'margin', 'tables']
SEQUENCES = {1: 'independent', 2: 'sobol', 4: 'grid', 5: 'structured', 7: 'grouped'}
REHASHES = ['', 'fold', 'multilinear']
STATUSES = ['exact', 'share', 'private']
ARRAYS = {1: 'bandwidths', 2: 'lower', 4: 'upper', 8: 'matrix', 16: 'offset', 32: 'cells', 64: 'groups', 128: 'measured'}
ROW_FUNCTIONS, BUCKETS, SCRAMBLING = 1, 2, 3		# streams of random bits
LOW = np.uint64(0xFFFFFFFF)
PI = 3.14159265358979323846


# ------------------------------------------------------------------ random bits

def philox(seed, c0, c1, c2, c3):
    """Two arrays of 64 bits, (c0, c1) and (c2, c3) after ten rounds, of counters that are integers or arrays."""
    c0, c1, c2, c3 = np.broadcast_arrays(*(np.asarray(c, np.uint64) for c in (c0, c1, c2, c3)))
    for r in range(10):
        k0 = np.uint64((seed + r * 0x9E3779B9) & 0xFFFFFFFF)
        k1 = np.uint64(((seed >> 32) + r * 0xBB67AE85) & 0xFFFFFFFF)
        p0, p1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (p1 >> np.uint64(32)) ^ c1 ^ k0, p1 & LOW, (p0 >> np.uint64(32)) ^ c3 ^ k1, p0 & LOW
    return c0 | c1 << np.uint64(32), c2 | c3 << np.uint64(32)


def random_bits(seed, stream, row, function, element):
    return philox(seed, element, row, function, stream)[0]


def halves(words):
    return words & LOW, words >> np.uint64(32)


def open_uniform(bits):
    return ((bits >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52


def half_open_uniform(bits):
    return (bits >> np.uint64(11)).astype(float) * 2.0**-53


JOE_KUO = """1 0 1|2 1 1 3|3 1 1 3 1|3 2 1 1 1|4 1 1 1 3 3|4 4 1 3 5 13|5 2 1 1 5 5 17|5 4 1 1 5 5 5|5 7 1 1 7 11 19|5 11 1 1 5 1 1|5 13 1 1 1 3 11
|5 14 1 3 5 5 31|6 1 1 3 3 9 7 49|6 13 1 1 1 15 21 21|6 16 1 3 1 13 27 49|6 19 1 1 1 15 7 5|6 22 1 3 1 15 13 25|6 25 1 1 5 5 19 61
|7 1 1 3 7 11 23 15 103|7 4 1 3 7 13 13 15 69"""


def sobol_bits(seed, rows, dimension):
    """The scrambled points of these rows in a dimension."""
    direction = [1] * 25
    if 1 <= dimension <= 20:
        degree, coefficients, *direction = map(int, JOE_KUO.split('|')[dimension - 1].split())
        for i in range(degree, 25):
            m = direction[i - degree] ^ direction[i - degree] << degree
            for k in range(1, degree):
                if coefficients >> (degree - 1 - k) & 1:
                    m ^= direction[i - k] << k
            direction.append(m)
    point = np.zeros(len(rows), np.uint64)
    for i in range(25):
        point ^= np.where(rows >> np.uint64(i) & np.uint64(1), np.uint64(direction[i] << 24 - i), np.uint64(0))
    for digit in range(25):
        flip = random_bits(seed, SCRAMBLING, halves(point >> np.uint64(25 - digit))[0], dimension, digit) & np.uint64(1)
        scrambled = flip << np.uint64(24 - digit) if digit == 0 else scrambled ^ flip << np.uint64(24 - digit)
    below = random_bits(seed, SCRAMBLING, rows, dimension, 25)
    return (point ^ scrambled) << np.uint64(39) | below >> np.uint64(25)


NORMAL = [list(map(float, line.split())) for line in """\
2509.0809287301226727 33430.575583588128105 67265.770927008700853 45921.953931549871457 13731.693765509461125 1971.5909503065514427 133.14166789178437745 3.387132872796366608
5226.495278852854561 28729.085735721942674 39307.89580009271061 21213.794301586595867 5394.1960214247511077 687.1870074920579083 42.313330701600911252 1
7.7454501427834140764e-4 0.0227238449892691845833 0.24178072517745061177 1.27045825245236838258 3.64784832476320460504 5.7694972214606914055 4.6303378461565452959 1.42343711074968357734
1.05075007164441684324e-9 5.475938084995344946e-4 0.0151986665636164571966 0.14810397642748007459 0.68976733498510000455 1.6763848301838038494 2.05319162663775882187 1
2.01033439929228813265e-7 2.71155556874348757815e-5 0.0012426609473880784386 0.026532189526576123093 0.29656057182850489123 1.7848265399172913358 5.4637849111641143699 6.6579046435011037772
2.04426310338993978564e-15 1.4215117583164458887e-7 1.8463183175100546818e-5 7.868691311456132591e-4 0.0148753612908506148525 0.13692988092273580531 0.59983220655588793769 1""".splitlines()]


def horner(coefficients, x):
    total = coefficients[0]
    for coefficient in coefficients[1:]:
        total = total * x + coefficient
    return total


def logarithm(x):
    mantissa, exponent = np.frexp(x)
    small = mantissa < 0.70710678118654752
    mantissa, exponent = np.where(small, 2 * mantissa, mantissa), exponent - small
    s = (mantissa - 1) / (mantissa + 1)
    total, square = 0.0, s * s
    for k in range(23, 0, -2):
        total = total * square + 1 / k
    return exponent * 0.69314718055994530942 + 2 * s * total


def inverse_normal(p):
    """Wichura's AS 241."""
    q = p - 0.5
    a, b, c, d, e, f = NORMAL
    r = 0.180625 - q * q
    middle = q * horner(a, r) / horner(b, r)
    r = np.sqrt(-logarithm(np.where(q < 0, p, 1 - p)))
    tail = np.where(r <= 5, horner(c, r - 1.6) / horner(d, r - 1.6), horner(e, r - 5) / horner(f, r - 5))
    return np.where(abs(q) <= 0.425, middle, np.where(q < 0, -tail, tail))


def inverse_cauchy(p):
    v = p - 0.5
    w = abs(v)
    x = PI * np.where(w <= 0.25, w, 0.5 - w)
    square, s, c = x * x, 1.0, 1.0
    for k in range(16, 0, -2):
        s, c = 1 - s * square / (k * (k + 1)), 1 - c * square / (k * (k - 1))
    tangent = np.where(w <= 0.25, s * x / c, c / (s * x))
    return np.where(v < 0, -tangent, tangent)


# ------------------------------------------- fused multiplication and addition

def exact_fma(a, b, c):
    """ab + c, rounded once: Python divides integers with one rounding."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return c if math.isfinite(a) and math.isfinite(b) else a * b + c
    (a, a_unit), (b, b_unit), (c, c_unit) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
    numerator = a * b * c_unit + c * a_unit * b_unit
    try:
        return numerator / (a_unit * b_unit * c_unit)
    except OverflowError:
        return math.copysign(math.inf, numerator)


def fma(a, b, c):
    """The same of arrays."""
    return np.frompyfunc(exact_fma, 3, 1)(a, b, c).astype(float)


# ------------------------------------------------------------------- parameters

PART = struct.Struct('<4B4IIqdIBB2x')
EXTRA = {'moments': '<dHHBB2x', 'least_squares': '<dd', 'margin': '<dd', 'tables': '<II8x'}


@dataclass
class Part:
    """The parameters of one kernel. There is no "auto" here: sequence and rehash are said."""
    kernel: str
    dims: int = 0
    bandwidth: float = 1.0
    power: int = 1
    rows: int = 1024
    range: int = 1024
    seed: int = 0
    sequence: str = 'independent'
    rehash: str = 'fold'
    nulls: int = 0
    outputs: int = 0
    arrays: dict = field(default_factory=dict)      # by the names in ARRAYS
    extra: tuple = ()       # moments: norm, features, targets, coarser, clip; losses: radius, query_radius; tables: lengths of joined, workload

    def __post_init__(self):
        self.arrays = {name: np.array(self.arrays[name], float) + 0.0 for name in ARRAYS.values() if name in self.arrays}
        self.outputs = max([len(self.arrays[name]) for name in ('matrix', 'measured') if name in self.arrays], default=self.outputs)
        self.is_loss = self.kernel in ('least_squares', 'margin')
        self.has_offset = self.kernel in ('l2', 'l1')
        self.coefficients = self.dims + 2 if self.is_loss else self.outputs if 'matrix' in self.arrays else self.dims

    def shape(self, name):
        shapes = {'matrix': (self.outputs, self.dims), 'groups': (3, self.dims), 'measured': (self.outputs, 3)}
        if self.kernel == 'tables':
            shapes.update(offset=(self.extra[0],), bandwidths=(self.extra[1], 3))
        return shapes.get(name, (self.dims,))

    def elements(self):
        """How many random numbers a row function has."""
        return 1 if self.kernel == 'match' else self.coefficients + self.has_offset


def encode_parameters(parts):
    """The bytes of a race_params."""
    encoded = b''
    for part in reversed(parts):
        first = part is parts[0]
        arrays = b''.join(array.astype('<f8').tobytes() for array in part.arrays.values())
        sequence = next(number for number, name in SEQUENCES.items() if name == part.sequence)
        extra = struct.pack(EXTRA[part.kernel], *part.extra) if part.kernel in EXTRA else bytes(16)
        encoded = PART.pack(1, KERNELS.index(part.kernel), sequence, REHASHES.index(part.rehash) * first, part.dims, part.power,
                            part.rows * first, part.range * first, part.outputs, part.seed * first, part.bandwidth,
                            (len(arrays) + len(encoded)) * first, sum(number for number, name in ARRAYS.items() if name in part.arrays),
                            part.nulls) + extra + arrays + encoded
    return encoded


def decode_parameters(data):
    """The parts of parameters at the start of these bytes, and how many bytes they take."""
    parts, start, end = [], 0, 64
    while start < end:
        version, kernel, sequence, rehash, dims, power, rows, range_, outputs, seed, bandwidth, more, arrays, nulls = PART.unpack_from(data, start)
        if version != 1 or not 1 <= kernel <= 9 or sequence not in SEQUENCES or rehash not in ((0,) if parts else (1, 2)) or any(data[start + 46:start + 48]):
            raise ValueError('these are no parameters of version 1')
        end = end if parts else 64 + more
        kernel = KERNELS[kernel]
        part = Part(kernel, dims, bandwidth, power, rows, range_, seed, SEQUENCES[sequence], REHASHES[rehash], nulls, outputs,
                    extra=struct.unpack_from(EXTRA.get(kernel, ''), data, start + 48))
        start += 64
        for number, name in ARRAYS.items():
            if arrays & number:
                shape = part.shape(name)
                part.arrays[name] = np.frombuffer(data, '<f8', math.prod(shape), start).reshape(shape)
                start += 8 * math.prod(shape)
        part.__post_init__()
        parts.append(part)
    if start != end or encode_parameters(parts) != data[:end]:
        raise ValueError('these parameters are damaged')
    return parts, end


# ---------------------------------------------------------------- row functions

def coefficients(part, seed, rows, function, dimension):
    """The offset and the coefficients of the row functions of these rows, whose first random number has this dimension."""
    def bits(element):
        if part.sequence == 'sobol':
            return sobol_bits(seed, rows, dimension + element - (not part.has_offset))
        return random_bits(seed, ROW_FUNCTIONS, rows, function, element)
    draw = inverse_cauchy if part.kernel == 'l1' else inverse_normal
    widths = part.bandwidth * part.arrays.get('bandwidths', np.ones(part.coefficients))
    values = [draw(open_uniform(bits(i + 1))) / widths[i] for i in range(part.coefficients)]
    if 'matrix' in part.arrays:
        values = [sum(part.arrays['matrix'][o, i] * values[o] for o in range(part.outputs)) for i in range(part.dims)]
    offset = half_open_uniform(bits(0)) if part.has_offset else np.zeros(len(rows))
    for value, origin in zip(values, part.arrays.get('offset', ())):
        offset = offset - value * origin
    return offset, values


def structured_projections(part, seed, row_count, function, vectors):
    """The projections of records that share fast Hadamard transforms."""
    size = 1024
    while size < part.dims:
        size *= 2
    padded = np.zeros((len(vectors), size))
    padded[:, :part.dims] = (vectors - part.arrays.get('offset', 0.0)) / part.arrays.get('bandwidths', 1.0)
    projections = []
    for first in range(0, row_count, size):
        words = random_bits(seed, ROW_FUNCTIONS, first, function, 2 + np.arange(3 * size // 64))
        signs = (words[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).astype(bool).reshape(3, size)
        z = padded
        for negative in signs:
            z, h = np.where(negative, -z, z), 1
            while h < size:
                pairs = z.reshape(len(z), -1, 2, h)
                z = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(len(z), size)
                h *= 2
        projections.append(z)
    projections, rows = np.concatenate(projections, axis=1)[:, :row_count], np.arange(row_count)
    if part.kernel == 'angular':
        return projections
    variance = 2 / (9 * size)
    u = 1 - variance + inverse_normal(open_uniform(random_bits(seed, ROW_FUNCTIONS, rows, function, 1))) * np.sqrt(variance)
    offset = half_open_uniform(random_bits(seed, ROW_FUNCTIONS, rows, function, 0))
    return fma(projections, np.sqrt(u * u * u) / size / part.bandwidth, offset)


def clipped(part, records):
    vectors = np.array(records, float).reshape(len(records), part.dims)
    if 'lower' in part.arrays:
        vectors = np.where(vectors < part.arrays['lower'], part.arrays['lower'], vectors)
    if 'upper' in part.arrays:
        vectors = np.where(vectors > part.arrays['upper'], part.arrays['upper'], vectors)
    return vectors


def on_sphere(part, vectors):
    """Records of a loss as vectors of length 1, with two numbers more."""
    scaled = []
    for z in vectors:
        radius = part.extra[0]
        if part.kernel == 'margin':
            radius = radius if z[-1] > 0 else -radius
            z = np.append(z[:-1], 0.0)
        with np.errstate(over='ignore'):
            z = np.clip(z / radius, -1e300, 1e300)
        largest = max(abs(z))
        if largest > 1:
            z = z / largest
        squares = sum(number * number for number in z)
        if largest <= 1 and squares <= 1:
            scaled.append(np.append(z, [math.sqrt(1 - squares), 0]))
        else:
            scaled.append(np.append(z / math.sqrt(squares), [0, 0]))
    return np.array(scaled)


def codes_of_vectors(part, seed, row_count, function, dimension, vectors):
    """Codes as doubles, a row for each record."""
    if part.sequence == 'structured':
        projections = structured_projections(part, seed, row_count, function, vectors)
    else:
        offset, values = coefficients(part, seed, np.arange(row_count, dtype=np.uint64), function, dimension)
        projections = np.broadcast_to(offset, (len(vectors), row_count))
        for value, column in zip(values, vectors.T):
            projections = fma(value, column[:, None], projections)
    if not part.has_offset:
        return (projections >= 0).astype(float)
    return np.clip(np.floor(np.where(np.isnan(projections), -np.inf, projections)), -2.0**51, 2.0**51)


def element(item, seed, null=0):
    """The 64 bits of an integer, a text (str or bytes), a uuid or a NULL (None)."""
    if item is None:
        state, blocks = (0, 9), [null]
    elif isinstance(item, (str, bytes, uuid.UUID)):
        text = item.bytes if isinstance(item, uuid.UUID) else item.encode() if isinstance(item, str) else item
        state, blocks = (0, 5), [len(text)] + [int.from_bytes(text[i:i + 8], 'little') for i in range(0, len(text), 8)]
    else:
        state, blocks = (0, 4), [int(item) % 2**64]
    for block in blocks:
        x, y = block ^ state[0], state[1]
        state = tuple(map(int, philox(seed, x % 2**32, x >> 32, y % 2**32, y >> 32)))
    return state[0]


def codes_of_sets(part, seed, row_count, function, sets):
    rows = np.arange(row_count, dtype=np.uint64)
    member = np.zeros(row_count, np.uint64)
    if part.sequence == 'grouped':
        k = rows % np.uint64(8)
        member = (k & np.uint64(1)) << np.uint64(63) | (k & np.uint64(2)) << np.uint64(61) | (k & np.uint64(4)) << np.uint64(59)
        rows = rows // np.uint64(64) * np.uint64(64) + rows % np.uint64(64) // np.uint64(8)
    k0, k1 = (half[:, None] for half in halves(random_bits(seed, ROW_FUNCTIONS, rows, function, 0)))
    multiplier, golden, codes = np.uint64(0xD256D193), 0x9E3779B9, []
    for items in sets:
        low, high = halves(np.array([element(item, seed) for item in items if item is not None], np.uint64))
        high, key = high ^ k1, k0 ^ np.uint64(golden)
        for i in (2, 3, 4):
            product = multiplier * high
            high, low = product >> np.uint64(32) ^ low ^ key, product & LOW
            key = np.uint64(golden * i % 2**32)
        places = multiplier * high ^ (low ^ key) << np.uint64(32) ^ member[:, None]
        codes.append(places.min(axis=1, initial=2**64 - 1))
    return np.array(codes)


def codes_of_categories(part, seed, row_count, function, dimension, records, query):
    rows = np.arange(row_count, dtype=np.uint64)
    bits = sobol_bits(seed, rows, dimension) if part.sequence == 'sobol' else random_bits(seed, ROW_FUNCTIONS, rows, function, 0)
    places = (bits >> np.uint64(32)) * np.uint64(part.dims) >> np.uint64(32)
    null = int(query and part.nulls == 1)
    return np.array([[element(item, seed, null) for item in record] for record in records], np.uint64)[:, places.astype(int)]


def buckets(parts, records, query=False):
    """The bucket of each record in each row. Of a product, a record is a tuple with a value for each part."""
    first, function, dimension, codes = parts[0], 0, 0, []
    for i, part in enumerate(parts):
        values = [record[i] for record in records] if len(parts) > 1 else list(records)
        if part.kernel not in ('jaccard', 'match'):
            values = clipped(part, values)
            values = on_sphere(part, values) if part.is_loss else values
        for _ in range(part.power):
            where = (part, first.seed, first.rows, function)
            if part.kernel == 'jaccard':
                codes.append(codes_of_sets(*where, values))
            elif part.kernel == 'match':
                codes.append(codes_of_categories(*where, dimension, values, query))
            else:
                codes.append(codes_of_vectors(*where, dimension, values))
            function += 1
            dimension += part.elements() if part.sequence == 'sobol' else 0
    if first.rehash == 'fold':
        if first.kernel == 'l2':
            return np.mod(codes[0], first.range).astype(int)
        return sum(code.astype(int) << (first.power - 1 - i) for i, code in enumerate(codes))
    keys = [random_bits(first.seed, BUCKETS, np.arange(first.rows), 0, i) for i in range(2 * function + 1)]
    total = np.broadcast_to(keys[0], codes[0].shape)
    for j, code in enumerate(codes):
        words = code if code.dtype == np.uint64 else (code + 6755399441055744.0).view(np.uint64)
        low, high = halves(words)
        total = total + keys[2 * j + 1] * low + keys[2 * j + 2] * high
    return ((total >> np.uint64(32)) * np.uint64(first.range) >> np.uint64(32)).astype(int)


# --------------------------------------------------------- grids, tables, moments

def rounded(x):
    return (x + 1.5 * 2.0**52) - 1.5 * 2.0**52


def add_to_grid(part, counters, records):
    cells = part.arrays['cells'].astype(int)
    bits = {1: 12, 2: 8, 3: 6}[part.dims]
    halvings = min([bits - 2] + [int(n & -n).bit_length() - 1 for n in cells])
    parts_of_cell = 2 ** (bits - halvings)
    step = (part.arrays['upper'] - part.arrays['lower']) / cells
    t = np.floor((clipped(part, records) - part.arrays['lower']) / step * parts_of_cell + 0.5)
    t = np.clip(t, 0, cells * parts_of_cell).astype(int)
    cell = np.minimum(t // parts_of_cell, cells - 1)
    right = (t - cell * parts_of_cell) * 2**halvings
    for corner in itertools.product((0, 1), repeat=part.dims):
        weights = np.where(corner, right, 2**bits - right).prod(axis=1)
        np.add.at(counters, np.ravel_multi_index((cell + corner).T, cells + 1), weights)


class Tables:
    """The tables that a value of kernel "tables" has, one after the other."""
    def __init__(self, part):
        steps, self.own, _ = part.arrays['groups'].astype(int)
        self.cells = part.arrays['cells'].astype(int)
        self.parts = int(self.cells[-1]) if steps[-1] == 0 else 1
        self.columns = part.dims - (steps[-1] == 0)
        self.steps = np.maximum(steps, 1)
        joined = part.arrays.get('offset', np.empty(0)).astype(int)
        self.groups, self.orders = [], list(itertools.combinations(range(self.columns), 2))
        for column in range(self.columns):
            groups = -(-(self.cells[column] - self.own[column]) // self.steps[column]) + self.own[column]
            self.groups.append(joined[:groups] if len(joined) else np.arange(groups))
            joined = joined[groups:]
        self.orders = [(column,) for column in range(self.columns)] + self.orders
        rows = part.arrays.get('measured', part.arrays.get('bandwidths', np.empty((0, 3))))[:, :2].astype(int)
        listed = [(i, j) if j < 128 and i != j else (i, j % 128, j // 128) if i != j % 128 else (i,) for i, j in rows.tolist()]
        self.orders = listed if 'measured' in part.arrays else self.orders + [order for order in listed if len(order) == 3]

    def shape(self, order):
        return (self.cells[order[0]],) if len(order) == 1 else tuple(max(self.groups[column]) + 1 for column in order)

    def split(self, counters):
        """The counters of each table, whose last axis is the parts of a measure."""
        tables = {}
        for order in self.orders:
            shape = self.shape(order) + (self.parts,)
            tables[order], counters = counters[:math.prod(shape)].reshape(shape), counters[math.prod(shape):]
        return tables

    def add(self, counters, records):
        cells = np.clip(np.floor(records[:, :self.columns]), 0, self.cells[:self.columns] - 1).astype(int)
        ordinary = (self.cells - self.own)[:self.columns]
        steps = self.steps[:self.columns]
        groups = np.where(cells < ordinary, cells // steps, -(-ordinary // steps) + cells - ordinary)
        shares = np.ones((len(records), 1), int)
        if self.parts > 1:
            upper = np.clip(np.floor(records[:, -1]), 0, 4096).astype(int)
            null = (records[:, -1] > 4096) & (self.parts == 3)
            shares = np.stack([4096 - upper, upper, upper * 0], axis=1)[:, :self.parts]
            shares[null] = [0, 0, 4096][:self.parts]
        for order, table in self.split(counters).items():
            np.add.at(table, tuple((cells if len(order) == 1 else groups)[:, column] for column in order), shares)


def cosine(t):
    """cos(2 pi t)"""
    t = np.clip(t, -2.0**50, 2.0**50)
    x = 2 * PI * (0.25 - abs(t - rounded(t)))
    y, series = x * x, 1.0
    for k in (210, 156, 110, 72, 42, 20, 6):
        series = 1 - y * (1 / k) * series
    return x * series


def add_moments(part, counters, records):
    norm, features, targets, _, absolute = part.extra
    one, target = (3072, 8192 / 3072) if targets else (8192, 1.0)
    lower, upper = part.arrays['lower'], part.arrays['upper']
    scale = np.where(np.arange(part.dims) < part.dims - targets, 1.0, target)
    columns = (clipped(part, records) - (lower / 2 + upper / 2)) * (2 / (upper - lower)) * scale
    inputs = columns[:, :part.dims - targets]
    values = [np.ones(len(records))]
    if features:
        kernel = Part('l2', part.dims - targets, 2 * PI * part.bandwidth, sequence=part.sequence)
        t, values_of_rows = coefficients(kernel, part.seed, np.arange(features, dtype=np.uint64), 0, 0)
        for value, column in zip(values_of_rows, inputs.T):
            t = t + value * column[:, None]
        values += list((min(1, math.sqrt(2 * 0.9 / math.sqrt(features))) * cosine(t)).T)
    values = np.column_stack(values + list(columns.T))
    least = np.append(np.zeros(values.shape[1] - targets), np.full(targets, 0.35 * 8192 / 3072))
    p = values.shape[1]
    places = np.triu_indices(p)
    for v in values:
        squares, total = 1.0, 1.0
        for s in np.maximum(abs(v), least)[1:]:
            squares, total = squares + s * s, total + s
        if absolute:
            squares = (squares + total * total) / 2
        factor = one * (norm / max(math.sqrt(squares), norm))
        v = np.clip(rounded(v * factor), -8192, 8192).astype(int)
        numbers, most = ((p + p * p) / 2, (8192**2 * p + 8192**2 * p * p) / 2) if absolute else (p, 8192**2 * p)
        limit = math.floor(min((norm * one + math.sqrt(numbers) / 2) ** 2, most)) + 1
        while ((v @ v + sum(abs(v)) ** 2) / 2 if absolute else v @ v) > limit:
            v -= np.sign(v)
        counters += np.outer(v, v)[places]


# ----------------------------------------------------------------------- values

VALUE = struct.Struct('<6B2xIIq5d4I')
CRC_TABLE = []
for remainder in range(256):
    for _ in range(8):
        remainder = remainder >> 1 ^ (0x82F63B78 if remainder & 1 else 0)
    CRC_TABLE.append(remainder)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


@dataclass
class Sketch:
    """A value: its parameters, its counters, and what is known of its noise."""
    parts: list
    counters: np.ndarray                # rows x range
    count: int = 0
    status: str = 'exact'
    mechanism: int = 0
    neighbors: int = 0
    bound: int = 0
    max_contributions: int = 0
    releases: int = 0
    epsilon: float = 0.0
    delta: float = 0.0
    rho: float = 0.0
    counter_variance: float = 0.0
    count_variance: float = 0.0
    parties: tuple = (0, 0, 0)          # parties that have shares, colluders, dropouts
    random_numbers: tuple = ()          # of a pair, and of shares
    model: bytes = b''

    def to_bytes(self):
        width = next(w for w in (1, 2, 4, 8) if abs(self.counters + (self.counters < 0)).max(initial=0) < 2 ** (8 * w - 1))
        data = VALUE.pack(1, width, STATUSES.index(self.status), self.mechanism, self.neighbors, self.bound, self.max_contributions,
                          self.releases, self.count, self.epsilon, self.delta, self.rho, self.counter_variance, self.count_variance,
                          *self.parties, len(self.model)) + encode_parameters(self.parts)
        data += struct.pack(f'<{len(self.random_numbers)}Q', *self.random_numbers) + self.counters.astype(f'<i{width}').tobytes() + self.model
        return data + struct.pack('<I', crc32c(data))

    def to_text(self):
        return base64.b64encode(self.to_bytes()).decode()

    def kernel_sum(self, query):
        """The sum of the kernel between the query and each record, of a value that is hashed."""
        first = self.parts[0]
        mean = self.counters[np.arange(first.rows), buckets(self.parts, [query], query=True)[0]].mean()
        return (first.range * mean - self.count) / (first.range - 1) if first.rehash == 'multilinear' else mean

    def density(self, query):
        return self.kernel_sum(query) / max(self.count, 1)

    def nodes(self):
        """The nodes of a grid, in records, as an array with an axis for each number."""
        part = self.parts[0]
        shape = part.arrays['cells'].astype(int) + 1
        return self.counters[0, :shape.prod()].reshape(shape) / 2.0 ** ({1: 12, 2: 8, 3: 6}[part.dims] * part.dims)

    def tables(self):
        """The number of records in each cell of each table, by the numbers of its columns: {(0,): ..., (0, 1): ...}."""
        tables = Tables(self.parts[0])
        return {order: table.sum(axis=-1) / (4096 if tables.parts > 1 else 1) for order, table in tables.split(self.counters[0]).items()}

    def means(self, lower, upper):
        """The mean of the measure, whose bounds these are, in each cell of each table."""
        return {order: lower + (upper - lower) * table[..., 1] / (table[..., 0] + table[..., 1])
                for order, table in Tables(self.parts[0]).split(self.counters[0]).items()}

    def moments(self):
        """The matrix of the sums of v_i v_j."""
        features, targets, coarser = self.parts[0].extra[1:4]
        p = 1 + features + self.parts[0].dims
        matrix = np.zeros((p, p))
        matrix[np.triu_indices(p)] = self.counters[0] * 2.0**coarser / (3072 if targets else 8192) ** 2
        return matrix + np.triu(matrix, 1).T


def read(value):
    """A value from its text, or from its bytes."""
    data = base64.b64decode(value, validate=True) if isinstance(value, str) else bytes(value)
    if len(data) < 148 or crc32c(data[:-4]) != int.from_bytes(data[-4:], 'little'):
        raise ValueError('this is no whole value: its checksum is wrong')
    version, width, status, mechanism, neighbors, bound, contributions, releases, count, *costs, parties, colluders, dropouts, model = VALUE.unpack_from(data)
    if version != 1 or width not in (1, 2, 4, 8) or max(mechanism, 2 * neighbors, 2 * status, 2 * bound) > 4 or any(data[6:8]):
        raise ValueError('this is no value of version 1')
    parts, size = decode_parameters(data[80:-4])
    start, numbers = 80 + size, (bound > 0) + (releases if status == 1 else 0)
    counters = parts[0].rows * parts[0].range
    if len(data) != start + 8 * numbers + width * counters + model + 4:
        raise ValueError('this value has another length than its parameters say')
    random_numbers = struct.unpack_from(f'<{numbers}Q', data, start)
    counters = np.frombuffer(data, f'<i{width}', counters, start + 8 * numbers).astype(np.int64).reshape(parts[0].rows, -1)
    sketch = Sketch(parts, counters, count, STATUSES[status], mechanism, neighbors, bound, contributions, releases, *costs,
                    (parties, colluders, dropouts), random_numbers, data[len(data) - 4 - model:-4])
    if sketch.to_bytes() != data or abs(counters).max(initial=0) > 2**62:
        raise ValueError('this value is not as it would be written')
    return sketch


def build(parts, records):
    """The exact value of these records."""
    first = parts[0]
    counters = np.zeros((first.rows, first.range), np.int64)
    for start in range(0, len(records), 256):
        some = records[start:start + 256]
        if first.sequence == 'grid':
            add_to_grid(first, counters[0], some)
        elif first.kernel == 'tables':
            Tables(first).add(counters[0], np.array(some, float))
        elif first.kernel == 'moments':
            add_moments(first, counters[0], some)
        else:
            np.add.at(counters, (np.arange(first.rows), buckets(parts, some)), 1)
    return Sketch(parts, counters, len(records))
