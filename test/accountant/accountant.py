#!/usr/bin/env python3
"""A second accountant: what each release costs, computed from doc/privacy.md.

    accountant.py ask SEED N [KIND ...]    prints SQL that asks a server what N requests of each kind of cost come to
    accountant.py check [WRONG]            reads what psql printed, and prints for each kind how many answers are wrong

It shares no code with the server: costs are fractions, conversions have 50 digits.  What it holds each answer to:

- scales and variances are the least integers that cost at most their price.  The server rounds prices: the integer lies
  between those of prices that differ from the exact one by ULPS, or, of rho, are smaller by ZCDP or EXACT;
- a recorded cost is at least the exact cost of these integers, and above it by at most SUM (epsilon, rho) or ZCDP
  (an epsilon that follows from rho), or it is what was asked.

WRONG is a mistake that the answers must not agree with, as a control: cheap (a cost 1 % less), share (another part for
the count) or most (the largest cost of several in place of their sum).
"""
import math
import random
import sys
from decimal import Decimal as D, getcontext
from fractions import Fraction as F
from functools import lru_cache

getcontext().prec = 50
ULPS = F(1, 10**15)                 # of a double that was rounded once or twice
SUM = 1e-14                         # of a sum of a few doubles, each rounded up
ZCDP = 1e-9                         # of what zCDP converts, relative, and 1e-11 where epsilon is a difference
EXACT = 1e-7                        # of the exact account: a small delta is a difference of larger numbers
MOST = 2**56                        # the largest scale, in 256ths, and variance
UNITS = {1: 2**12, 2: 2**16, 3: 2**18}     # what a record adds to a grid
DETAIL = {1: 61, 2: 72, 3: 89 + 30}        # by what a record changes the look at a grid
PI = D('3.14159265358979323846264338327950288419716939937510')
wrong_way = ''

