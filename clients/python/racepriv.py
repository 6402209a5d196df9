"""Read, question and build values of racepriv, the PostgreSQL extension for private sketches, without a server.

    sketch = racepriv.read(text)                # a race_sketch, as text or bytes
    sketch.count, sketch.density([30, 2500]), sketch.nodes(), sketch.tables(), sketch.moments(), sketch.points()
    racepriv.build([racepriv.Part(kernel='l2', dims=2, sequence='sobol')], records).to_text()
The specification is doc/format.md of racepriv: words here are those of that page, and so is the order.
"""
import base64
import functools
import itertools
import struct
from types import SimpleNamespace

import numpy as np

NAMES = {'kernel': ['', 'l2', 'l1', 'angular', 'jaccard', 'match', '', 'least_squares', 'margin'],
         'sequence': ['', 'independent', 'sobol', '', 'grid', 'structured', '', 'grouped'],
         'rehash': ['', 'fold', 'multilinear']}
KINDS = ['rows', 'grid', 'tables', 'moments']
PART, VALUE = struct.Struct('<4B4IIqdIHBB'), struct.Struct('<5BxBxIIq5d4I')
PART_FIELDS = 'version kernel sequence rehash dims power rows range outputs seed bandwidth more flags nulls kind'.split()
FIELDS = ('status mechanism neighbors max_contributions releases count epsilon delta rho counter_variance '
          'count_variance parties colluders dropouts').split()
ARRAYS = ['bandwidths', 'lower', 'upper', 'matrix', 'offset', 'workload', 'joined', 'cells', 'groups', 'measured',
          'signs', 'searched', 'ends']
# moments: norm, features, targets, coarser, clip; losses: radius, query_radius; tables: lengths of joined, workload, measured, signs
EXTRA = {'moments': '<dHHBB2x', 'least_squares': '<dd', 'margin': '<dd', 'tables': '<4I'}
LOSSES, WITH_OFFSET = ('least_squares', 'margin'), ('l2', 'l1')
EXACT, SHARE, PRIVATE = 0, 1, 2
ROW_FUNCTIONS, BUCKETS, SCRAMBLING = 1, 2, 3            # streams of random bits
PI, LOW, GRID_BITS = 3.14159265358979323846, 0xFFFFFFFF, {1: 12, 2: 8, 3: 6}
GRID_HALVINGS = {1: 6, 2: 5, 3: 4}

# ------------------------------------------------------------------ values and parameters
def crc32c(data):
    table = functools.reduce(lambda crcs, _: [c >> 1 ^ 0x82F63B78 * (c & 1) for c in crcs], range(8), range(256))
    return functools.reduce(lambda crc, byte: crc >> 8 ^ table[(crc ^ byte) & 0xFF], data, 2**32 - 1) ^ 2**32 - 1

class Part(SimpleNamespace):
    """The parameters of one kernel, or of 'tables' or 'moments'. There is no "auto": sequence and rehash are said. arrays
    has NumPy arrays by the names in ARRAYS; outputs is how many rows matrix has."""
    power, rows, range, seed, bandwidth, sequence, rehash = 1, 1024, 1024, 0, 1.0, 'independent', 'fold'
    dims, outputs, nulls, arrays, extra = 0, 0, 0, {}, ()

    def widths(self):
        n = self.dims + 2 if self.kernel in LOSSES else self.outputs if 'matrix' in self.arrays else self.dims
        return self.bandwidth * self.arrays.get('bandwidths', np.ones(n))

    def clip(self, records):
        lower, upper = self.arrays.get('lower', -np.inf), self.arrays.get('upper', np.inf)
        return np.clip(np.array(records, float).reshape(len(records), self.dims), lower, upper)

def encode_parameters(parts):
    """The bytes of a race_params."""
    data = b''
    for part in reversed(parts):
        present = [name for name in ARRAYS if name in part.arrays]
        data = b''.join((np.array(part.arrays[name], '<f8') + 0.0).tobytes() for name in present) + data
        kind = part.kernel if part.kernel in KINDS else 'grid' if part.sequence == 'grid' else 'rows'
        codes = {name: names.index(getattr(part, name) if getattr(part, name) in names else '') for name, names in NAMES.items()}
        codes.update(version=3, kind=KINDS.index(kind), more=len(data), flags=sum(1 << ARRAYS.index(name) for name in present))
        if part is not parts[0]:
            codes.update(rehash=0, rows=0, range=0, seed=0, more=0)
        fields = (codes[name] if name in codes else getattr(part, name) for name in PART_FIELDS)
        data = PART.pack(*fields) + struct.pack(EXTRA.get(part.kernel, '16x'), *part.extra) + data
    return data

