"""Read, question and build values of racepriv, the PostgreSQL extension for private sketches, without a server.

    sketch = racepriv.read(text)            # a race_sketch, as text or bytes
    sketch.count, sketch.kernel_sum([30, 2500]), sketch.density([30, 2500]), sketch.nodes(), sketch.tables(), sketch.moments()
    racepriv.build([racepriv.Part('l2', dims=2, sequence='sobol')], records).to_text()

The specification is doc/format.md of racepriv: words here are those of that page, and so is the order.
"""
import base64
import functools
import itertools
import math
import struct
import uuid
from types import SimpleNamespace

import numpy as np

KERNELS = ['', 'l2', 'l1', 'angular', 'jaccard', 'match', 'moments', 'least_squares', 'margin', 'tables']
SEQUENCES = ['', 'independent', 'sobol', '', 'grid', 'structured', '', 'grouped']
REHASHES = ['', 'fold', 'multilinear']
ARRAYS = ['bandwidths', 'lower', 'upper', 'matrix', 'offset', 'cells', 'groups', 'measured']
LOSSES = ('least_squares', 'margin')
# moments: norm, features, targets, coarser, clip; losses: radius, query_radius; tables: lengths of joined and workload
EXTRA = {'moments': '<dHHBB2x', 'least_squares': '<dd', 'margin': '<dd', 'tables': '<II8x'}
PART, VALUE = struct.Struct('<4B4IIqdIBB2x'), struct.Struct('<6B2xIIq5d4I')
FIELDS = ('status mechanism neighbors bound max_contributions releases count epsilon delta rho counter_variance count_variance '
          'parties colluders dropouts').split()
EXACT, SHARE, PRIVATE = 0, 1, 2
ROW_FUNCTIONS, BUCKETS, SCRAMBLING = 1, 2, 3            # streams of random bits
GRID_BITS = {1: 12, 2: 8, 3: 6}
PI = 3.14159265358979323846
U64 = np.uint64

# ------------------------------------------------------------------ values and parameters

CRC = list(range(256))
for _ in range(8):
    CRC = [crc >> 1 ^ (0x82F63B78 if crc & 1 else 0) for crc in CRC]

def crc32c(data):
    return functools.reduce(lambda crc, byte: crc >> 8 ^ CRC[(crc ^ byte) & 0xFF], data, 0xFFFFFFFF) ^ 0xFFFFFFFF

class Part(SimpleNamespace):
    """The parameters of one kernel. There is no "auto": sequence and rehash are said. arrays are named as in ARRAYS; outputs is how
    many rows matrix or measured has."""
    def __init__(self, kernel, dims=0, bandwidth=1.0, **fields):
        defaults = {'power': 1, 'rows': 1024, 'range': 1024, 'seed': 0, 'sequence': 'independent', 'rehash': 'fold', 'nulls': 0,
                    'arrays': {}, 'outputs': 0, 'extra': ()}
        super().__init__(kernel=kernel, dims=dims, bandwidth=bandwidth, **{**defaults, **fields})
        self.has_offset = kernel in ('l2', 'l1')
        self.coefficients = dims + 2 if kernel in LOSSES else self.outputs if 'matrix' in self.arrays else dims

    def encode(self, is_first, further):
        flags = sum(1 << number for number, name in enumerate(ARRAYS) if name in self.arrays)
        arrays = b''.join((np.array(self.arrays[name], '<f8') + 0.0).tobytes() for name in ARRAYS if name in self.arrays)
        head = [1, KERNELS.index(self.kernel), SEQUENCES.index(self.sequence), REHASHES.index(self.rehash), self.dims, self.power, self.rows,
                self.range, self.outputs, self.seed, self.bandwidth, len(arrays) + len(further), flags, self.nulls]
        if not is_first:
            head = [0 if place in (3, 6, 7, 9, 11) else value for place, value in enumerate(head)]
        return PART.pack(*head) + struct.pack(EXTRA.get(self.kernel, '16x'), *self.extra) + arrays + further

def encode_parameters(parts):
    """The bytes of a race_params."""
    return functools.reduce(lambda further, part: part.encode(part is parts[0], further), reversed(parts), b'')

