"""Private classifiers with race_suggest against private logistic regression.

learn_classify.py FOLDER RESULTS [SEEDS [TABLE ...]]: a folder to work in, and the file to
write.  It needs a server with racepriv (PGHOST and so on) and RACEPRIV_DATA.
test/bench/run learn-classify has it all.

500 rows are taken as public.  Of the others half are private records, and up to 3,000 are
classified.
"""
import sys
import time

import numpy as np

from learn_fresh import HELD_OUT
from learn_tables import MADE, load_table
from private_logistic import best_accuracy
from report import Report
from server import Session, load

EPSILON = 1
PUBLIC = 500
TESTS = 3000
SEEDS = 10          # of pulsars; of tables that are made up
MADE_SEEDS = 4
BINS = 10
BANDWIDTH = 0.15    # without public rows: of the range of a column, times the root of dims
SHARE = 0.1         # of epsilon, to calibrate by
SMALL = 0.1         # an epsilon for pulsars
# what issue 14 asks
PULSAR, PULSAR_ALONE, BEHIND, CALIBRATION = 97.5, 96.5, -1, 0.03
PULSAR_SMALL = 94.5     # and what issue 13 asks of one bandwidth that public rows chose


def calibration_error(probability, right):
    """The mean over records of how far the confidence of their bin is from its accuracy"""
    bins = np.minimum((probability * BINS).astype(int), BINS - 1)
    return sum(abs(probability[bins == i].mean() - right[bins == i].mean()) * np.mean(bins == i)
               for i in np.unique(bins))


def split(session, folder, x, label):
    """Tables public, private and test, each with a label"""
    records = (len(x) - PUBLIC) // 2
    parts = {'public': slice(PUBLIC), 'private': slice(PUBLIC, PUBLIC + records),
             'test': slice(PUBLIC + records, PUBLIC + records + TESTS)}
    for name, part in parts.items():
        session.run(f'DROP TABLE IF EXISTS {name}_x; TRUNCATE {name}_rows')
        load(session, folder, f'{name}_x', x[part])
        session.run(f"INSERT INTO {name}_rows SELECT id, x, (ARRAY[{','.join(map(str, label[part]))}])[id + 1] FROM {name}_x")
    return parts, records


def suggest(session, records, epsilon=EPSILON):
    """Parameters that public rows suggest; the score, and the prior"""
    session.run('DROP TABLE IF EXISTS params; CREATE TABLE params AS SELECT (race_suggest('
                f'x, label, {epsilon}, 0, {records} ORDER BY id)).* FROM public_rows')
    score, prior, expression = session.value('SELECT score, prior, expression FROM params').split('|')
    for part in ('private', 'test'):
        session.run(f'UPDATE {part}_rows SET z = {expression}')
    return float(score), prior


def advise(session, x):
    """Without public rows: columns scaled by bounds, here 4 standard deviations from the mean"""
    center, deviations = x.mean(axis=0), x.std(axis=0)
    scales = ','.join(map(repr, (8 * deviations).tolist()))
    lower, upper = (','.join(map(repr, (center + sign * 4 * deviations).tolist()))
                    for sign in (-1, 1))
    session.run('UPDATE private_rows SET z = x; UPDATE test_rows SET z = x')
    session.run(f"DROP TABLE IF EXISTS params; CREATE TABLE params AS SELECT NULL::int AS rows, "
                f"race_params('l2', {len(center)}, {BANDWIDTH * np.sqrt(len(center))!r}, bandwidths => '{{{scales}}}', "
                f"lower => '{{{lower}}}', upper => '{{{upper}}}') AS params")


def release(session, epsilon):
    """Sketches of the classes"""
    session.run('DROP TABLE IF EXISTS classes; CREATE TABLE classes AS SELECT label, '
                f'race_privatize(race_build(params, z), {epsilon}, 0, rows) AS s '
                'FROM private_rows, params GROUP BY label, params, rows')


def calibrate(session, name, classes):
    """One release of the classes and of their scores"""
    session.run("DO $$ DECLARE p record; BEGIN SELECT params, rows INTO p FROM params; "
                f"CALL race_release_sketch('{name}', 'private', p.params, 'z', {EPSILON}, rows => p.rows, label => 'label', "
                f"labels => '{{{','.join(map(str, range(classes)))}}}', fit => false, calibrate => {SHARE}); END $$")


def ask(session, source, classes):
    """What race_classify says of the tests, and the posterior [record, class]"""
    columns = ', '.join(f"p ->> '{c}'" for c in range(classes))
    lines, _ = session.run(f'SELECT says, {columns} FROM test_rows, LATERAL {source} c ORDER BY id')
    table = np.array([line.split('|') for line in lines], float)
    return table[:, 0].astype(int), table[:, 1:]


def by_name(name):
    return f"(SELECT race_classify('{name}', z) AS says, race_posterior('{name}', z) AS p)"


def by_sketches(prior):
    return (f"(SELECT race_classify(label, s, z, '{prior}') AS says, "
            f"race_posterior(label, s, z, '{prior}') AS p FROM classes)")