def decode_parameters(data):
    """The parts of the parameters at the start of these bytes, and how many bytes they take."""
    parts, start, end = [], 0, 64
    while start < end:
        part = Part(**dict(zip(PART_FIELDS, PART.unpack_from(data, start))), arrays={})
        vars(part).update({name: dict(enumerate(names)).get(vars(part)[name], '') for name, names in NAMES.items()})
        if part.kernel == '' and part.kind in (2, 3):
            part.kernel = KINDS[part.kind]
        part.extra = struct.unpack_from(EXTRA.get(part.kernel, ''), data, start + 48)
        shapes = {'matrix': (part.outputs, part.dims), 'groups': (4, part.dims)}
        if part.kernel == 'tables':
            shapes.update(joined=part.extra[:1], workload=(part.extra[1], 3), measured=(part.extra[2], 3), signs=part.extra[3:])
        end, start = end if parts else 64 + part.more, start + 64
        for name in (name for number, name in enumerate(ARRAYS) if part.flags >> number & 1):
            shape = shapes.get(name, (part.dims,))
            part.arrays[name] = np.frombuffer(data, '<f8', int(np.prod(shape)), start).reshape(shape)
            start += part.arrays[name].nbytes
        parts.append(part)
    names = [parts[0].rehash] + [name for part in parts for name in (part.kernel, part.sequence)]
    if encode_parameters(parts) != data[:end] or '' in names:
        raise ValueError('these are no parameters of version 3, or not as they are written')
    return parts, end

class Sketch(SimpleNamespace):
    """A value: the parts of its parameters, FIELDS, columns (bytes of JSON), random_numbers, counters (rows x range), the
    bytes of its model."""
    columns = b''

    def to_bytes(self):
        width = next(width for width in (1, 2, 4, 8) if (self.counters.astype(f'<i{width}') == self.counters).all())
        fields = [vars(self)[name] for name in FIELDS]
        data = VALUE.pack(3, width, *fields[:3], self.columns != b'', *fields[3:], len(self.model)) + encode_parameters(self.parts)
        data += struct.pack('<I', len(self.columns)) + self.columns if self.columns else b''
        data += self.random_numbers.tobytes() + self.counters.astype(f'<i{width}').tobytes() + self.model
        return data + struct.pack('<I', crc32c(data))

    def to_text(self):
        return base64.b64encode(self.to_bytes()).decode()

    def kernel_sum(self, query):
        """The sum of the kernel of the query and each record, of a value that is hashed, by its rows alone."""
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
        """How many records are in each cell of each table, by numbers of columns: {(0,): array, (0, 1): array, ...}."""
        _, tables = split_tables(self.parts[0], self.counters[0])
        return {columns: table.sum(axis=-1) / (4096 if table.shape[-1] > 1 else 1) for columns, table in tables.items()}

    def signs(self):
        """The sum of products of signs of each pair of columns that has them, in records: {(0, 1): number, ...}."""
        part = self.parts[0]
        _, tables = split_tables(part, self.counters[0])
        columns = np.flatnonzero(part.arrays.get('signs', np.zeros(1))[1:]).tolist()
        pairs = [(i, j) for i in columns for j in columns if i < j]
        unit = 4096 if tables[0,].shape[-1] > 1 else 1
        return {pair: float(counter) / unit for pair, counter in zip(pairs, self.counters[0, self.counters.shape[1] - len(pairs):])}

    def moments(self):
        """The symmetric matrix of the sums of v_i v_j."""
        _, features, targets, coarser, _ = self.parts[0].extra
        matrix = np.zeros((1 + features + self.parts[0].dims,) * 2)
        matrix[np.triu_indices(len(matrix))] = self.counters[0] * 2.0**coarser / (3072 if targets else 8192) ** 2
        return matrix + np.triu(matrix, 1).T

    def points(self):
        """The weights and the points of a model of vectors: two arrays."""
        n, numbers = int.from_bytes(self.model[:8], 'little'), np.frombuffer(self.model, '<f8')[4:]
        return (numbers[:n] + numbers[n:2 * n]) / 2, numbers[2 * n:].reshape(n, self.parts[0].dims)