def decode_parameters(data):
    """The parts of the parameters at the start of these bytes, and how many bytes they take."""
    parts, start, end = [], 0, 64
    while start < end:
        version, kernel, sequence, rehash, dims, power, rows, width, outputs, seed, bandwidth, more, flags, nulls = PART.unpack_from(data, start)
        if version != 1 or not 0 < kernel < 10 or sequence not in (1, 2, 4, 5, 7) or rehash > 2 or (rehash > 0) == bool(parts):
            raise ValueError('these are no parameters of version 1')
        end, kernel = end if parts else 64 + more, KERNELS[kernel]
        extra = struct.unpack_from(EXTRA.get(kernel, ''), data, start + 48)
        shapes, arrays, start = {'matrix': (outputs, dims), 'groups': (3, dims), 'measured': (outputs, 3)}, {}, start + 64
        if kernel == 'tables':
            shapes.update(offset=extra[:1], bandwidths=(extra[1], 3))
        for name in (name for number, name in enumerate(ARRAYS) if flags >> number & 1):
            shape = shapes.get(name, (dims,))
            arrays[name] = np.frombuffer(data, '<f8', math.prod(shape), start).reshape(shape)
            start += arrays[name].nbytes
        parts.append(Part(kernel, dims, bandwidth, power=power, rows=rows, range=width, seed=seed, sequence=SEQUENCES[sequence],
                          rehash=REHASHES[rehash], nulls=nulls, arrays=arrays, outputs=outputs, extra=extra))
    if encode_parameters(parts) != data[:end]:
        raise ValueError('these parameters are not as they are written')
    return parts, end

class Sketch(SimpleNamespace):
    """A value: the parts of its parameters, FIELDS, random_numbers, counters (rows x range), and the bytes of its model."""
    def to_bytes(self):
        most = int(max(self.counters.max(), -1 - self.counters.min()))
        width = next(width for width in (1, 2, 4, 8) if most < 2 ** (8 * width - 1))
        data = VALUE.pack(1, width, *(getattr(self, name) for name in FIELDS), len(self.model)) + encode_parameters(self.parts)
        data += struct.pack(f'<{len(self.random_numbers)}Q', *self.random_numbers) + self.counters.astype(f'<i{width}').tobytes() + self.model
        return data + struct.pack('<I', crc32c(data))

    def to_text(self):
        return base64.b64encode(self.to_bytes()).decode()

    def kernel_sum(self, query):
        """The sum of the kernel of the query and each record, of a value that is hashed."""
        first = self.parts[0]
        mean = self.counters[np.arange(first.rows), buckets(self.parts, [query], is_query=True)[0]].mean()
        return (first.range * mean - self.count) / (first.range - 1) if first.rehash == 'multilinear' else mean

    def density(self, query):
        return self.kernel_sum(query) / max(self.count, 1)

    def nodes(self):
        """The nodes of a grid in records: an array with an axis for each number."""
        shape = self.parts[0].arrays['cells'].astype(int) + 1
        return self.counters[0, :shape.prod()].reshape(shape) / 2.0 ** (len(shape) * GRID_BITS[len(shape)])

    def tables(self):
        """How many records are in each cell of each table, by the numbers of the columns: {(0,): array, (0, 1): array, ...}."""
        tables = split_tables(self.parts[0], self.counters[0])
        return {columns: table.sum(axis=-1) / (4096 if table.shape[-1] > 1 else 1) for columns, table in tables.items()}

    def moments(self):
        """The symmetric matrix of the sums of v_i v_j."""
        _, features, targets, coarser, _ = self.parts[0].extra
        if coarser:
            raise ValueError('moments in coarser units are not read here')
        matrix = np.zeros((1 + features + self.parts[0].dims,) * 2)
        matrix[np.triu_indices(len(matrix))] = self.counters[0] / (3072 if targets else 8192) ** 2
        return matrix + np.triu(matrix, 1).T

