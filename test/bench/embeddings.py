"""embeddings.py FOLDER REPORT: classes of texts from embeddings in 384 dimensions, beside private linear heads

TEXTS, a folder, has data/ag_news_csv/test.csv of github mhjabreel/CharCnn_Keras as ag_news.csv, and of datasets/ of github
cardiffnlp/tweeteval sentiment/test_text.txt as sentiment_test_text.txt, and so on: test_labels, train_text and train_labels of offensive
and hate, train_text of emoji.  The last, 45,000 texts, are public: an embedding is the character n-grams (2 to 4) of a text, weighted by
their inverse frequencies there, projected on their 384 principal directions, of length 1.  A fifth of each other table is tested on,
SEEDS times (3).  Neighbours differ by one text of one class; delta is 1e-6.  FOLDER has space for files.

Of racepriv: a sketch of each class with the angular kernel as doc/kernels.md says, and moments of each class with bounds of -1 and 1.  The
others: means of each class with noise of the exact Gaussian mechanism, divided by the public variances, with the classes' sizes for
nothing; and logistic regression by objective perturbation (Chaudhuri et al. 2011, delta 0), each class against the rest for an equal
share of epsilon, of the best of four regularizations in hindsight.
"""
import csv
import os
import sys

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from server import Session, load

FOLDER, REPORT = sys.argv[1:3]
TEXTS = os.environ['TEXTS']
SEEDS = int(os.environ.get('SEEDS', 3))
DELTA = 1e-6
DIMS = 384


def lines(name):
    with open(f'{TEXTS}/{name}.txt', encoding='utf-8') as file:
        return file.read().rstrip('\n').split('\n')


def ag_news():
    with open(f'{TEXTS}/ag_news.csv', encoding='utf-8') as file:
        rows = list(csv.reader(file))
    return [' '.join(row[1:]) for row in rows], np.array([int(row[0]) - 1 for row in rows])


def tweets(task, part='train'):
    return lines(f'{task}_{part}_text'), np.array(lines(f'{task}_{part}_labels'), int)


TABLES = {'ag_news': ag_news, 'sentiment': lambda: tweets('sentiment', 'test'), 'offensive': lambda: tweets('offensive'),
          'hate': lambda: tweets('hate')}


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


def gaussian_deviation(epsilon):
    """Of noise that makes a change of length 1 (epsilon, DELTA)-private (Balle & Wang 2018)"""
    low, high = 1e-3, 1e6
    while high / low > 1.0001:
        s = np.sqrt(low * high)
        delta = norm.cdf(1 / (2 * s) - epsilon * s) - np.exp(epsilon + norm.logcdf(-1 / (2 * s) - epsilon * s))
        low, high = (s, high) if delta > DELTA else (low, s)
    return high


def by_means(x, y, tested, epsilon, variances, random):
    deviation = gaussian_deviation(epsilon)
    n = np.bincount(y)
    means = (np.array([x[y == k].sum(0) for k in range(len(n))]) + random.normal(0, deviation, (len(n), DIMS))) / n[:, None]
    white = means / (variances + (deviation / n.min()) ** 2)
    return (tested @ white.T - (white * means).sum(1) / 2 + np.log(n / n.sum())).argmax(1)


def logistic(x, sign, epsilon, regularization, random):
    """Chaudhuri, Monteleoni & Sarwate (2011), algorithm 2; epsilon 0: without noise"""
    n, c = len(x), 0.25
    added = 0
    noise = np.zeros(DIMS)
    if epsilon:
        left = epsilon - np.log(1 + 2 * c / (n * regularization) + (c / (n * regularization)) ** 2)
        if left <= 0:
            added = c / (n * (np.exp(epsilon / 4) - 1)) - regularization
            left = epsilon / 2
        direction = random.normal(size=DIMS)
        noise = direction / np.linalg.norm(direction) * random.gamma(DIMS, 2 / left)

    def loss(w):
        margins = sign * (x @ w)
        value = np.logaddexp(0, -margins).mean() + (regularization + added) / 2 * w @ w + noise @ w / n
        slope = -(sign / (1 + np.exp(np.clip(margins, -500, 500)))) @ x / n + (regularization + added) * w + noise / n
        return value, slope

    return minimize(loss, np.zeros(DIMS), jac=True, method='L-BFGS-B', options={'maxiter': 200}).x