def read(value):
    """The value that a text has, or bytes."""
    data = base64.b64decode(value, validate=True) if isinstance(value, str) else bytes(value)
    if len(data) < 148 or data[1] not in (1, 2, 4, 8) or crc32c(data[:-4]) != int.from_bytes(data[-4:], 'little'):
        raise ValueError('this is no whole value')
    _, width, *fields, _ = VALUE.unpack_from(data)
    sketch = Sketch(**dict(zip(FIELDS, fields[:3] + fields[4:])))
    sketch.parts, size = decode_parameters(data[80:])
    first, rest = sketch.parts[0], data[80 + size:-4]
    if fields[3]:
        sketch.columns, rest = rest[4:][:int.from_bytes(rest[:4], 'little')], rest[4 + int.from_bytes(rest[:4], 'little'):]
    start = 8 * sketch.releases * (sketch.status == SHARE)
    end = start + width * first.rows * first.range
    sketch.random_numbers, sketch.model = np.frombuffer(rest[:start], '<u8'), rest[end:]
    sketch.counters = np.frombuffer(rest[start:end], f'<i{width}').astype(np.int64).reshape(first.rows, first.range)
    if (max(sketch.status, sketch.neighbors) > 2 or sketch.mechanism > 4 or sketch.to_bytes() != data or
            max(sketch.counters.max(), -sketch.counters.min()) > 2**62):
        raise ValueError('this is no value of version 3, or not as it is written')
    return sketch

def build(parts, records):
    """The exact value of these records. Of a product, a record is a tuple with a value for each part."""
    add = {'grid': add_to_grid, 'tables': add_to_tables, 'moments': add_to_moments}
    add = add.get(parts[0].sequence) or add.get(parts[0].kernel, add_to_rows)
    counters = np.zeros((parts[0].rows, parts[0].range), np.int64)
    for start in range(0, len(records), 256):
        add(parts, counters, records[start:start + 256])
    return Sketch(**{**dict.fromkeys(FIELDS, 0), 'count': len(records)}, parts=parts, random_numbers=np.array([]),
                  counters=counters, model=b'')

# ------------------------------------------------------------------ random bits
def philox(seed, *counter):
    """c0 + 2^32 c1 and c2 + 2^32 c3 after ten rounds, of integers or arrays. The first are the random bits."""
    c0, c1, c2, c3 = (np.atleast_1d(np.asarray(c).astype(np.uint64)) for c in counter)
    for r in range(10):
        k0, k1 = (seed + r * 0x9E3779B9) % 2**32, ((seed >> 32) + r * 0xBB67AE85) % 2**32
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & LOW, p0 >> 32 ^ c3 ^ k1, p0 & LOW
    return c0 | c1 << 32, c2 | c3 << 32

JOE_KUO = [list(map(int, numbers.split())) for numbers in '''1 0 1|2 1 1 3|3 1 1 3 1|3 2 1 1 1|4 1 1 1 3 3|4 4 1 3 5 13
|5 2 1 1 5 5 17|5 4 1 1 5 5 5|5 7 1 1 7 11 19|5 11 1 1 5 1 1|5 13 1 1 1 3 11|5 14 1 3 5 5 31|6 1 1 3 3 9 7 49
|6 13 1 1 1 15 21 21|6 16 1 3 1 13 27 49|6 19 1 1 1 15 7 5|6 22 1 3 1 15 13 25|6 25 1 1 5 5 19 61
|7 1 1 3 7 11 23 15 103|7 4 1 3 7 13 13 15 69'''.split('|')]

def sobol_bits(seed, rows, dimension):
    """The scrambled Sobol' points of these rows in a dimension."""
    s, a, *m = JOE_KUO[dimension - 1] if 1 <= dimension <= 20 else [25, 0] + [1] * 25
    for i in range(s, 25):
        terms = (m[i - k] << k for k in range(1, s + 1) if 2 * a + 1 >> s - k & 1)
        m.append(functools.reduce(int.__xor__, terms, m[i - s]))
    point = np.bitwise_xor.reduce([(rows >> i & 1) * (m[i] << 24 - i) for i in range(25)])
    digits = np.arange(25, dtype=np.uint64)[:, None]
    flips = (philox(seed, digits, point >> 25 - digits, dimension, SCRAMBLING)[0] & 1) << 24 - digits
    return np.bitwise_xor.reduce([point, *flips]) << 39 | philox(seed, 25, rows, dimension, SCRAMBLING)[0] >> 25