def read(value):
    """The value that a text has, or bytes."""
    data = base64.b64decode(value, validate=True) if isinstance(value, str) else bytes(value)
    if len(data) < 148 or crc32c(data[:-4]) != int.from_bytes(data[-4:], 'little'):
        raise ValueError('this is no whole value: the checksum is wrong')
    version, width, *fields, model = VALUE.unpack_from(data)
    sketch = Sketch(**dict(zip(FIELDS, fields)))
    if version != 1 or width not in (1, 2, 4, 8) or max(sketch.status, sketch.bound, sketch.neighbors) > 2 or sketch.mechanism > 4:
        raise ValueError('this is no value of version 1')
    sketch.parts, size = decode_parameters(data[80:])
    first, numbers, start = sketch.parts[0], (sketch.bound > 0) + (sketch.releases if sketch.status == SHARE else 0), 80 + size
    end = start + 8 * numbers + width * first.rows * first.range
    if len(data) != end + model + 4:
        raise ValueError('this value has another length than its parameters say')
    sketch.random_numbers = struct.unpack_from(f'<{numbers}Q', data, start)
    sketch.counters = np.frombuffer(data[start + 8 * numbers:end], f'<i{width}').astype(np.int64).reshape(first.rows, first.range)
    sketch.model = data[end:-4]
    if sketch.to_bytes() != data or max(sketch.counters.max(), -sketch.counters.min()) > 2**62:
        raise ValueError('this value is not as it is written')
    return sketch

def build(parts, records):
    """The exact value of these records. Of a product, a record is a tuple with a value for each part."""
    first = parts[0]
    add = add_to_grid if first.sequence == 'grid' else {'tables': add_to_tables, 'moments': add_to_moments}.get(first.kernel)
    counters = np.zeros((first.rows, first.range), np.int64)
    for start in range(0, len(records), 256):
        some = records[start:start + 256]
        if add:
            add(first, counters[0], some)
        else:
            np.add.at(counters, (np.arange(first.rows), buckets(parts, some)), 1)
    return Sketch(**{**dict.fromkeys(FIELDS, 0), 'count': len(records)}, parts=parts, counters=counters, random_numbers=(), model=b'')

# ------------------------------------------------------------------ random bits

def high(words):
    return words >> U64(32)

def low(words):
    return words & U64(0xFFFFFFFF)

def philox(seed, c0, c1, c2, c3):
    """c0 + 2^32 c1 and c2 + 2^32 c3 after ten rounds, of integers or arrays."""
    c0, c1, c2, c3 = (np.atleast_1d(np.asarray(c, U64)) for c in (c0, c1, c2, c3))
    for r in range(10):
        k0, k1 = (U64(k % 2**32) for k in (seed + r * 0x9E3779B9, (seed >> 32) + r * 0xBB67AE85))
        p0, p1 = U64(0xD2511F53) * c0, U64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = high(p1) ^ c1 ^ k0, low(p1), high(p0) ^ c3 ^ k1, low(p0)
    return c0 | c1 << U64(32), c2 | c3 << U64(32)

def random_bits(seed, stream, row, function, element):
    return philox(seed, element, row, function, stream)[0]

def open_uniform(bits):
    return ((bits >> U64(12)).astype(float) + 0.5) * 2.0**-52

def half_open_uniform(bits):
    return (bits >> U64(11)).astype(float) * 2.0**-53

JOE_KUO = [list(map(int, numbers.split())) for numbers in '''1 0 1|2 1 1 3|3 1 1 3 1|3 2 1 1 1|4 1 1 1 3 3|4 4 1 3 5 13|5 2 1 1 5 5 17
|5 4 1 1 5 5 5|5 7 1 1 7 11 19|5 11 1 1 5 1 1|5 13 1 1 1 3 11|5 14 1 3 5 5 31|6 1 1 3 3 9 7 49|6 13 1 1 1 15 21 21|6 16 1 3 1 13 27 49
|6 19 1 1 1 15 7 5|6 22 1 3 1 15 13 25|6 25 1 1 5 5 19 61|7 1 1 3 7 11 23 15 103|7 4 1 3 7 13 13 15 69'''.split('|')]