def by_logistic(x, y, tested, epsilon, regularization, random):
    classes = range(y.max() + 1) if y.max() > 1 else [1]
    scores = tested @ np.array([logistic(x, np.where(y == k, 1.0, -1.0), epsilon / len(classes), regularization, random) for k in classes]).T
    return scores.argmax(1) if len(classes) > 1 else (scores[:, 0] > 0).astype(int)


def load_texts(session, x, y, tested):
    for table, values in (('texts', np.column_stack([y, x])), ('tested', tested)):
        session.run(f'DROP TABLE IF EXISTS {table}')
        load(session, FOLDER, table, values)


def by_race(session, params, epsilon):
    session.run(f"DROP TABLE IF EXISTS classes; CREATE TABLE classes AS SELECT label, race_privatize(s, {epsilon}, {DELTA}) AS s "
                f"FROM (SELECT x[1]::int AS label, race_build({params}, x[2:]) AS s FROM texts GROUP BY 1) exact")
    return np.array(session.run("SELECT race_classify(label, s, x, 'counts') FROM tested, classes GROUP BY id ORDER BY id")[0], int)


PARAMS = {'sketches': f"race_params('angular', {DIMS}, power => 8, rows => 1024, range => 256)",
          'moments': f"race_moment_params(array_fill(-1::float8, ARRAY[{DIMS}]), array_fill(1::float8, ARRAY[{DIMS}]), targets => 0)"}
METHODS = ['sketches', 'moments', 'class means', 'logistic regression']


def measure(session, x, y, variances):
    """Accuracies in %, a list for each epsilon and method; epsilon 0 stands for no noise"""
    found = {}
    for seed in range(SEEDS):
        random = np.random.default_rng(seed)
        test = random.random(len(y)) < 0.2
        load_texts(session, x[~test], y[~test], x[test])

        def add(epsilon, method, labels):
            found.setdefault((epsilon, method), []).append(100 * np.mean(labels == y[test]))

        for epsilon in (0.1, 1, 10):
            for method, params in PARAMS.items():
                add(epsilon, method, by_race(session, params, epsilon))
            add(epsilon, 'class means', by_means(x[~test], y[~test], x[test], epsilon, variances, random))
            for regularization in (0.0001, 0.001, 0.01, 0.1):
                add(epsilon, regularization, by_logistic(x[~test], y[~test], x[test], epsilon, regularization, random))
        add(0, 'logistic regression', by_logistic(x[~test], y[~test], x[test], 0, 0.0001, random))
        add(0, 'most frequent', np.bincount(y[~test]).argmax())
    for epsilon in (0.1, 1, 10):
        found[epsilon, 'logistic regression'] = max((found.pop((epsilon, r)) for r in (0.0001, 0.001, 0.01, 0.1)), key=np.mean)
    return found


def main():
    vectors = TfidfVectorizer(analyzer='char_wb', ngram_range=(2, 4), max_features=50000, sublinear_tf=True, min_df=5)
    project = TruncatedSVD(DIMS, random_state=1, n_iter=3)
    variances = unit(project.fit_transform(vectors.fit_transform(lines('emoji_train_text')))).var(0)
    out = ['# Embeddings', '', 'Made by `TEXTS=folder test/bench/run embeddings`: accuracy in %, means of so many splits, with the largest standard error of a row. Classes of texts from '
           'embeddings in 384 dimensions, made of character n-grams; δ = 1e-6. The first lines of `embeddings.py` say what each method is.', '',
           '| table | texts | classes | ε | ' + ' | '.join(METHODS) + ' | ± | without noise | most frequent class |', '|' + '---|' * (len(METHODS) + 7)]
    with Session() as session:
        session.run('CREATE EXTENSION IF NOT EXISTS racepriv')
        for name, texts in TABLES.items():
            words, y = texts()
            found = measure(session, unit(project.transform(vectors.transform(words))), y, variances)
            for epsilon in (0.1, 1, 10):
                values = [found[epsilon, method] for method in METHODS]
                row = [*(f'{np.mean(v):.1f}' for v in values), f'{max(np.std(v, ddof=1) for v in values) / np.sqrt(SEEDS):.1f}',
                       f"{np.mean(found[0, 'logistic regression']):.1f}", f"{np.mean(found[0, 'most frequent']):.1f}"]
                out.append(f'| {name} | {len(y):,} | {y.max() + 1} | {epsilon:g} | ' + ' | '.join(row) + ' |')
                print(out[-1], flush=True)
    with open(REPORT, 'w') as file:
        file.write('\n'.join(out) + '\n')


main()