AS_241 = np.array('''2509.0809287301226727 33430.575583588128105 67265.770927008700853 45921.953931549871457
13731.693765509461125 1971.5909503065514427 133.14166789178437745 3.387132872796366608 5226.495278852854561
28729.085735721942674 39307.89580009271061 21213.794301586595867 5394.1960214247511077 687.1870074920579083
42.313330701600911252 1 7.7454501427834140764e-4 0.0227238449892691845833 0.24178072517745061177 1.27045825245236838258
3.64784832476320460504 5.7694972214606914055 4.6303378461565452959 1.42343711074968357734 1.05075007164441684324e-9
5.475938084995344946e-4 0.0151986665636164571966 0.14810397642748007459 0.68976733498510000455 1.6763848301838038494
2.05319162663775882187 1 2.01033439929228813265e-7 2.71155556874348757815e-5 0.0012426609473880784386
0.026532189526576123093 0.29656057182850489123 1.7848265399172913358 5.4637849111641143699 6.6579046435011037772
2.04426310338993978564e-15 1.4215117583164458887e-7 1.8463183175100546818e-5 7.868691311456132591e-4
0.0148753612908506148525 0.13692988092273580531 0.59983220655588793769 1'''.split(), float).reshape(3, 2, 8)

def inverse_normal(p):
    q = p - 0.5
    m, e = np.frexp(np.where(q < 0, p, 1 - p))
    m, e = np.where(m < 0.70710678118654752, 2 * m, m), e - (m < 0.70710678118654752)
    s = (m - 1) / (m + 1)
    r = np.sqrt(-(e * 0.69314718055994530942 + 2 * s * np.polyval([1 / k for k in range(23, 0, -2)], s * s)))
    arguments = zip(AS_241, (0.180625 - q * q, r - 1.6, r - 5))
    (a, b), (c, d), (e, f) = ([np.polyval(row, x) for row in rows] for rows, x in arguments)
    return np.where(abs(q) <= 0.425, q * a / b, np.copysign(np.where(r <= 5, c / d, e / f), q))

def inverse_cauchy(p):
    v, w, s, c = p - 0.5, abs(p - 0.5), 1.0, 1.0
    x = PI * np.minimum(w, 0.5 - w)
    for k in range(16, 0, -2):
        s, c = 1 - s * (x * x) / (k * (k + 1)), 1 - c * (x * x) / (k * (k - 1))
    return np.copysign(np.where(w <= 0.25, s * x / c, c / (s * x)), v)

@functools.partial(np.vectorize, otypes=[float])
def fma(a, b, c):
    """ab + c, rounded once: Python divides integers with one rounding."""
    try:
        (i, x), (j, y), (k, z) = (number.as_integer_ratio() for number in (a, b, c))
        return (i * j * z + k * x * y) / (x * y * z)
    except (OverflowError, ValueError):         # a number or the result is infinite, or a number is none
        return c if np.isfinite(a) and np.isfinite(b) and not np.isfinite(c) else a * b + c

# ---------------------------------------------------------------- row functions
def coefficients(part, seed, rows, function, dimension):
    """The offset and coefficients of the row functions of these rows, whose first random number has this dimension."""
    has_offset, draw = part.kernel in WITH_OFFSET, inverse_cauchy if part.kernel == 'l1' else inverse_normal
    bits = [sobol_bits(seed, rows, dimension + element - (not has_offset)) if part.sequence == 'sobol' else
            philox(seed, element, rows, function, ROW_FUNCTIONS)[0] for element in range(len(part.widths()) + 1)]
    values = [draw(((some >> 12) + 0.5) * 2.0**-52) / width for some, width in zip(bits[1:], part.widths())]
    if 'matrix' in part.arrays:
        values = [sum(m * value for m, value in zip(column, values)) for column in part.arrays['matrix'].T]
    moved = [value * number for value, number in zip(values, part.arrays.get('offset', ()))]
    return functools.reduce(np.subtract, moved, (bits[0] >> 11) * 2.0**-53 if has_offset else 0.0 * rows), values