def sobol_bits(seed, rows, dimension):
    """The scrambled Sobol' points of these rows in a dimension."""
    m, point = [1] * 25, np.zeros(len(rows), U64)
    if 1 <= dimension <= 20:
        degree, coefficients, *m = JOE_KUO[dimension - 1]
        for i in range(degree, 25):
            terms = [m[i - k] << k for k in range(1, degree) if coefficients >> degree - 1 - k & 1]
            m.append(functools.reduce(int.__xor__, terms, m[i - degree] ^ m[i - degree] << degree))
    for i in range(25):
        point ^= (rows >> U64(i) & U64(1)) * U64(m[i] << 24 - i)
    scrambled = point
    for digit in range(25):
        flips = random_bits(seed, SCRAMBLING, point >> U64(25 - digit), dimension, digit) & U64(1)
        scrambled = scrambled ^ flips << U64(24 - digit)
    return scrambled << U64(39) | random_bits(seed, SCRAMBLING, rows, dimension, 25) >> U64(25)

NORMAL = [list(map(float, numbers.split())) for numbers in '''\
2509.0809287301226727 33430.575583588128105 67265.770927008700853 45921.953931549871457 13731.693765509461125 1971.5909503065514427 133.14166789178437745 3.387132872796366608
5226.495278852854561 28729.085735721942674 39307.89580009271061 21213.794301586595867 5394.1960214247511077 687.1870074920579083 42.313330701600911252 1
7.7454501427834140764e-4 0.0227238449892691845833 0.24178072517745061177 1.27045825245236838258 3.64784832476320460504 5.7694972214606914055 4.6303378461565452959 1.42343711074968357734
1.05075007164441684324e-9 5.475938084995344946e-4 0.0151986665636164571966 0.14810397642748007459 0.68976733498510000455 1.6763848301838038494 2.05319162663775882187 1
2.01033439929228813265e-7 2.71155556874348757815e-5 0.0012426609473880784386 0.026532189526576123093 0.29656057182850489123 1.7848265399172913358 5.4637849111641143699 6.6579046435011037772
2.04426310338993978564e-15 1.4215117583164458887e-7 1.8463183175100546818e-5 7.868691311456132591e-4 0.0148753612908506148525 0.13692988092273580531 0.59983220655588793769 1'''.splitlines()]

def horner(coefficients, x):
    return functools.reduce(lambda total, coefficient: total * x + coefficient, coefficients)

def logarithm(x):
    m, e = np.frexp(x)
    m, e = np.where(m < 0.70710678118654752, 2 * m, m), e - (m < 0.70710678118654752)
    s = (m - 1) / (m + 1)
    return e * 0.69314718055994530942 + 2 * s * horner([0.0] + [1 / k for k in range(23, 0, -2)], s * s)

def inverse_normal(p):
    """Wichura's AS 241."""
    a, b, c, d, e, f = NORMAL
    q = p - 0.5
    r = 0.180625 - q * q
    middle = q * horner(a, r) / horner(b, r)
    r = np.sqrt(-logarithm(np.where(q < 0, p, 1 - p)))
    tail = np.where(r <= 5, horner(c, r - 1.6) / horner(d, r - 1.6), horner(e, r - 5) / horner(f, r - 5))
    return np.where(abs(q) <= 0.425, middle, np.copysign(tail, q))

def inverse_cauchy(p):
    v = p - 0.5
    w = abs(v)
    x, s, c = PI * np.where(w <= 0.25, w, 0.5 - w), 1.0, 1.0
    for k in range(16, 0, -2):
        s, c = 1 - s * (x * x) / (k * (k + 1)), 1 - c * (x * x) / (k * (k - 1))
    return np.copysign(np.where(w <= 0.25, s * x / c, c / (s * x)), v)