def ceil_div(x):
    return -(-x.numerator // x.denominator)

def fraction(x):
    return F(x) if math.isfinite(x) else F(10)**400

# ------------------------------------------------------------------ conversions

def best_order(goal, low=1e-14, high=1e60):
    """The alpha - 1 where a function that falls with it reaches 0, by bisection of its logarithm."""
    low, high = math.log(low), math.log(high)
    for _ in range(80):
        middle = (low + high) / 2
        if goal(math.exp(middle)) > 0:
            low = middle
        else:
            high = middle
    return math.exp(low)

def zcdp_epsilon(rho, delta):
    """The least epsilon of proposition 7.  Its derivative is 0 where rho (alpha - 1)^2 = -ln(delta alpha)."""
    if rho == 0:
        return D(0)
    r, log = float(rho), math.log(delta)
    a = D(best_order(lambda a: -log - math.log1p(a) - r * a * a))
    rho = D(rho.numerator) / D(rho.denominator)
    value = (1 + a) * rho + (a / (1 + a)).ln() - (D(delta).ln() + (1 + a).ln()) / a
    return max(value, D(0))

@lru_cache(None)
def zcdp_rho(epsilon, delta):
    """The largest rho of proposition 7: at the best order, with the rho of its derivative put in."""
    log = math.log(delta)

    def excess(a):
        rest = -log - math.log1p(a)
        return rest * (2 * a + 1) / a / a - math.log1p(1 / a) - epsilon if rest > 0 else -1

    a = D(best_order(excess))
    return (D(epsilon) - (a / (1 + a)).ln() + (D(delta).ln() + (1 + a).ln()) / a) / (1 + a)

def upper_tail(x):
    """P(Z > x) of a normal Z: its series, with digits for what cancels, or its continued fraction."""
    if x > 12:
        fraction_ = x
        for k in range(200, 0, -1):
            fraction_ = x + k / fraction_
        return (-x * x / 2).exp() / (2 * PI).sqrt() / fraction_
    term = total = x
    k = 1
    while abs(term) > D('1e-48'):
        term *= -x * x * (2 * k - 1) / (2 * k * (2 * k + 1))
        total += term
        k += 1
    return D('0.5') - total / (2 * PI).sqrt()

def balle_wang(a, epsilon):
    """delta of real Gaussian noise of cost a, and its derivative by mu (theorem 8)."""
    mu = (2 * a).sqrt()
    x, y = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return upper_tail(x) - epsilon.exp() * upper_tail(y), (-x * x / 2).exp() / (2 * PI).sqrt()

@lru_cache(None)
def exact_allowed(epsilon, delta):
    """The largest cost a of real Gaussian noise that is (epsilon, delta)-private, by Newton from zCDP."""
    a = zcdp_rho(epsilon, delta)
    for _ in range(60):
        value, slope = balle_wang(a, D(epsilon))
        mu = (2 * a).sqrt()
        # ln delta is concave in mu
        step = (D(delta).ln() - value.ln()) * value / slope
        a = (mu + max(min(step, mu / 2), -mu / 2)) ** 2 / 2
        if abs(step) < mu * D('1e-30'):
            break
    return a

# -------------------------------------------------------------------- the cost of noise

def scale_of(stddev):
    """256 b, of discrete Laplace noise with this standard deviation; its variance is 1 / (2 sinh^2(1 / 2b))"""
    return 128 / math.asinh(1 / (stddev * math.sqrt(2)))

def told(is_, least, most, resolution=1e-13):
    """Is a scale or variance, as a double, an integer between least and most?"""
    slack = max(is_ * resolution, 1e-6)
    return math.ceil(is_ - slack) <= is_ + slack and least - slack <= is_ <= most + slack

def bought(size, price):
    """The least scales for a price, which the server rounds: 256 of what changes, over the price"""
    return [ceil_div(256 * F(size) / (price * factor)) for factor in (1 + ULPS, 1 - ULPS)]

def integer(is_, least, most):
    """Which of these integers a double is; the largest, which costs least, where its digits do not tell"""
    return most if is_ > 2**40 else min(max(round(is_), least), most)

def recorded(cost, exact, asked=math.inf, tolerance=SUM, difference=0.0):
    """Is a recorded cost at least the exact one, or as much as was asked, and not above it by more than the tolerance?"""
    exact = F(exact) * (F(99, 100) if wrong_way == 'cheap' else 1)
    if fraction(cost) < exact and not (cost == asked and exact <= fraction(asked)):
        return False
    return cost <= asked and cost <= float(exact) * (1 + tolerance) + difference

def amounts(amount, tolerance):
    """An amount, and the least that the server's rounding leaves of it"""
    return amount, amount * (1 - F(tolerance))

def converted(epsilon, rho, delta, asked):
    """Is epsilon what rho means at delta, or what was asked?"""
    exact = zcdp_epsilon(rho, delta)
    return epsilon == asked or recorded(epsilon, F(exact), asked, ZCDP, 1e-11)

def count_share(shape, delta):
    share = 8 if shape['kind'] == 'rows' and delta > 0 else 20
    return share if wrong_way != 'share' else 28 - share

def weights(shape, rows, coarser=0):
    """What one record changes, for each number of levels that a grid can have: L1, and squared L2"""
    if shape['kind'] == 'rows':
        return [(rows, F(rows))]
    if shape['kind'] == 'grid':
        unit = UNITS[shape['dims']]
        return [(level * unit, F(level * unit * unit)) for level in ([1] if shape['fixed'] else [1, 2])]
    p, square = shape['p'], shape['square']
    up = lambda x: -(-x >> coarser) if coarser == 0 else -(-x // 2**coarser)
    l1 = square if shape['absolute'] else (math.isqrt(p * square)**2 + square) // 2
    frobenius = up(square) + (p if coarser else 0)
    return [(up(l1) + (p * (p + 1) // 2 if coarser else 0), F((frobenius**2 + 1) // 2))]

def moments(dims, norm, targets, absolute):
    """B, the largest squared norm of a record of moments"""
    p, s = dims + 1, 3072 if targets else 8192
    halves = D((p + p * p) / 2 if absolute else p).sqrt() / 2
    most = 8192**2 * ((p + p * p) // 2 if absolute else p)
    square = int(min((D(norm) * s + halves)**2, D(most))) + 1
    return {'kind': 'moments', 'p': p, 's': s, 'square': square, 'absolute': absolute}

def laplace(shape, answer, m, epsilon, l1):
    look = (0 if shape['kind'] == 'moments' or shape['fixed'] else
            answer['all_rows'] if shape['kind'] == 'rows' else DETAIL[shape['dims']] if shape['halves'] else 0)
    part = 20 if shape['kind'] == 'grid' and shape['dims'] > 1 else 50
    share, cost, apart, rest = count_share(shape, 0), F(0), F(0), F(epsilon)
    if look:
        # its scale is not told: it costs so much at least, and so much more at most
        cost, most = (F(256 * m * look, scale) for scale in reversed(bought(m * look, rest / part)))
        rest, apart = rest * (part - 1) / part, most - cost
    counters, counts = bought(m * l1, rest * (share - 1) / share), bought(m, rest / share)
    is_ = [scale_of(answer['counter']), scale_of(answer['count'])]
    if not (told(is_[0], *counters) and told(is_[1], *counts)):
        return False
    cost += F(256 * m * l1, integer(is_[0], *counters)) + F(256 * m, integer(is_[1], *counts))
    return (recorded(answer['epsilon'], cost, epsilon, 1e-12, float(apart)) and
            recorded(answer['rho'], F(answer['epsilon'])**2 / 2))

def wishart(shape, answer, m, epsilon):
    """A 20th for the count; of what is left, 298 of 304 parts for the trace, 5 for entries, and the rest for steps"""
    p, trace, price = shape['p'], m * shape['square'], F(epsilon) * 19 / 20
    steps = F(p * (p + 1) * 66 * m, 2**48)
    is_, counts = scale_of(answer['count']), bought(m, F(epsilon) / 20)

    def agrees(c, b):
        deviation = math.sqrt(2 * (p + 1) * c * c + 0.5 / math.sinh(128 / b)**2)
        cost = F(trace, 2 * c) + steps + F(256 * apart(c), b) + F(256 * m, integer(is_, *counts))
        return abs(answer['counter'] / deviation - 1) <= 1e-12 and recorded(answer['epsilon'], cost, epsilon, 1e-12)

    def apart(c):
        return (2 * (3 + c * (p + 1) * 131 // 2**48) + 1) * p * (p + 1) // 2 * m

    scales = sorted({ceil_div(F(trace * 304, 2 * 298) / (price * factor)) for factor in (1 + ULPS, 1 - ULPS)})
    return (told(is_, *counts) and any(agrees(c, b) for c in scales for b in bought(apart(c), price * 5 / 304)) and
            recorded(answer['rho'], F(answer['epsilon'])**2 / 2))

def gaussian(shape, answer, m, factor, epsilon, delta, l2, coarser):
    """Variances of zCDP, or of the exact account if they are smaller, for the sensitivities l2 and 1"""
    share, square = count_share(shape, delta), m * m * factor
    parts = [(square * l2, F(share, share - 1)), (F(square), F(share))]
    is_ = [answer['counter']**2 / 4**coarser, answer['count']**2]

    def agrees(allowed, tolerance, added):
        allowed = amounts(F(allowed), tolerance)
        return all(told(v, *(ceil_div(s * part / 2 / a) + added for a in allowed)) for v, (s, part) in zip(is_, parts))

    def costs(added):
        return sum(s / 2 / (round(v) - added) for v, (s, _) in zip(is_, parts))

    rho = costs(0)
    exact = factor == 1 and agrees(exact_allowed(epsilon, delta), EXACT, 4)
    allowed = exact_allowed(epsilon, delta) if exact else zcdp_rho(epsilon, delta)
    if not (exact or agrees(allowed, ZCDP, 0)) or (exact and costs(4) > F(allowed)):
        return False
    # the account with less noise, of the number that has less
    least = min(s * part for s, part in parts) / 2
    other = least / F(zcdp_rho(epsilon, delta)), least / F(exact_allowed(epsilon, delta)) + 4
    same = exact and agrees(zcdp_rho(epsilon, delta), ZCDP, 0)      # both have these integers
    if factor == 1 and not same and abs(other[0] - other[1]) > F(EXACT) * other[0] and exact != (other[1] < other[0]):
        return False
    close = 1e-13 if coarser or max(is_) > 2**50 else SUM
    return (recorded(answer['rho'], rho * (1 - F(close)), float(allowed) * (1 + 1e-15), 2 * close) and
            converted(answer['epsilon'], F(answer['rho']), delta, epsilon))

def check_cost(a):
    """race_privacy_cost: rows, grids with and without a look, moments with all kinds of noise"""
    shape = SHAPES[int(a[0])][1].copy()
    epsilon, delta, m, substitute = float(a[1]), float(a[2]), int(a[3]), a[4] == 'substitute'
    shape['fixed'] = a[5] != '' or shape.get('rows') == 1       # then there is nothing to choose
    answer = dict(zip(('rows', 'epsilon', 'delta', 'rho', 'counter', 'count'), map(float, a[7:])))
    answer['all_rows'] = shape.get('rows')
    if answer['delta'] != delta:
        return False
    unit = UNITS[shape['dims']] if shape['kind'] == 'grid' else shape['s']**2 if shape['kind'] == 'moments' else 1
    answer['counter'] *= unit
    factor = 2 if substitute else 1
    if a[6] == 'Wishart':
        return wishart(shape, answer, m * factor, epsilon)
    for coarser in range(40 if shape['kind'] == 'moments' else 1):
        choices = weights(shape, int(answer['rows']), coarser)
        if delta == 0:
            return any(laplace(shape, answer, m * factor, epsilon, l1) for l1, _ in choices)
        # the least number of bits for which the noise, twice as much on the diagonal, can be drawn
        if shape['kind'] != 'moments' or answer['counter']**2 / 4**coarser <= MOST / 2:
            return any(gaussian(shape, answer, m, factor, epsilon, delta, l2, coarser) for _, l2 in choices)
    return False

def check_convert(a):
    """Between rho and epsilon, both ways"""
    epsilon, delta, limit, rho, means = map(float, a)
    allowed = zcdp_rho(epsilon, delta)
    return (F(limit) <= F(allowed) and limit >= float(allowed) * (1 - ZCDP) and
            recorded(means, F(zcdp_epsilon(F(rho), delta)), math.inf, ZCDP, 1e-11))

# ------------------------------------------------------------------------ noise shares

def share_rho(square, cells, variance, shares):
    """r/2 + min(tau d, tau sqrt(r d) + tau^2 d / 2), exactly but for tau, which is rounded up"""
    r = F(square, variance * shares)
    k = range(1, min(shares, 65))
    tau = 10 * sum(math.exp(-2 * math.pi**2 * variance * i / (i + 1)) for i in k)
    tau += 10 * max(shares - 65, 0) * math.exp(-2 * math.pi**2 * variance * 65 / 66)
    return r / 2 + F(min(tau * cells, tau * math.sqrt(r * cells) + tau * tau * cells / 2))

def check_share(a):
    """race_share, of one share and of the sum of all: what n - t - d, or n - t of them cost"""
    kind, rows, cells, square = a[0], int(a[1]), int(a[2]), int(a[3])
    epsilon, delta = float(a[4]), float(a[5])
    parties, colluders, dropouts, m = map(int, a[6:10])
    factor = 2 if a[10] == 'substitute' else 1
    cost, at, rho, counter, count, sum_cost, sum_rho, sum_counter = map(float, a[11:])
    share = count_share({'kind': kind}, delta)
    allowed, honest = F(zcdp_rho(epsilon, delta)), parties - colluders - dropouts
    v, w = round(counter**2), round(count**2)
    squares, counts = m * m * factor * square, m * m * factor

    def least(variance, square_, d, budget):
        low = budget * (1 - F(ZCDP))
        return variance >= 4 and share_rho(square_, d, variance, honest) <= budget and (
            variance == 4 or share_rho(square_, d, variance - 1, honest) > low)

    true = share_rho(squares, cells, v, honest) + share_rho(counts, 1, w, honest)
    all_ = share_rho(squares, cells, v, parties - colluders) + share_rho(counts, 1, w, parties - colluders)
    return (least(w, counts, 1, allowed / share) and
            least(v, squares, cells, allowed - share_rho(counts, 1, w, honest)) and at == delta and
            recorded(rho, true) and converted(cost, F(rho), delta, epsilon) and
            recorded(sum_rho, all_) and round(sum_counter**2) == parties * v and
            converted(sum_cost, F(sum_rho), delta, cost))

# ------------------------------------------------------------------------------ tables

def check_tables(a):
    """Tables of columns, pairs and triples: all that a value says was measured costs at most what it states.

    Scores are not told, and a table that was drawn twice has the variance of a mean.  So the sum is a bound from below.
    """
    unit, epsilon, delta, m = int(a[0]), float(a[1]), float(a[2]), int(a[3])
    factor = 2 if a[4] == 'substitute' else 1
    cost, at, rho, count = map(float, a[5:9])
    stated = a[9].split('measured={{')[1].split('}}')[0]
    measured = [tuple(map(float, row.split(','))) for row in stated.split('},{')]
    if at != delta:
        return False
    change = F(m * m * factor if delta else m * factor)
    if delta:
        seen = sum(change * unit**(2) / 2 / F(v * max(1, block(i, j))) for i, j, v in measured) + change / 2 / round(count**2)
        allowed = exact_allowed(epsilon, delta) if factor == 1 else zcdp_rho(epsilon, delta)
        limit = float(max(allowed, zcdp_rho(epsilon, delta)))
        return float(seen) * (1 - 1e-12) <= rho <= limit * (1 + 1e-12) and converted(cost, F(rho), delta, epsilon)
    by_scale = lambda v: change * 256 / F(scale_of(math.sqrt(v)))
    seen = [float(by_scale(v * max(1, block(i, j))) * unit) for i, j, v in measured]
    return (math.sqrt(sum(x * x for x in seen)) + float(by_scale(count**2)) <= cost * (1 + 1e-11) and cost <= epsilon and
            recorded(rho, F(cost)**2 / 2))

def block(first, second):
    """How many cells of a table of one column were counted together"""
    return int(second) // 100 + 1 if int(second) % 100 == int(first) else 1

# ------------------------------------------------------------------------- composition

def check_sum(a):
    """race_compose: the sums, upward, and which accounting is better at delta"""
    costs = [tuple(map(float, row.split(','))) for row in a[0].split(';')]
    at = float(a[1])
    accounting, epsilon, rho, basic, zcdp = a[2], *map(float, a[3:])
    add = max if wrong_way == 'most' else lambda x: sum(x, F(0))
    sums = [add([F(cost[i]) for cost in costs]) for i in range(3)]
    below = (len(costs) + 1) * 3e-16
    basic_right = (basic == math.inf if sums[1] > F(at) else recorded(basic, sums[0], math.inf, below))
    if abs(sums[1] - F(at)) < F(at) * F(1, 10**14):
        basic_right = True          # sums of deltas are rounded up, too
    return (basic_right and recorded(rho, sums[2], math.inf, below) and converted(zcdp, F(rho), at, math.inf) and
            epsilon == min(basic, zcdp) and accounting == ('basic' if basic <= zcdp else 'zCDP'))

def check_ledger(a):
    """A budget, from the charges that are in the ledger: what was asked, and what it adds up to by both accountings.

    Fields are accounting, limits, what was spent, its epsilon, and for each charge: name, what was asked, what was charged.
    """
    accounting, limit, delta_limit, rho_limit = a[0], float(a[1]), float(a[2]), a[3]
    epsilon, delta, rho, zcdp = F(a[4]), F(a[5]), F(a[6]), a[7]
    charges = [row.split(',') for row in a[8].split(';')]
    add = max if wrong_way == 'most' else lambda x: sum(x, F(0))
    right = [epsilon == add([F(c[3]) for c in charges]), delta == add([F(c[4]) for c in charges]),
             rho == add([F(c[5]) for c in charges])]
    chosen = F(0)
    for name, asked, at, e, d, r, parts, m, neighbors, chosen_ in charges:
        right.append(F(e) == F(asked) and F(d) == F(at))
        chosen += F(chosen_)
        right.append(charged_rho(name, float(asked), float(at), float(r), [float(x) for x in parts.split('/') if x],
                                 F(chosen_), accounting == 'zcdp' or neighbors == 'substitute'))
    right.append(converted(float(zcdp), F(float(rho)), float(F(delta_limit) - chosen) if chosen else delta_limit, math.inf))
    if accounting == 'zcdp':
        allowed = zcdp_rho(limit, delta_limit)
        right.append(float(allowed) * (1 - ZCDP) <= float(rho_limit) <= float(allowed) * (1 + 1e-15))
    if not all(right):
        print('ledger:', right[:3], [c[0] for c, good in zip(charges, right[4::2]) if not good], right[-1], a[:8], file=sys.stderr)
    return all(right)

def charged_rho(name, epsilon, delta, rho, values, chosen, zcdp):
    """Is the rho of a charge that of its most expensive value, and of its choices or scores, and within what was asked?"""
    rest = F(rho)
    if name.startswith('choice'):
        # choices get a share of the budget in 64ths, of epsilon as of delta
        share = round(float(chosen) / delta * 64)
        part = epsilon * share / 64
        if not 1 <= share <= 62 or abs(float(chosen) - delta * share / 64) > delta * 1e-12:
            return False
        pure, gaussian_ = F(part)**2 / 2, F((zcdp_rho if zcdp else exact_allowed)(part, float(chosen) / 2))
        epsilon, delta = epsilon * (64 - share) / 64, delta * (64 - share) / 64
        # the noise that has the smaller error is taken: Gaussian noise, if a person has many values
        most = F(zcdp_rho(epsilon, delta) if zcdp else exact_allowed(epsilon, delta))
        value, near = (F(max(values)), F(1, 100)) if values else (most, F(1, 2))      # no value was stored
        if abs(rest - pure - value) <= value * near:
            rest -= pure
        elif gaussian_ * F(49, 50) <= rest - value <= gaussian_ * (1 + F(ZCDP)):
            rest = value            # its variance is a whole number
        else:
            return False
    elif name.startswith('joint'):
        # choices and tables share an account of half of delta; the other half is for categories of one person
        most = F(zcdp_rho(epsilon, delta / 2) if zcdp else exact_allowed(epsilon, delta / 2))
        return (abs(float(chosen) - delta / 2) <= delta * 1e-12 and most * F(85, 100) <= rest <= most * (1 + F(ZCDP)) and
                0 < max(values) and F(max(values)) <= most * F(63, 64) * (1 + F(ZCDP)))
    elif chosen:
        return False
    if name.startswith('scores'):
        rest, epsilon = rest - F(epsilon / 4)**2 / 2, epsilon * 0.75
        values = values[:1]
    if name.startswith('series'):       # 59 days have intervals of two lengths, and each gets half of epsilon
        return recorded(float(rest), F(epsilon / 2)**2 * (1 - F(1, 10**11)), math.inf, 1e-9) and max(values, default=0) <= rest
    if delta == 0:
        return recorded(float(rest), F(epsilon)**2 / 2, math.inf, 1e-12) and max(values, default=0) <= rest
    most = F(zcdp_rho(epsilon, delta) if zcdp else exact_allowed(epsilon, delta)) * (1 + F(ZCDP))
    return F(max(values, default=0)) * (1 - F(ZCDP)) <= rest <= most and rest >= most / 2

# ---------------------------------------------------------------------------- requests

def shapes():
    """Parameters as the server reads them, and what the accountant needs to know of them"""
    for rows in (1, 2, 3, 8, 64, 1000):
        for text in ('l2(dims=2', 'angular(dims=3', 'jaccard('):
            yield f"{text}{',' if text[-1] != '(' else ''} rows={rows}, range=64)", {'kind': 'rows', 'rows': rows}
    for dims, cells, halves in ((1, 64, True), (1, 33, False), (2, 32, True), (3, 16, True)):
        lists = ('{%s}' % ','.join([str(x)] * dims) for x in (0, 10, cells))
        yield ('l2(dims=%d, bandwidth=1, power=4, sequence=grid, lower=%s, upper=%s, cells=%s)' % (dims, *lists),
               {'kind': 'grid', 'dims': dims, 'halves': halves})
    for dims, norm, targets, absolute in ((1, 1, 0, False), (1, 1.5, 0, True), (3, 1, 1, False), (3, 0.7, 1, True),
                                          (7, 2, 1, False), (12, 1.3, 0, True), (20, 4, 0, False)):
        lists = ('{%s}' % ','.join([str(x)] * dims) for x in (0, 1))
        yield ('moments(dims=%d, lower=%s, upper=%s, norm=%s, targets=%d%s)' %
               (dims, *lists, norm, targets, ', clip=absolute' if absolute else ''),
               moments(dims, norm, targets, absolute))

SHAPES = list(shapes())
TABLES = (('{4}', '{{1},{0},{1},{0}}', 1), ('{4,3,6}', '{{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{0,257,2},{0,1,2}}', 1),
          ('{40,2}', '{{1,1},{0,0},{1,1},{0,0}}', 1), ('{6,5,2}', '{{1,1,0},{0,0,0},{1,1,1},{0,0,0}}', 4096))

def pairs(chance, n):
    """Some pairs of epsilon and delta, of which many requests are, since the exact account of one takes a while"""
    return [(round(10**chance.uniform(-1, 1.3), 4), float('%.3g' % 10**chance.uniform(-12, -1.5))) for _ in range(n)]

def ask_cost(chance, n):
    gaussian_ = pairs(chance, 150)
    for _ in range(n):
        epsilon, delta = (float('%.9g' % 10**chance.uniform(-2, 1.5)), 0) if chance.random() < 0.5 else chance.choice(gaussian_)
        i = chance.randrange(len(SHAPES))
        yield (i, SHAPES[i][0], epsilon, delta, int(10**chance.uniform(0, 3 if i < 18 else 0.7)), chance.choice(('add_remove', 'substitute')),
               '\\N' if chance.random() < 0.5 else 1, int(10**chance.uniform(0, 6)))

def ask_convert(chance, n):
    for _ in range(n):
        yield 10**chance.uniform(-4, 4), 10**chance.uniform(-20, -0.1), 10**chance.uniform(-8, 4)

def ask_share(chance, n):
    all_ = pairs(chance, 100)
    for _ in range(n):
        rows, parties = chance.choice((1, 3, 8)), chance.choice((1, 2, 3, 5, 12))
        colluders = chance.randrange(parties)
        dropouts = chance.randrange(parties - colluders)
        kind = chance.choice(('rows', 'grid', 'tables'))
        text, cells, square = {
            'rows': (f'l2(dims=1, rows={rows}, range=16)', rows * 16, rows),
            'grid': ('l2(dims=1, bandwidth=1, power=4, sequence=grid, lower={0}, upper={10}, cells={16})', 17, UNITS[1]**2),
            'tables': ('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}})', 4 + 3 + 12, 3)}[kind]
        yield (kind, text, UNITS[1] if kind == 'grid' else 1, rows if kind == 'rows' else 1, cells, square, *chance.choice(all_), parties, colluders,
               dropouts, chance.randrange(1, 20), chance.choice(('add_remove', 'substitute')))

def ask_tables(chance, n):
    gaussian_ = pairs(chance, 50)
    for _ in range(n):
        cells, rest, unit = chance.choice(TABLES)
        epsilon, delta = chance.choice(gaussian_)
        text = f"tables(dims={cells.count(',') + 1}, cells={cells}, groups={rest})"
        yield text, unit, epsilon, chance.choice((0, delta)), chance.randrange(1, 20), chance.choice(('add_remove', 'substitute'))

def ask_sum(chance, n):
    for i in range(n):
        at = 10**chance.uniform(-9, -2)
        for _ in range(chance.randrange(1, 12)):
            yield i, at, 10**chance.uniform(-3, 1), chance.choice((0, at * chance.random() / 5)), 10**chance.uniform(-5, 1)

STATEMENTS = {
    'cost': ('i int, params text, epsilon float8, delta float8, m int, neighbors text, kept int, records float8',
             """SELECT 'cost', i, q.epsilon, q.delta, m, q.neighbors, kept, c.mechanism, c.rows, c.epsilon, c.delta, c.rho,
                counter_noise_stddev, count_noise_stddev
                FROM q, race_privacy_cost(params::race_params, q.epsilon, q.delta, kept, m, q.neighbors, q.records) c"""),
    'convert': ('epsilon float8, delta float8, rho float8',
                """SELECT 'convert', epsilon, delta, _racepriv._race_rho_limit(epsilon, delta), rho, (SELECT (race_compose(VARIADIC ARRAY[0, 0, s.rho, s.delta]::float8[])).zcdp_epsilon FROM (VALUES (q.rho, q.delta)) s (rho, delta)) FROM q"""),
    'share': ('kind text, params text, unit int, kept int, cells int, square bigint, epsilon float8, delta float8, parties int, colluders int,'
              ' dropouts int, m int, neighbors text',
              """SELECT 'share', kind, kept, cells, square, q.epsilon, q.delta, parties, colluders, dropouts, m, q.neighbors, i.epsilon, i.delta,
                 i.rho, i.counter_noise_stddev * unit, i.count_noise_stddev, s.epsilon, s.rho, s.counter_noise_stddev * unit FROM (SELECT q.*, ARRAY(SELECT
                 race_share(race_sketch(params::race_params), q.epsilon, q.delta, parties, colluders, dropouts, NULL, m, neighbors)
                 FROM generate_series(1, parties)) AS shares FROM q OFFSET 0) q, race_info(shares[1]) i,
                 LATERAL (SELECT race_merge(x) AS sum FROM unnest(shares) x) t, race_info(t.sum) s"""),
    'tables': ('params text, unit int, epsilon float8, delta float8, m int, neighbors text',
               """SELECT 'tables', unit, q.epsilon, q.delta, m, q.neighbors, i.epsilon, i.delta, i.rho, i.count_noise_stddev, race_params(s)
                  FROM (SELECT q.*, race_privatize(race_sketch(params::race_params), epsilon, delta, NULL, m, neighbors) AS s FROM q OFFSET 0) q,
                  race_info(s) i"""),
    'sum': ('i int, at float8, epsilon float8, delta float8, rho float8',
            """SELECT 'sum', string_agg(concat_ws(',', epsilon, delta, rho), ';'), at, (c).accounting, (c).epsilon, (c).rho, (c).basic_epsilon,
               (c).zcdp_epsilon FROM (SELECT i, at, race_compose(epsilon, delta, rho, at) AS c FROM q GROUP BY i, at) r JOIN q USING (i, at)
               GROUP BY i, at, c"""),
}

LEDGER = """SELECT 'ledger', s.accounting, s.epsilon_limit, s.delta_limit, s.rho_limit, s.spent_epsilon, s.spent_delta, s.spent_rho,
    s.spent_zcdp_epsilon, string_agg(concat_ws(',', c.request->>'name', c.request->>'epsilon', c.request->>'delta', c.epsilon, c.delta,
    c.rho, coalesce((SELECT string_agg(i.rho::text, '/') FROM _racepriv.race_releases r, race_info(r.sketch) i WHERE r.charge = c.charge), ''),
    d.max_contributions, d.neighbors, coalesce(c.request->>'chosen_delta', '0')), ';')
    FROM race_budget_status s JOIN _racepriv.race_charges c USING (budget) JOIN _racepriv.race_datasets d ON d.dataset = c.dataset
    WHERE c.act = 'release' GROUP BY s.budget, 1, 2, 3, 4, 5, 6, 7, 8, 9;"""

def ask(seed, n, kinds):
    print("\\pset fieldsep '\\t'\nSET extra_float_digits = 1;")
    for kind in kinds:
        if kind == 'ledger':
            print(LEDGER)
            continue
        columns, query = STATEMENTS[kind]
        print(f'CREATE TEMP TABLE q ({columns});\nCOPY q FROM STDIN;')
        for row in globals()['ask_' + kind](random.Random(seed), n):
            print(*row, sep='\t')
        print('\\.\n' + query + ';\nDROP TABLE q;')

def check():
    """For each kind: how many answers there were, and how many are wrong"""
    counts = {}
    for line in sys.stdin:
        kind, *fields = line.rstrip('\n').split('\t')
        right = globals()['check_' + kind](fields)
        total, wrong = counts.get(kind, (0, 0))
        counts[kind] = total + 1, wrong + (not right)
        if not right and wrong < 3 and not wrong_way:
            print('wrong:', line.rstrip(), file=sys.stderr)
    for kind, (total, wrong) in sorted(counts.items()):
        print(kind, total, wrong)

if __name__ == '__main__':
    if sys.argv[1] == 'ask':
        ask(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
    else:
        wrong_way = sys.argv[2] if len(sys.argv) > 2 else ''
        check()