def structured_projections(part, seed, rows, function, vectors):
    """The projections of records that share fast Hadamard transforms."""
    size = max(1024, 1 << (part.dims - 1).bit_length())
    words = philox(seed, np.arange(2, 2 + 3 * size // 64), rows[::size, None], function, ROW_FUNCTIONS)[0]
    signs = (words[..., None] >> np.arange(64, dtype=np.uint64) & 1).astype(bool).reshape(len(words), 3, size)
    z = (vectors - part.arrays.get('offset', 0.0)) / part.arrays.get('bandwidths', 1.0)
    z = np.pad(z, ((0, 0), (0, size - part.dims)))[:, None]
    for negative in np.moveaxis(signs, 1, 0):
        pairs = np.where(negative, -z, z)
        for bit in range(size.bit_length() - 1):
            left, right = np.moveaxis(pairs.reshape(-1, 2, 1 << bit), 1, 0)
            pairs = np.stack([left + right, left - right], axis=1)
        z = pairs.reshape(len(vectors), len(words), size)
    z = z.reshape(len(vectors), -1)[:, :len(rows)]
    if part.kernel == 'angular':
        return z
    offset, normal = (philox(seed, element, rows, function, ROW_FUNCTIONS)[0] for element in (0, 1))
    variance = 2 / (9 * size)
    u = 1 - variance + inverse_normal(((normal >> 12) + 0.5) * 2.0**-52) * np.sqrt(variance)
    return fma(z, np.sqrt(u * u * u) / size / part.bandwidth, (offset >> 11) * 2.0**-53)

def codes_of_vectors(part, seed, rows, function, dimension, records):
    """Codes as doubles, a row for each record. One of a loss becomes a vector of length 1, with two numbers more."""
    z = part.clip(records)
    if part.kernel in LOSSES:
        radius = np.where((z[:, -1:] > 0) | (part.kernel != 'margin'), part.extra[0], -part.extra[0])
        z = np.clip(z * (np.arange(part.dims) < part.dims - (part.kernel == 'margin')) / radius, -1e300, 1e300)
        largest = abs(z).max(axis=1, keepdims=True)
        z = z / np.maximum(largest, 1)
        squares = sum(column * column for column in z.T)[:, None]
        inside = (largest <= 1) & (squares <= 1)
        height = np.sqrt(np.where(inside, 1 - squares, 0))
        z = np.hstack([z / np.sqrt(np.where(inside, 1, squares)), height, 0 * height])
    if part.sequence == 'structured':
        projections = structured_projections(part, seed, rows, function, z)
    else:
        projections, values = coefficients(part, seed, rows, function, dimension)
        for value, column in zip(values, z.T):
            projections = fma(value, column[:, None], projections)
    if part.kernel in WITH_OFFSET:
        return np.clip(np.floor(np.where(np.isnan(projections), -np.inf, projections)), -2.0**51, 2.0**51)
    return (projections >= 0).astype(float)

def element(item, seed, null=0):
    """The 64 bits of an integer, a text (str or bytes), a uuid or a NULL (None)."""
    x, y, blocks = (0, 9, [null]) if item is None else (0, 4, [item])
    text = item.encode() if isinstance(item, str) else getattr(item, 'bytes', item)
    if isinstance(text, bytes):
        y, blocks = 5, [len(text), *(int.from_bytes(text[i:i + 8], 'little') for i in range(0, len(text), 8))]
    for block in blocks:
        x ^= int(block) % 2**64
        x, y = (int(words[0]) for words in philox(seed, x % 2**32, x >> 32, y % 2**32, y >> 32))
    return x

def codes_of_sets(part, seed, rows, function, dimension, sets):
    member, codes = 0 * rows, []
    if part.sequence == 'grouped':
        member = sum((rows >> bit & 1) << 63 - bit for bit in range(3))
        rows = rows // 64 * 64 + rows % 64 // 8
    order = philox(seed, 0, rows, function, ROW_FUNCTIONS)[0][:, None]
    for items in sets:
        elements = np.array([element(item, seed) for item in items], np.uint64)
        product, lower, key = 0xD256D193 * (elements >> 32 ^ order >> 32), elements & LOW, order & LOW ^ 0x9E3779B9
        for i in (2, 3, 4):
            upper, lower = product >> 32 ^ lower ^ key, product & LOW
            product, key = 0xD256D193 * upper, 0x9E3779B9 * i & LOW
        places = product ^ (lower ^ key) << 32 ^ member[:, None]
        codes.append(places.min(axis=1, initial=2**64 - 1))
    return np.array(codes)

def codes_of_categories(part, seed, rows, function, dimension, records, null=0):
    bits = (sobol_bits(seed, rows, dimension) if part.sequence == 'sobol' else
            philox(seed, 0, rows, function, ROW_FUNCTIONS)[0])
    places = ((bits >> 32) * part.dims >> 32).astype(int)
    return np.array([[element(item, seed, null) for item in record] for record in records], np.uint64)[:, places]

def buckets(parts, records, is_query=False):
    """The bucket of each record in each row. Of a product, a record is a tuple with a value for each part."""
    first, dimension, codes = parts[0], 0, []
    rows = np.arange(first.rows, dtype=np.uint64)
    for i, part in enumerate(parts):
        codes_of = {'jaccard': codes_of_sets, 'match': codes_of_categories}.get(part.kernel, codes_of_vectors)
        null = {'null': 1} if is_query and part.nulls == 1 else {}
        values = [record[i] for record in records] if len(parts) > 1 else list(records)
        for _ in range(part.power):
            codes.append(codes_of(part, first.seed, rows, len(codes), dimension, values, **null))
            if part.sequence == 'sobol':
                dimension += 1 if part.kernel == 'match' else len(part.widths()) + (part.kernel in WITH_OFFSET)
    if first.rehash == 'fold':
        return sum(code.astype(int) << first.power - 1 - i for i, code in enumerate(codes)) % first.range
    total, *keys = (philox(first.seed, i, rows, 0, BUCKETS)[0] for i in range(2 * len(codes) + 1))
    for j, code in enumerate(codes):
        words = code if code.dtype == np.uint64 else (code + 6755399441055744.0).view(np.uint64)
        total = total + keys[2 * j] * (words & LOW) + keys[2 * j + 1] * (words >> 32)
    return ((total >> 32) * first.range >> 32).astype(int)

def add_to_rows(parts, counters, records):
    np.add.at(counters, (np.arange(len(counters)), buckets(parts, records)), 1)

# --------------------------------------------------------- grids, tables, moments
def add_to_grid(parts, counters, records):
    lower, upper, cells = (parts[0].arrays[name] for name in ('lower', 'upper', 'cells'))
    dims, cells = len(cells), cells.astype(int)
    halvings = min([GRID_HALVINGS[dims]] + [int(n & -n).bit_length() - 1 for n in cells])
    x = np.floor((parts[0].clip(records) - lower) / ((upper - lower) / cells) * 2**20 + 0.5)
    x = np.clip(x.astype(int), 0, cells << 20)
    cell = np.minimum(x >> 20, cells - 1)
    weights = np.full((len(x), 1), 2 ** ((GRID_BITS[dims] - halvings) * dims))
    for position in ((x - (cell << 20)).T[:, :, None]):     # what goes right is rounded as running totals are
        right = np.diff((weights.cumsum(axis=1) * position + 2**19) >> 20, axis=1, prepend=0)
        weights = np.stack([weights - right, right], axis=2).reshape(len(x), -1)
    for corner, weight in zip(np.ndindex(*(2,) * dims), weights.T):
        np.add.at(counters[0], np.ravel_multi_index((cell + corner).T, cells + 1), weight << halvings * dims)

def split_tables(part, counters):
    """The group of each cell of each column, and the counters of each table; the last axis is parts of a measure."""
    cells, (steps, own, _, _) = part.arrays['cells'].astype(int), part.arrays['groups'].astype(int)
    columns, parts = (part.dims - 1, cells[-1]) if steps[-1] == 0 else (part.dims, 1)
    groups, tables, joined = [], {}, part.arrays.get('joined', np.array([])).astype(int)
    for n, step, last in zip(cells[:columns], steps, own):
        group = np.append(np.arange(n - last) // step, -(-(n - last) // step) + np.arange(last))
        groups.append(joined[:group[-1] + 1][group] if len(joined) else group)
        joined = joined[group[-1] + 1:]
    rows = part.arrays.get('measured', part.arrays.get('workload', np.empty((0, 3))))[:, :2].astype(int).tolist()
    listed = [(i % 128,) if j % 128 == i % 128 else (i, j % 128, j // 128) if j > 127 else (i, j) for i, j in rows]
    if 'measured' not in part.arrays:
        pairs = [(i, j) for i in range(len(groups)) for j in range(i + 1, len(groups))]
        sets = itertools.combinations(np.flatnonzero(part.arrays.get('searched', [])).tolist(), 3)
        listed = [(i,) for i in range(len(groups))] + pairs + [columns for columns in listed if len(columns) == 3]
        listed += sets
    for columns in listed:
        shape = [len(groups[columns[0]])] if len(columns) == 1 else [groups[column].max() + 1 for column in columns]
        table, counters = np.split(counters, [int(np.prod(shape)) * parts])
        tables[columns] = table.reshape(*shape, parts)
    return groups, tables

def add_to_tables(parts, counters, records):
    groups, tables = split_tables(parts[0], counters[0])
    records, width = np.array(records, float), next(iter(tables.values())).shape[-1]
    cells = [np.clip(np.floor(column), 0, len(group) - 1).astype(int) for column, group in zip(records.T, groups)]
    upper = np.clip(np.floor(records[:, -1:]), 0, 4096).astype(int)
    lacks = (records[:, -1:] > 4096) & (width == 3)
    shares = np.where(lacks, [0, 0, 4096], np.hstack([4096 - upper, upper, 0 * upper]))[:, :width] if width > 1 else 1
    for columns, table in tables.items():
        places = (cells[column] if len(columns) == 1 else groups[column][cells[column]] for column in columns)
        np.add.at(table, tuple(places), shares)

def add_to_moments(parts, counters, records):
    part, vectors = parts[0], parts[0].clip(records)
    norm, features, targets, _, absolute = part.extra
    lower, upper, one = part.arrays['lower'], part.arrays['upper'], 3072 if targets else 8192
    units = 2 / (upper - lower) * np.where(np.arange(part.dims) < part.dims - targets, 1.0, 8192 / 3072)
    columns = ((vectors - (lower / 2 + upper / 2)) * units).T
    if 'matrix' in part.arrays:
        moved = (vectors - part.arrays.get('offset', 0.0)).T
        columns = [0.5 * sum(m * x for m, x in zip(row, moved)) for row in part.arrays['matrix']]
    kernel = Part(kernel='l2', dims=part.dims - targets, bandwidth=2 * PI * part.bandwidth, sequence=part.sequence)
    t, values = coefficients(kernel, part.seed, np.arange(features, dtype=np.uint64), 0, 0)
    products = [value[:, None] * column for value, column in zip(values, columns)]
    t = np.clip(functools.reduce(np.add, products, t[:, None]), -2.0**50, 2.0**50)
    x, cosine = 2 * PI * (0.25 - abs(t - np.rint(t))), 1.0
    for k in (210, 156, 110, 72, 42, 20, 6):
        cosine = 1 - x * x * (1 / k) * cosine
    amplitude = min(1, np.sqrt(2 * 0.9 / np.sqrt(max(features, 1))))
    v = np.vstack([np.ones(len(vectors)), amplitude * (x * cosine), np.clip(columns, -2.0**100, 2.0**100)])
    p = len(v)
    s = np.maximum(abs(v), 0.35 * 8192 / 3072 * (np.arange(p) >= p - targets)[:, None])
    squares, sums = np.cumsum(s * s, axis=0)[-1], np.cumsum(s, axis=0)[-1]
    squares = (squares + sums * sums) / 2 if absolute else squares
    v = np.clip(np.rint(v * (one * (norm / np.maximum(np.sqrt(squares), norm)))), -8192, 8192).astype(int)
    numbers, too_long = (p + p * p) // 2 if absolute else p, True
    limit = int(min((norm * one + np.sqrt(numbers) / 2) ** 2, 8192**2 * numbers)) + 1
    while np.any(too_long):
        sizes = (v * v).sum(axis=0)
        too_long = ((sizes + abs(v).sum(axis=0) ** 2) / 2 if absolute else sizes) > limit
        v -= np.sign(v) * too_long
    counters[0] += (v @ v.T)[np.triu_indices(p)]