@functools.partial(np.vectorize, otypes=[float])
def fma(a, b, c):
    """ab + c, rounded once: Python divides integers with one rounding."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return c if math.isfinite(a) and math.isfinite(b) else a * b + c
    (a, a_unit), (b, b_unit), (c, c_unit) = (x.as_integer_ratio() for x in (a, b, c))
    numerator = a * b * c_unit + c * a_unit * b_unit
    try:
        return numerator / (a_unit * b_unit * c_unit)
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf

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
    return functools.reduce(lambda rest, pair: rest - pair[0] * pair[1], zip(values, part.arrays.get('offset', ())), offset), values

def hadamard(z):
    """The sums of the numbers of each row, with the signs of Walsh functions."""
    shape, h = z.shape, 1
    while h < shape[1]:
        pairs = z.reshape(len(z), -1, 2, h)
        z, h = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(shape), 2 * h
    return z

def structured_projections(part, seed, row_count, function, vectors):
    """The projections of records that share fast Hadamard transforms."""
    size = max(1024, 1 << (part.dims - 1).bit_length())
    padded = np.zeros((len(vectors), size))
    padded[:, :part.dims] = (vectors - part.arrays.get('offset', 0.0)) / part.arrays.get('bandwidths', 1.0)
    projections, rows = [], np.arange(row_count)
    for first in range(0, row_count, size):
        words = random_bits(seed, ROW_FUNCTIONS, first, function, 2 + np.arange(3 * size // 64))
        signs = (words[:, None] >> np.arange(64, dtype=U64) & U64(1)).astype(bool).reshape(3, size)
        projections.append(functools.reduce(lambda z, negative: hadamard(np.where(negative, -z, z)), signs, padded))
    projections = np.concatenate(projections, axis=1)[:, :row_count]
    if part.kernel == 'angular':
        return projections
    variance = 2 / (9 * size)
    u = 1 - variance + inverse_normal(open_uniform(random_bits(seed, ROW_FUNCTIONS, rows, function, 1))) * np.sqrt(variance)
    offset = half_open_uniform(random_bits(seed, ROW_FUNCTIONS, rows, function, 0))
    return fma(projections, np.sqrt(u * u * u) / size / part.bandwidth, offset)

def clipped(part, records):
    vectors = np.array(records, float).reshape(len(records), part.dims)
    lower, upper = part.arrays.get('lower', -np.inf), part.arrays.get('upper', np.inf)
    vectors = np.where(vectors < lower, lower, vectors)
    return np.where(vectors > upper, upper, vectors)

def on_sphere(part, vectors):
    """Records of a loss as vectors of length 1, with two numbers more."""
    radius = np.full((len(vectors), 1), part.extra[0])
    if part.kernel == 'margin':
        radius, vectors = np.where(vectors[:, -1:] > 0, radius, -radius), np.hstack([vectors[:, :-1], np.zeros((len(vectors), 1))])
    with np.errstate(over='ignore'):
        z = np.clip(vectors / radius, -1e300, 1e300)
    largest = abs(z).max(axis=1, keepdims=True)
    z = np.where(largest > 1, z / np.maximum(largest, 1), z)
    squares = sum(column * column for column in z.T)[:, None]
    inside = (largest <= 1) & (squares <= 1)
    height = np.sqrt(np.where(inside, 1 - squares, 0))
    return np.hstack([z / np.sqrt(np.where(inside, 1, squares)), height, 0 * height])

def codes_of_vectors(part, seed, row_count, function, dimension, records):
    """Codes as doubles, a row for each record."""
    vectors = on_sphere(part, clipped(part, records)) if part.kernel in LOSSES else clipped(part, records)
    if part.sequence == 'structured':
        projections = structured_projections(part, seed, row_count, function, vectors)
    else:
        offset, values = coefficients(part, seed, np.arange(row_count, dtype=U64), function, dimension)
        projections = np.broadcast_to(offset, (len(vectors), row_count))
        for value, column in zip(values, vectors.T):
            projections = fma(value, column[:, None], projections)
    if not part.has_offset:
        return (projections >= 0).astype(float)
    return np.clip(np.floor(np.where(np.isnan(projections), -np.inf, projections)), -2.0**51, 2.0**51)

def element(item, seed, null=0):
    """The 64 bits of an integer, a text (str or bytes), a uuid or a NULL (None)."""
    state, blocks = ((0, 9), [null]) if item is None else ((0, 4), [item])
    if isinstance(item, (str, bytes, uuid.UUID)):
        text = item.bytes if isinstance(item, uuid.UUID) else item.encode() if isinstance(item, str) else item
        state, blocks = (0, 5), [len(text)] + [int.from_bytes(text[i:i + 8], 'little') for i in range(0, len(text), 8)]
    for block in blocks:
        x, y = int(block) % 2**64 ^ state[0], state[1]
        state = tuple(int(words[0]) for words in philox(seed, x % 2**32, x >> 32, y % 2**32, y >> 32))
    return state[0]

def codes_of_sets(part, seed, row_count, function, sets):
    rows, member = np.arange(row_count, dtype=U64), np.zeros(row_count, U64)
    if part.sequence == 'grouped':
        member = sum((rows >> U64(bit) & U64(1)) << U64(63 - bit) for bit in range(3))
        rows = rows // U64(64) * U64(64) + rows % U64(64) // U64(8)
    order = random_bits(seed, ROW_FUNCTIONS, rows, function, 0)[:, None]
    multiplier, golden, codes = U64(0xD256D193), 0x9E3779B9, []
    for items in sets:
        elements = np.array([element(item, seed) for item in items], U64)
        lower, upper, key = low(elements), high(elements) ^ high(order), low(order) ^ U64(golden)
        for i in (2, 3, 4):
            product = multiplier * upper
            upper, lower, key = high(product) ^ lower ^ key, low(product), U64(golden * i % 2**32)
        places = multiplier * upper ^ (lower ^ key) << U64(32) ^ member[:, None]
        codes.append(places.min(axis=1, initial=2**64 - 1))
    return np.array(codes)

def codes_of_categories(part, seed, row_count, function, dimension, records, null):
    rows = np.arange(row_count, dtype=U64)
    bits = sobol_bits(seed, rows, dimension) if part.sequence == 'sobol' else random_bits(seed, ROW_FUNCTIONS, rows, function, 0)
    places = high(high(bits) * U64(part.dims)).astype(int)
    return np.array([[element(item, seed, null) for item in record] for record in records], U64)[:, places]

def buckets(parts, records, is_query=False):
    """The bucket of each record in each row. Of a product, a record is a tuple with a value for each part."""
    first, dimension, codes = parts[0], 0, []
    for i, part in enumerate(parts):
        values = [record[i] for record in records] if len(parts) > 1 else list(records)
        for _ in range(part.power):
            where = (part, first.seed, first.rows, len(codes))
            if part.kernel == 'jaccard':
                codes.append(codes_of_sets(*where, values))
            elif part.kernel == 'match':
                codes.append(codes_of_categories(*where, dimension, values, int(is_query and part.nulls == 1)))
            else:
                codes.append(codes_of_vectors(*where, dimension, values))
            if part.sequence == 'sobol':
                dimension += 1 if part.kernel == 'match' else part.coefficients + part.has_offset
    if first.rehash == 'fold':
        if first.kernel == 'l2':
            return np.mod(codes[0], first.range).astype(int)
        return sum(code.astype(int) << (first.power - 1 - i) for i, code in enumerate(codes))
    total, *keys = [random_bits(first.seed, BUCKETS, np.arange(first.rows), 0, i) for i in range(2 * len(codes) + 1)]
    for j, code in enumerate(codes):
        words = code if code.dtype == U64 else (code + 6755399441055744.0).view(U64)
        total = total + keys[2 * j] * low(words) + keys[2 * j + 1] * high(words)
    return high(high(total) * U64(first.range)).astype(int)

# --------------------------------------------------------- grids, tables, moments

def add_to_grid(part, counters, records):
    cells = part.arrays['cells'].astype(int)
    bits = GRID_BITS[part.dims]
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

def tables_of(part):
    """How many cells each column has, how many of them are ordinary, cells of a group, and parts of a measure."""
    steps, own, _ = part.arrays['groups'].astype(int)
    cells = part.arrays['cells'].astype(int)
    columns, parts = (part.dims - 1, cells[-1]) if steps[-1] == 0 else (part.dims, 1)
    return cells[:columns], (cells - own)[:columns], steps[:columns], parts

def split_tables(part, counters):
    """The counters of each table, by the numbers of its columns; the last axis is the parts of a measure."""
    cells, ordinary, steps, parts = tables_of(part)
    groups = -(-ordinary // steps) + cells - ordinary
    if 'offset' in part.arrays:
        groups = [int(joined.max()) + 1 for joined in np.split(part.arrays['offset'], np.cumsum(groups)[:-1])]
    rows = part.arrays.get('measured', part.arrays.get('bandwidths', np.empty((0, 3))))[:, :2].astype(int).tolist()
    listed = [(i, j % 128, j // 128) if j % 128 != i and j > 127 else (i,) if j % 128 == i else (i, j) for i, j in rows]
    if 'measured' not in part.arrays:
        every = [(column,) for column in range(len(cells))] + list(itertools.combinations(range(len(cells)), 2))
        listed = every + [columns for columns in listed if len(columns) == 3]
    tables = {}
    for columns in listed:
        shape = [cells[columns[0]] if len(columns) == 1 else groups[column] for column in columns] + [parts]
        tables[columns], counters = counters[:math.prod(shape)].reshape(shape), counters[math.prod(shape):]
    return tables

def add_to_tables(part, counters, records):
    cells, ordinary, steps, parts = tables_of(part)
    records = np.array(records, float)
    cell = np.clip(np.floor(records[:, :len(cells)]), 0, cells - 1).astype(int)
    group = np.where(cell < ordinary, cell // steps, -(-ordinary // steps) + cell - ordinary)
    shares = np.ones((len(records), 1), int)
    if parts > 1:
        upper = np.clip(np.floor(records[:, -1]), 0, 4096).astype(int)
        shares = np.stack([4096 - upper, upper, 0 * upper], axis=1)[:, :parts]
        shares[(records[:, -1] > 4096) & (parts == 3)] = [0, 0, 4096][:parts]
    for columns, table in split_tables(part, counters).items():
        np.add.at(table, tuple((cell if len(columns) == 1 else group)[:, column] for column in columns), shares)

def rounded(x):
    return (x + 1.5 * 2.0**52) - 1.5 * 2.0**52

def cosine(t):
    """cos(2 pi t)"""
    t = np.clip(t, -2.0**50, 2.0**50)
    x = 2 * PI * (0.25 - abs(t - rounded(t)))
    return x * functools.reduce(lambda series, k: 1 - x * x * (1 / k) * series, (210, 156, 110, 72, 42, 20, 6), 1.0)

def columns_of_moments(part, vectors):
    """1, the features and the columns, in units of the bounds."""
    _, features, targets, _, _ = part.extra
    lower, upper, inputs = part.arrays['lower'], part.arrays['upper'], part.dims - targets
    columns = (vectors - (lower / 2 + upper / 2)) * (2 / (upper - lower)) * np.where(np.arange(part.dims) < inputs, 1.0, 8192 / 3072)
    if 'matrix' in part.arrays:
        moved = (vectors - part.arrays.get('offset', 0.0)).T
        columns = np.column_stack([0.5 * sum(m * x for m, x in zip(row, moved)) for row in part.arrays['matrix']])
        columns = np.clip(columns, -2.0**100, 2.0**100)
    values = [np.ones(len(vectors))]
    if features:
        kernel = Part('l2', inputs, 2 * PI * part.bandwidth, sequence=part.sequence)
        t, values_of_rows = coefficients(kernel, part.seed, np.arange(features, dtype=U64), 0, 0)
        t = functools.reduce(lambda t, pair: t + pair[0] * pair[1][:, None], zip(values_of_rows, columns.T[:inputs]), t)
        values += list((min(1, math.sqrt(2 * 0.9 / math.sqrt(features))) * cosine(t)).T)
    return np.column_stack(values + list(columns.T))

def add_to_moments(part, counters, records):
    norm, _, targets, _, absolute = part.extra
    values, one = columns_of_moments(part, clipped(part, records)), 3072 if targets else 8192
    p = values.shape[1]
    squares, total = np.ones((2, len(values)))
    for s in np.maximum(abs(values), np.repeat([0, 0.35 * 8192 / 3072], [p - targets, targets])).T[1:]:
        squares, total = squares + s * s, total + s
    squares = (squares + total * total) / 2 if absolute else squares
    v = np.clip(rounded(values * (one * (norm / np.maximum(np.sqrt(squares), norm)))[:, None]), -8192, 8192).astype(int)
    numbers = (p + p * p) // 2 if absolute else p
    limit = math.floor(min((norm * one + math.sqrt(numbers) / 2) ** 2, 8192**2 * numbers)) + 1
    too_long = [True]
    while any(too_long):
        sizes = (v * v).sum(axis=1)
        too_long = ((sizes + abs(v).sum(axis=1) ** 2) / 2 if absolute else sizes) > limit
        v -= np.sign(v) * too_long[:, None]
    counters += (v.T @ v)[np.triu_indices(p)]
