"""The row functions of src/hash, by ctypes: the extension's own, outside of it."""
import ctypes
import itertools

import numpy as np

LANES = 64          # RACE_LANES


class Params(ctypes.Structure):
    """RaceParams of params.h: one kernel, of a product the first or a later one"""
    _fields_ = [('kind', ctypes.c_uint8), ('kernel', ctypes.c_uint8), ('sequence', ctypes.c_uint8), ('rehash', ctypes.c_uint8),
                ('dims', ctypes.c_uint32), ('seed', ctypes.c_int64),
                ('bandwidth', ctypes.c_double), ('power', ctypes.c_uint32),
                ('rows', ctypes.c_uint32), ('range', ctypes.c_uint32),
                ('outputs', ctypes.c_uint32), ('more', ctypes.c_uint32),
                ('arrays', ctypes.c_uint16), ('nulls', ctypes.c_uint8), ('reserved8', ctypes.c_uint8), ('reserved64', ctypes.c_uint64 * 2)]


class Column(ctypes.Structure):
    """RaceColumn of column.h"""
    _fields_ = [('numbers', ctypes.c_void_p), ('elements', ctypes.c_void_p),
                ('starts', ctypes.c_void_p), ('width', ctypes.c_uint32)]


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


class Vectors:
    """Records of numbers"""

    def __init__(self, x):
        self.numbers = np.ascontiguousarray(x, float)
        self.length = len(self.numbers)

    def column(self):
        return Column(numbers=self.numbers.ctypes.data, width=self.numbers.shape[1])

    def tofile(self, path):
        """As bare.c reads them"""
        self.numbers.tofile(path)


class Categories:
    """Records of elements, all of one length"""

    def __init__(self, elements):
        self.elements = np.ascontiguousarray(elements, np.uint64)

    def tofile(self, path):
        self.elements.tofile(path)


class Sets:
    """Records of elements: record i has elements[starts[i]:starts[i + 1]]"""

    def __init__(self, elements, starts):
        self.elements = np.ascontiguousarray(elements, np.uint64)
        self.starts = np.ascontiguousarray(starts, np.uintp)
        self.length = len(self.starts) - 1

    def column(self):
        return Column(elements=self.elements.ctypes.data, starts=self.starts.ctypes.data)

    def tofile(self, path):
        with open(path, 'wb') as file:
            np.array([self.length], np.uintp).tofile(file)
            self.starts.tofile(file)
            self.elements.tofile(file)


KERNEL, SEQUENCE, REHASH = 0, 7, 8      # RaceFieldNumber, fields.h


class Library:
    """A shared library of the room lsh"""

    def __init__(self, path):
        self.lsh = ctypes.CDLL(path)
        for function, result in (('race_rows_size', ctypes.c_size_t),
                                 ('race_hash_has', ctypes.c_bool),
                                 ('race_hash_path_name', ctypes.c_char_p),
                                 ('race_choice_name', ctypes.c_char_p),
                                 ('race_element_of_integer', ctypes.c_uint64)):
            getattr(self.lsh, function).restype = result
        self.lsh.race_element_of_integer.argtypes = [ctypes.c_int64] * 2

    def vector_code(self):
        """The last that the machine has is used"""
        names = map(self.lsh.race_hash_path_name, itertools.count())
        known = itertools.takewhile(lambda name: name is not None, names)
        return [name for name in known if self.lsh.race_hash_has(name)][-1].decode()

    def choice(self, field, name):
        """The number of a kernel, a sequence or a way of rehashing"""
        return next(number for number in range(64) if self.lsh.race_choice_name(field, number) == name.encode())

    def params(self, kernel, bandwidth=1, power=1, sequence=None, **others):
        """Parameters of one kernel; what is not stated is as in race_params()"""
        params = Params(kernel=self.choice(KERNEL, kernel),
                        bandwidth=bandwidth, power=power, **others)
        params.sequence = (self.lsh.race_default_sequence(ctypes.byref(params), 0)
                           if sequence is None else
                           self.choice(SEQUENCE, sequence))
        params.rehash = self.lsh.race_default_rehash(ctypes.byref(params))
        return params

    def product(self, *parts):
        """Parameters of a product of kernels, in bytes as params.h has them"""
        first, *others = (Params.from_buffer_copy(part) for part in parts)
        first.more = ctypes.sizeof(Params) * len(others)
        if others:
            first.rehash = self.choice(REHASH, 'multilinear')
        for part in others:
            part.seed = part.rehash = part.rows = part.range = 0
        return b''.join(map(bytes, (first, *others)))

    def elements(self, values, seed=0):
        """The elements that integers are hashed as"""
        distinct, places = np.unique(values, return_inverse=True)
        hashed = [self.lsh.race_element_of_integer(seed, int(value)) for value in distinct]
        return np.array(hashed, np.uint64)[places].reshape(np.shape(values))


class Rows:
    """The row functions of some parameters"""

    def __init__(self, library, params):
        self.lsh = library.lsh
        self.params = params
        self.made = ctypes.create_string_buffer(
            self.lsh.race_rows_size(ctypes.byref(params)))
        self.lsh.race_rows_init(self.made, ctypes.byref(params))
        self.lsh.race_rows_generate_all(self.made)

    def buckets(self, records, block):
        """[record, row of this block of LANES rows]"""
        buckets = np.empty((records.length, LANES), np.uint32)
        self.lsh.race_rows_hash(self.made, ctypes.c_size_t(block),
                                ctypes.byref(records.column()),
                                ctypes.c_size_t(records.length), pointer(buckets))
        return buckets[:, :self.params.rows - block * LANES]

    def blocks(self):
        return range((self.params.rows + LANES - 1) // LANES)

    def cells(self, records):
        """As Race.cells() of paper.py"""
        buckets = np.hstack([self.buckets(records, block) for block in self.blocks()])
        return buckets + np.arange(self.params.rows) * self.params.range
