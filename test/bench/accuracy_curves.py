"""Curves of error against epsilon, as SVG."""
import math

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 205, 34, 44      # margins
COLOURS = ['#b3410c', '#1f6fb2', '#12805c', '#7a4fb5']


def ticks(low, high):
    """1, 2, 5, 10 … between two numbers"""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [m * 10.0 ** p for p in powers for m in (1, 2, 5)
            if low <= m * 10.0 ** p <= high]


def spread(positions, distance):
    """Move labels down until no two are closer than this"""
    placed = {}
    last = -math.inf
    for key, y in sorted(positions.items(), key=lambda item: item[1]):
        last = max(y, last + distance)
        placed[key] = last
    return placed


def draw(path, title, unit, epsilons, curves):
    """curves: errors of each name, one an epsilon; both axes are logarithmic"""
    values = [v for curve in curves.values() for v in curve]
    low, high = min(values) / 1.2, max(values) * 1.2

    def x(epsilon):
        share = math.log(epsilon / epsilons[0]) / math.log(epsilons[-1] / epsilons[0])
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(error):
        share = math.log(error / low) / math.log(high / low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11" '
           'fill="#333">',
           '<rect width="100%" height="100%" fill="#fff"/>',
           f'<text x="{LEFT}" y="18"><tspan font-weight="bold" font-size="13">{title}</tspan>'
           f'<tspan dx="8">{unit}</tspan></text>',
           f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}" '
           'text-anchor="middle">ε</text>']
    for tick in ticks(low, high):
        out.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>'
                   f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for epsilon in epsilons:
        out.append(f'<path d="M{x(epsilon):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>'
                   f'<text x="{x(epsilon):.1f}" y="{HEIGHT - BOTTOM + 15}" '
                   f'text-anchor="middle">{epsilon:g}</text>')
    labels = spread({name: y(curve[-1]) for name, curve in curves.items()}, 15)
    for (name, curve), colour in zip(curves.items(), COLOURS):
        points = [(f'{x(e):.1f}', f'{y(v):.1f}') for e, v in zip(epsilons, curve)]
        out.append(f'<path d="M{"L".join(" ".join(p) for p in points)}" fill="none" '
                   f'stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{px}" cy="{py}" r="3" fill="{colour}"/>' for px, py in points]
        out.append(f'<text x="{WIDTH - RIGHT + 10}" y="{labels[name] + 4:.1f}" '
                   f'fill="{colour}">{name}</text>')
    with open(path, 'w') as file:
        file.write('\n'.join([*out, '</svg>\n']))