def measure(session, folder, name, seed):
    """A line of numbers, as COLUMNS says"""
    x, label = load_table(name, seed)
    classes = label.max() + 1
    parts, records = split(session, folder, x, label)
    truth = label[parts['test']]

    def judge(source):
        says, posterior = ask(session, source, classes)
        return np.mean(says == truth), calibration_error(
            posterior.max(axis=1), posterior.argmax(axis=1) == truth)

    expected, prior = suggest(session, records)
    release(session, EPSILON)
    accuracy = {p: judge(by_sketches(p))[0] for p in ('uniform', 'counts')}
    calibrate(session, f'{name} {seed}', classes)
    calibrated = judge(by_name(f'{name} {seed}'))
    advise(session, x)
    release(session, EPSILON * (1 - SHARE))
    alone = judge(by_sketches('uniform'))[0]
    calibrate(session, f'{name} {seed} alone', classes)
    private = judge(by_name(f'{name} {seed} alone'))
    public, built, tests = (x[parts[part]] for part in ('public', 'private', 'test'))
    random = np.random.default_rng(seed)
    return [expected, accuracy[prior], accuracy['uniform'], accuracy['counts'], *calibrated,
            alone, *private,
            best_accuracy(public, built, label[parts['private']], tests, truth, EPSILON, random),
            best_accuracy(public, public, label[parts['public']], tests, truth, np.inf, random),
            np.bincount(truth).max() / len(truth)]


def measure_small(session, folder, seed):
    """The accuracy of what public rows suggest for pulsars at a small epsilon"""
    x, label = load_table('pulsar', seed)
    parts, records = split(session, folder, x, label)
    _, prior = suggest(session, records, SMALL)
    release(session, SMALL)
    return np.mean(ask(session, by_sketches(prior), 2)[0] == label[parts['test']])


COLUMNS = ('expected', 'suggested prior', 'uniform', 'counts', 'calibrated', 'its calibration error',
           'no public rows', 'calibrated', 'its calibration error', 'objective perturbation',
           'public rows alone', 'larger class')


def report_all(report, results, small):
    report.heading('Classifiers with the parameters and the expression that 500 public rows suggest')
    report.write(f"""Accuracy, means over {SEEDS} seeds of pulsars and {MADE_SEEDS} of other tables, unless said otherwise; pure ε = {EPSILON}.  Expected is the score that race_suggest gives; then race_classify
with the prior that it suggests, and with each prior.  Calibrated: one race_release_sketch of the same parameters and ε with calibrate => {SHARE:g}, and
race_classify and race_posterior by its name; the calibration error is that of the largest probability, in {BINS} bins.  No public rows: columns scaled by bounds,
a bandwidth of {BANDWIDTH} √d ranges, ε = {1 - SHARE:g}, a uniform prior; and calibrated in the same way.  Objective
perturbation is private logistic regression, each class against the others, with columns scaled by the public rows, at the best of 40 settings in
hindsight.  Public rows alone: the same from the public rows, without noise.  No constant was tuned on
{', '.join(made.__name__ for made in HELD_OUT)}; but two defects were found there and mended: a class of few records won everywhere where noise made its count too low
(six), and calibrated releases did not use the prior counts (wild).
""")
    means = {name: np.mean(lines, axis=0) for name, lines in results.items()}
    report.table(('table', *COLUMNS), [(name, *(f'{value:.4f}' for value in mean))
                                       for name, mean in means.items()])
    if small:
        report.write(f'\nPulsars at ε = {SMALL:g}, with the prior that is suggested: {np.mean(small):.4f}.\n')
        report.at_least(f'pulsar, ε = {SMALL:g}: accuracy, suggested', 100 * np.mean(small), PULSAR_SMALL, ' %')
    for name, mean in means.items():
        _, ours, uniform, counts, calibrated, error, _, private, private_error, theirs, _, larger = mean
        if name == 'pulsar':
            report.at_least('pulsar: accuracy, suggested', 100 * ours, PULSAR, ' %')
            report.at_least('pulsar: accuracy without public rows', 100 * private, PULSAR_ALONE, ' %')
        report.at_least(f'{name}: points above objective perturbation, suggested', 100 * (ours - theirs), BEHIND)
        report.at_least(f'{name}: points above objective perturbation, calibrated', 100 * (calibrated - theirs), BEHIND)
        report.at_least(f'{name}: points of counts above the larger class', 100 * (counts - larger), 0)
        report.at_least(f'{name}: points of counts above uniform', 100 * (counts - uniform), BEHIND)
        report.at_least(f'{name}: points of calibrated above the larger class', 100 * (calibrated - larger), 0)
        report.at_least(f'{name}: points of calibrated above uniform', 100 * (calibrated - uniform), BEHIND)
        report.at_most(f'{name}: calibration error, suggested', error, CALIBRATION)
        report.at_most(f'{name}: calibration error without public rows', private_error, CALIBRATION)


def main():
    folder, path, *rest = sys.argv[1:]
    names = rest[1:] or ['pulsar', *MADE]
    start = time.monotonic()
    results = {}
    with Session() as session:
        session.run('SET client_min_messages = error')
        session.run(';'.join(f'CREATE TABLE {part}_rows (id int, x float8[], label int, z float8[])'
                             for part in ('public', 'private', 'test')))
        session.run("CALL race_protect('private', 'private_rows', 1e6)")
        for name in names:
            seeds = int(rest[0]) if rest else MADE_SEEDS if name in MADE else SEEDS
            results[name] = [measure(session, folder, name, seed) for seed in range(seeds)]
            print(name, np.round(np.mean(results[name], axis=0), 4), file=sys.stderr)
        small = [measure_small(session, folder, seed) for seed in range(len(results.get('pulsar', ())))]
    report = Report()
    report.write('# Classifiers\n\nWritten by `test/bench/run learn-classify`.')
    report_all(report, results, small)
    report.conclude()
    report.keep(path, start)


if __name__ == '__main__':
    main()
