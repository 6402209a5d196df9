# table.sh: sourced by test/mutants/run.
#
#	mutant NAME MECHANISM MISTAKE EXPRESSION TEST ...
#
# EXPRESSION is a substitution of Perl that matches once in src/*/*.[ch].  Tests are unit tests (x_test), files of
# test/t without .pl, or regression tests; the fastest is named first.

##### looks

mutant look-rows-none 'look at rows' 'no noise' \
	's/race_draw_rounded\(account, sum, noise\)/race_shift_rounded(sum, (int) account->weight_bits)/' privacy_test greybox_test 033_look_audit
mutant look-rows-quarter 'look at rows' 'a quarter of the noise' \
	's/(race_draw_rounded\(account, sum, noise)\)/$1 \/ 4)/' privacy_test greybox_test 033_look_audit
mutant look-detail-none 'look at cells, detail' 'no noise' \
	's/race_draw\(account, (details\.detail), noise\)/$1/' privacy_test greybox_test 033_look_audit
mutant look-detail-quarter 'look at cells, detail' 'a quarter of the noise' \
	's/(race_draw\(account, details\.detail, noise)\)/$1 \/ 4)/' privacy_test greybox_test 033_look_audit
mutant look-spread-none 'look at cells, spread' 'no noise' \
	's/race_draw\(account, (details\.spread), noise\)/$1/' privacy_test greybox_test 033_look_audit
mutant look-spread-quarter 'look at cells, spread' 'a quarter of the noise' \
	's/(race_draw\(account, details\.spread, noise)\)/$1 \/ 4)/' privacy_test greybox_test 033_look_audit
mutant look-free 'look at rows' 'not taken off' \
	's/race_pay\(account, (price, race_change_of_score\(account, race_norms_change\(shape\)\)\))/race_pay((RaceAccount[]) {*account}, $1/' privacy_test greybox_test
mutant look-cells-free 'look at cells' 'not taken off' \
	's/race_pay\(account, (price, race_change_of_score\(account, race_details_change\(exact->shape\)\)\))/race_pay((RaceAccount[]) {*account}, $1/' privacy_test greybox_test
mutant look-rows-change 'look at rows' 'a record changes one row' \
	's/shape->blocks > 1 \? shape->blocks : 0/shape->blocks > 1 ? 1 : 0/' privacy_test greybox_test
mutant look-weight-1 'look at cells' 'a weight of 60 for 61' \
	's/(most_detail\[RACE_NODES_AXES \+ 1\] = \{0, )61/${1}60/' grid_test
mutant look-weight-2 'look at cells' 'a weight of 71 for 72' \
	's/(most_detail\[RACE_NODES_AXES \+ 1\] = \{0, 61, )72/${1}71/' grid_test
mutant look-weight-3 'look at cells' 'a weight of 88 for 89' \
	's/(most_detail\[RACE_NODES_AXES \+ 1\] = \{0, 61, 72, )89/${1}88/' grid_test

##### accounts

mutant account-twice 'accounts, Laplace' 'noise for twice the price' \
	's/race_scale_for_epsilon\(price,/race_scale_for_epsilon(2 * price,/' budget_test
mutant account-twice-rho 'accounts, Gaussian' 'noise for twice the price' \
	's/race_variance_for_rho\(price,/race_variance_for_rho(2 * price,/' budget_test
mutant account-forgets 'accounts' 'what was paid is not taken off' \
	's/account->allotted = fmin\(account->allowed, race_up\(account->allotted \+ price\)\);/(void) price;/' budget_test
mutant account-down 'accounts' 'the sum of prices is rounded down' \
	's/race_up\(account->allotted \+ price\)/race_down(account->allotted + price)/' budget_test
mutant account-more 'accounts' 'a price above what is left is paid' \
	's/return left < price \? left : price;/return left > 0 ? price : 0;/' budget_test
mutant account-epsilon 'accounts' 'what costs more than its price is paid' \
	's/ \|\| !\(cost <= price\)//' budget_test
mutant account-copied 'accounts' 'each block is paid from a copy' \
	's/(return\s+race_pay\(\s*)account(,\s+price,\s+race_change_of_counters\(\s*account,\s+race_blocks_l1\(\s*shape,\s+blocks\))/$1(RaceAccount[]) {*account}$2/' privacy_test

mutant account-second 'accounts' 'a second account pays for the same counters' \
	's/return \*exact->payer == account->number;/return true;/' privacy_test
mutant account-heavier 'accounts' 'records are heavier than what is paid' \
	's/ \|\|\s+exact->weight > account->weight//' privacy_test
mutant exact-twice 'counters' 'other counters take the place of those that were added' \
	's/if \(exact->counters != NULL\)\s+return;//' privacy_test

##### what a record adds

mutant add-beyond 'rows' 'buckets beyond the range are counted in other rows' \
	's/beyond \? within\(buckets\[k\], range\) : buckets\[k\]/buckets[k]/' counters_test
mutant add-negative 'tables, grids' 'parts may be negative' \
	's/if \(numbers\[i\] < 0 \|\| \(uint64_t\) numbers\[i\] > unit - sum\)/if (false)/' counters_test privacy_test
mutant add-levels 'grids' 'shares need not be exact after halvings' \
	's/ &&\s+are_multiples\(share, n, shape->halvings, shape->nodes\.dims\)//' counters_test privacy_test

##### Laplace

mutant laplace-half 'Laplace' 'half the noise of counters' \
	's/(race_draw_all\(account, counter, m, noise)/$1 \/ 2/' privacy_test greybox_test 030_audit
mutant laplace-three-quarters 'Laplace' 'three quarters of the noise of counters' \
	's/(race_draw_all\(account, counter, m, noise)/$1 * 3 \/ 4/' privacy_test greybox_test 030_audit
mutant laplace-sampler 'Laplace' 'three quarters of the scale in the sampler' \
	's/(race_discrete_laplace\(RaceRandom \*random, uint64_t scale\)\n\{\n)/$1\tscale -= scale \/ 4;\n/' laplace_test
mutant laplace-zero 'Laplace' 'zero counts twice' \
	's/if \(negative && magnitude == 0\)/if (false)/' laplace_test
mutant laplace-rounded-down 'Laplace, Gaussian' 'scales and variances rounded down' \
	's/\tif \(rest > 0\)\n\t\tquotient\+\+;\n//' budget_test
mutant laplace-rows 'Laplace, Gaussian' 'the noise of one row for all' \
	's/pay_blocks\(account, exact->shape, blocks, price\)/pay_blocks(account, exact->shape, 1, price)/' privacy_test greybox_test 030_audit
mutant laplace-levels 'Laplace, Gaussian' 'the noise of one level for both' \
	's/pay_blocks\(account, exact->shape, \(uint32_t\) levels, price\)/pay_blocks(account, exact->shape, 1, price)/' privacy_test greybox_test 032_grid_audit
mutant laplace-person 'Laplace' 'm - 1 contributions for m' \
	's/(return \(RaceChange\)\s*\{)m \* l1/$1(m - (m > 1)) * l1/' budget_test greybox_test 030_audit
mutant laplace-substitute 'Laplace' 'substituting costs what adding does' \
	's/m \* l1 \* sides,/m * l1,/' budget_test greybox_test 030_audit
mutant count-none 'count' 'no noise' \
	's/race_draw_rounded\(account, exact->count, noise\)/race_shift_rounded(exact->count, (int) account->weight_bits)/' privacy_test greybox_test 030_audit
mutant count-quarter 'count' 'a quarter of the noise' \
	's/(race_draw_rounded\(account, exact->count, noise)\)/$1 \/ 4 + 1)/' privacy_test greybox_test 030_audit

##### Gaussian

mutant gaussian-half 'Gaussian' 'half of sigma' \
	's/race_discrete_gaussian\(random, noise\)/race_discrete_gaussian(random, noise \/ 4 + 1)/' 035_gaussian
mutant gaussian-sampler 'Gaussian' 'half of the variance in the sampler' \
	's/(race_discrete_gaussian\(RaceRandom \*random, uint64_t variance\)\n\{\n)/$1\tvariance -= variance \/ 2;\n/' gaussian_test
mutant gaussian-substitute 'Gaussian' 'substituting costs what adding does' \
	's/m \* m \* squared \* sides\}/m * m * squared}/' budget_test greybox_test 035_gaussian
mutant gaussian-person 'Gaussian' 'm - 1 contributions for m' \
	's/m \* m \* squared \* sides\}/m * (m - (m > 1)) * squared * sides}/' budget_test greybox_test 035_gaussian
mutant zcdp-order 'rho to epsilon' 'alpha - 1 for alpha' \
	's/double\s+first\s+=\s+\(\s*1\s+\+\s+a\)\s+\*\s+rho;/double first = a * rho;/' zcdp_test
mutant zcdp-term 'rho to epsilon' 'the conversion without its last term' \
	's/(double\s+second\s+=\s+)log\(\s*a\);/${1}0 * a;/' zcdp_test
mutant exact-second 'the exact account' 'the second tail counts twice' \
	's/exp\(epsilon - ROUNDING_COST\) \* second/2 * exp(epsilon - ROUNDING_COST) * second/' zcdp_test
mutant exact-added 'the exact account' 'noise without the variance of rounding' \
	's/\t\tnoise \+= account->added;\n//' budget_test
mutant exact-substitute 'the exact account' 'substitution as adding' \
	's/return\s+request->neighbors\s+==\s+RACE_NEIGHBORS_ADD_REMOVE\s+&&\s+!request->zcdp;/return !request->zcdp;/' greybox_tables_test greybox_test
mutant exact-composed 'the exact account' 'in budgets that add up rho' \
	's/(return\s+request->neighbors\s+==\s+RACE_NEIGHBORS_ADD_REMOVE)\s+&&\s+!request->zcdp;/$1;/' budget_test release
mutant shares-tau 'noise shares' 'a tenth of tau' \
	's/race_up\(10 \* sum \* \(1 \+ RACE_MARGIN\)\)/race_up(sum * (1 + RACE_MARGIN))/' share_test
mutant shares-substitute 'noise shares' 'substituting costs what adding does' \
	's/\(neighbors == RACE_NEIGHBORS_SUBSTITUTE \? 2 : 1\)/1/' greybox_test 036_shares
mutant shares-person 'noise shares' 'm - 1 contributions for m' \
	's/\(unsigned __int128\) max_contributions \* max_contributions \*/(unsigned __int128) max_contributions * (max_contributions - (max_contributions > 1)) */' greybox_test 036_shares
mutant shares-thrice 'noise shares' 'a share pays for a third draw' \
	's/account->drawn > 1 \|\| change/change/' budget_test
mutant shares-more 'noise shares' 'a share pays for more than was planned' \
	's/account->drawn > 1 \|\| change\.squared > [^;]*?\)\.squared\)/account->drawn > 1)/s' budget_test privacy_test

##### moments

mutant wishart-rounding 'Wishart, Laplace on entries' 'rounding moves an entry by 1' \
	's/return 2 \* \(3 \+ \(uint64_t\) \(truncated >> \w+\)\) \+ 1;/return 1;/' wishart_test
mutant wishart-entries-none 'Wishart, Laplace on entries' 'no noise' \
	's/(int64_t sum =\s+)(race_noisy\(account->random, counter, noise->mechanism)/$1wishart ? counter : $2/' wishart_test
mutant wishart-entries-quarter 'Wishart, Laplace on entries' 'a quarter of the noise' \
	's/(entry = wishart \? noise->entry_noise) :/$1 \/ 4 :/' wishart_test
mutant wishart-one 'Wishart' 'one matrix in place of a difference' \
	's/for \(int sign = -1; sign <= 1; sign \+= 2\)/for (int sign = 1; sign <= 1; sign += 2)/' wishart_test
mutant wishart-sign 'Wishart' 'the sum of two matrices in place of a difference' \
	's/\+= sign \* \(int64_t\)/+= (int64_t)/' wishart_test
mutant wishart-freedom 'Wishart' 'p degrees of freedom for p + 1' \
	's/size_t\s+n\s+=\s+\(\s*size_t\)\s+columns\s+\+\s+1;/size_t n = columns;/' wishart_test
mutant wishart-low-bits 'Wishart' 'all low bits of normal numbers are kept' \
	's/\t\tif \(!race_bernoulli_exp\(random, \(uint128\) low .*?continue;\n//s' wishart_test
mutant wishart-steps 'Wishart' 'steps are free' \
	's/(race_wishart_steps\(uint32_t columns\)\n\{\n\treturn )/${1}0 */' wishart_test
mutant wishart-steps-once 'Wishart' 'steps are paid once, not for each record' \
	's/race_up\(\(double\) records \* race_wishart_steps\(columns\)\)/race_wishart_steps(columns)/' wishart_test labels_test
mutant wishart-rounding-once 'Wishart' 'rounding is paid once, not for each record' \
	's/(race_wishart_rounding\(columns, budget->scale\) \* entries) \* records/$1/' wishart_test labels_test
mutant wishart-rounding-entry 'Wishart' 'rounding of one entry is paid, not of all' \
	's/(race_wishart_rounding\(columns, budget->scale\)) \* entries/$1/' wishart_test labels_test
mutant wishart-person 'Wishart' 'm - 1 contributions for m' \
	's/return \(uint64_t\) account->records \* \(account->substitute \? 2 : 1\);/return (uint64_t) (account->records - (account->records > 1)) * (account->substitute ? 2 : 1);/' privacy_test labels_test greybox_test
mutant wishart-substitute 'Wishart' 'substituting costs what adding does' \
	's/return \(uint64_t\) account->records \* \(account->substitute \? 2 : 1\);/return account->records;/' privacy_test labels_test greybox_test
mutant wishart-planned 'moments' 'noise is drawn as planned, whatever was paid' \
	's/\s+==\s+noise->noise\s+&&\s+noise->noise\s+>\s+0;/ > 0;/' privacy_test
mutant moments-trace-down 'Wishart' 'the trace is rounded down when integers are coarser' \
	's/return shift_up\(shape->squared, coarser\);/return shape->squared >> coarser;/' moments_test
mutant moments-coarser-l1 'Laplace' 'rounding to coarser integers is free' \
	's/return shift_up\(weight, coarser\) \+ \(coarser > 0 \? race_products_counters\(shape->columns\) : 0\);/return shift_up(weight, coarser);/' moments_test
mutant moments-coarser-l2 'Gaussian' 'rounding to coarser integers is free' \
	's/(return shift_up\(shape->squared, coarser\)) \+\s*\(coarser > 0 \? shape->columns : 0\);/$1;/' moments_test
mutant moments-squares 'Gaussian' 'half of the square of the norm' \
	's/return \(norm \* norm \+ 1\) \/ 2;/return (norm * norm + 1) \/ 4;/' moments_test
mutant moments-uncut 'moments' 'vectors beyond the norm are not cut' \
	's/\tcut_vectors\(shape, v, n\);\n//' moments_test privacy_test
mutant moments-numbers-uncut 'moments' 'numbers beyond 1 are not cut' \
	's/v\[r\]\s+=\s+v\[r\]\s+>\s+RACE_PRODUCTS_ONE\s+\?\s+RACE_PRODUCTS_ONE\s+:\s*v\[r\]\s+<\s+-RACE_PRODUCTS_ONE\s+\?\s+-RACE_PRODUCTS_ONE\s+:\s+v\[r\];/(void) 0;/' privacy_test

##### contingency tables

mutant tables-scores-none 'tables, scores' 'no noise' \
	's/race_draw\(account, (apart), noise\)/$1/' privacy_test greybox_tables_test
mutant tables-scores-quarter 'tables, scores' 'a quarter of the noise' \
	's/(race_draw\(account, apart, noise)\)/$1 \/ 4)/' privacy_test greybox_tables_test
mutant select-half 'selections' 'half of the scale' \
	's/race_most_product\(change, 2\)/change/' privacy_test greybox_tables_test
mutant select-weight 'selections' 'the first weight pays for all' \
	's/(candidates\[i\]\.weight > most)\)/$1 \&\& i == 0)/' privacy_test greybox_tables_test
mutant select-free 'selections' 'not paid' \
	's/scale = race_pay_selection\(account, (price,\s+race_change_of_score\(account, race_most_product\(change)/scale = race_pay_selection((RaceAccount[]) {*account}, $1/' privacy_test select_tables_test
mutant select-best 'selections' 'the best is taken without a coin' \
	's/best = quality\[i\] > best \? quality\[i\] : best;\n\t\}/$&\n\tif (n > 2)\n\t\tscale = 1;/' select_test
mutant select-order 'selections' 'candidates come in their order' \
	's/i \+ \(uint32_t\) race_random_below\(random, n - i\)/i/' select_test
mutant select-left 'selections' 'qualities stay in memory' \
	's/(memset\(scores, 0, )race_scores_size\(scores->n\)/${1}sizeof(RaceScores)/' privacy_test
mutant search-weight 'contrasts' 'a weight is as large as the caller says' \
	's/\t\tweight = weight > RACE_CONTRAST \? RACE_CONTRAST : weight;\n//' privacy_test
mutant search-part 'contrasts' 'the scale of weights is left out' \
	's/(\(total < 0 \? -total : total\)) \/ RACE_CONTRAST/$1 * 2 \/ RACE_CONTRAST/' privacy_test greybox_tables_test
mutant search-zcdp 'selections' 'beside Gaussian noise one costs what it costs in zCDP' \
	's/(define RACE_SELECTION_COST) 0.7854/$1 0.5/' select_test privacy_test
mutant search-free 'selections' 'beside Gaussian noise one is not paid' \
	's/spend_price\(account, price,\s+fmin\(price, race_up\(RACE_SELECTION_COST/spend_price((RaceAccount[]) {*account}, price, fmin(price, race_up(RACE_SELECTION_COST/' privacy_test greybox_tables_test
mutant search-left 'contrasts' 'exact sums stay in the space' \
	's/(scores->score\[number\] = excess > [^;]*;\n)\tmemset\(sums[^;]*;\n/$1/' privacy_test
mutant tables-scores-free 'tables, scores' 'not paid' \
	's/race_pay\(account, (price, race_change_of_score\(account, exact->shape->unit\)\))/race_pay((RaceAccount[]) {*account}, $1/' privacy_test greybox_tables_test
mutant tables-scores-substitute 'looks, scores' 'substituting costs what adding does' \
	's/(account->records \* l1) \* \(account->substitute \? 2 : 1\)/$1/' budget_test
mutant tables-columns-none 'tables of columns' 'no noise' \
	's/race_draw_all\(account, sums, (race_grouping_sums\(grouping\)), noise, false, noisy\);/{ if (grouping->group[0] == NULL) memcpy(noisy, sums, $1 * sizeof(int64_t)); else $& }/' greybox_tables_test
mutant tables-columns-quarter 'tables of columns' 'a quarter of the noise' \
	's/(race_draw_all\(account, sums, race_grouping_sums\(grouping\), noise)/$1 \/ (grouping->group[0] == NULL ? 4 : 1)/' greybox_tables_test
mutant tables-again-free 'tables of columns' 'a second draw is not paid' \
	's/race_measure_sums\(&work->release->account, (work->release->exact, &grouping, price,\s*work->exact, work->space)/race_measure_sums((RaceAccount[]) {work->release->account}, $1/' greybox_tables_test
mutant tables-free 'tables' 'tables are not paid' \
	's/noise = pay_blocks\(account, exact->shape, 1, price\)/noise = pay_blocks((RaceAccount[]) {*account}, exact->shape, 1, price)/' privacy_test greybox_tables_test
mutant tables-left 'tables' 'exact sums are left in the space' \
	's/(noise, false, noisy\);\n)\tif \(draws\)\n\t\tmemset\([^;]*;\n/$1/' privacy_test
mutant tables-groups-beyond 'tables' 'groups beyond the last are added up elsewhere' \
	's/return group < grouping->groups\[axis\] \? group : grouping->groups\[axis\] - 1;/return group;/' privacy_test
mutant tables-pairs-none 'tables of pairs' 'no noise' \
	's/race_draw_all\(account, sums, (race_grouping_sums\(grouping\)), noise, false, noisy\);/{ if (grouping->group[1] != NULL \&\& grouping->group[2] == NULL) memcpy(noisy, sums, $1 * sizeof(int64_t)); else $& }/' greybox_tables_test
mutant tables-pairs-quarter 'tables of pairs' 'a quarter of the noise' \
	's/(race_draw_all\(account, sums, race_grouping_sums\(grouping\), noise)/$1 \/ (grouping->group[1] != NULL \&\& grouping->group[2] == NULL ? 4 : 1)/' greybox_tables_test
mutant tables-triples-none 'tables of three columns' 'no noise' \
	's/race_draw_all\(account, sums, (race_grouping_sums\(grouping\)), noise, false, noisy\);/{ if (grouping->group[2] != NULL) memcpy(noisy, sums, $1 * sizeof(int64_t)); else $& }/' greybox_tables_test
mutant tables-score-overflow 'tables, scores' 'distances of hostile counters are not clamped' \
	's/apart = race_clamped_sum\(cell, -race_clamped_sum\(expected\[i\], 0\)\)/apart = cell - expected[i]/' privacy_test greybox_tables_test
mutant tables-joined-overflow 'tables of pairs' 'sums of joined counters are not clamped' \
	's/sum\[part\] = race_clamped_sum\(sum\[part\], counter\[part\]\)/sum[part] += counter[part]/' privacy_test greybox_tables_test
mutant tables-blocks-none 'tables of columns, blocks' 'no noise' \
	's/race_draw_all\(account, sums, (race_grouping_sums\(grouping\)), noise, false, noisy\);/{ if (grouping->group[0] != NULL \&\& grouping->group[1] == NULL) memcpy(noisy, sums, $1 * sizeof(int64_t)); else $& }/' greybox_tables_test
mutant tables-blocks-quarter 'tables of columns, blocks' 'a quarter of the noise' \
	's/(race_draw_all\(account, sums, race_grouping_sums\(grouping\), noise)/$1 \/ (grouping->group[0] != NULL \&\& grouping->group[1] == NULL ? 4 : 1)/' greybox_tables_test
mutant tables-unevenness-none 'scores of blocks' 'no noise' \
	's/race_draw\(account, (unevenness_of_sets\(counters, ordinary, together\)), noise\)/$1/' privacy_test greybox_tables_test
mutant tables-unevenness-half 'scores of blocks' 'the terms of the other cells of a block are not paid' \
	's/race_most_product\(shape->unit, 2 \* \(\(uint64_t\) together - 1\)\)/race_most_product(shape->unit, (uint64_t) together - 1)/' privacy_test greybox_tables_test
mutant tables-unevenness-free 'scores of blocks' 'not paid' \
	's/race_pay\(\s*account,\s+(price,\s+race_change_of_score\(\s*account,\s+race_most_product\(\s*shape->unit,\s+2)/race_pay((RaceAccount[]) {*account}, $1/' privacy_test greybox_tables_test
mutant tables-measure-scores 'tables, scores, measure' 'noise for 1, not for the unit' \
	's/race_change_of_score\(account, exact->shape->unit\)/race_change_of_score(account, 1)/' privacy_test greybox_tables_test
mutant tables-measure-l1 'tables, measure; grids' 'noise for 1, not for the unit' \
	's/return race_most_product\(shape->unit, blocks\);/return blocks;/' privacy_test greybox_tables_test
mutant tables-measure-l2 'tables, measure; grids' 'noise for 1, not for the unit' \
	's/return race_most_product\(race_most_product\(shape->unit, shape->unit\), blocks\);/return blocks;/' privacy_test greybox_tables_test
mutant tables-measure-parts 'tables, measure' 'both parts together get more than the unit' \
	's/parts\[0\] = \(int64_t\) tables->unit - parts\[1\]/parts[0] = (int64_t) tables->unit/' greybox_tables_test

##### several labels

mutant labels-one-record 'labels' 'noise for one record in each label' \
	's/(plan->noise = race_make_request\(.*?)dataset->max_contributions/$1(plan->request.label == NULL ? dataset->max_contributions : 1)/s' 172_labels_audit

##### series

mutant series-epsilon 'series' 'each value gets all of epsilon' \
	's/return epsilon \/ levels \* ROUNDING >= low \? epsilon \/ levels \* ROUNDING : 0;/return epsilon;/' series_test greybox_series_test 178_series_audit
mutant series-rho 'series' 'each value gets all of rho' \
	's/if \(each \* levels > most \* STEP\)\n\t\treturn false;\n\trace_series_cost\(&noise, levels\);\n\treturn noise\.epsilon <= allowed->epsilon;/return noise.rho <= most;/' series_test costs_test
mutant series-cost 'series' 'the cost of one value is stated' \
	's/uint32_t i = 1; i < levels; i\+\+/uint32_t i = 1; i < 1; i++/' series_test greybox_series_test
mutant series-selected 'series' 'noisy counts choose what is measured' \
	's/select->fixed = request->levels > 0;/select->fixed = false;/' greybox_series_test
mutant series-not-divided 'series' 'releases do not know that they are values' \
	's/plan->request\.calibrate\s+==\s+0\s+\?\s+race_part_of_series\(\s*plan->request\.epsilon,\s+plan->request\.delta,\s+plan->interval\.levels\)/plan->request.calibrate == 0 ? plan->request.epsilon/' series 178_series_audit
mutant series-units-uncounted 'series, units' 'records of a unit are not counted' \
	's/\n\tif \(plan->units != NULL\)\n\t\trace_units_store\([^;]*;//' series
mutant series-units-untaken 'series, units' 'units of a value are not taken' \
	's/\n\ttuplestore_putvalues\(relation->reldata, relation->md\.tupdesc, &unit, &isnull\);//' series
mutant series-units-again 'series, units' 'each value takes as many records of a unit as the whole series may' \
	's/counted \? " - coalesce\(used\.records, 0\)" : ""/""/' series
mutant series-lock 'series' 'two sessions make a value at once' \
	's/(c\.charge = \$1) FOR UPDATE OF c"/$1"/' 100_release_crash

##### weights

mutant weights-largest 'weights' 'noise for weight 1, not for the largest' \
	's/\trequest->max_contributions \*= weight_max;\n//' greybox_test 176_weights_audit
mutant weights-digits 'weights' 'digits after the point are not hidden' \
	's/request->max_contributions\s+<<\s+request->weight_bits;/request->max_contributions;/' budget_test greybox_test 176_weights_audit
mutant weights-unclipped 'weights' 'weights above the largest count in full' \
	's/ldexp\(Min\(weight, most\), bits\)/ldexp(weight, bits)/' weights 176_weights_audit
mutant weights-up 'weights' 'weights are rounded beyond the largest' \
	's/<\s+ldexp\(\s*places\s+-\s+whole,\s+53\)\)/<= ldexp(1, 53))/' weights
mutant weights-negative 'weights' 'negative weights count' \
	's/\tif \(!\(weight > 0\)\)\n\t\treturn 0;/\tif (isnan(weight))\n\t\treturn 0;/' weights
mutant weights-unknown 'weights' 'exact sketches do not know the largest weight' \
	's/view->header->noise\.max_contributions != race_largest_weight\(request\)/false \&\& race_largest_weight(request)/' weights

##### scores of releases that are calibrated

mutant scores-free 'scores' 'their cost is not taken off that of moments' \
	's/nextafter\(plan->request\.epsilon - scores, 0\)/plan->request.epsilon/' classified 252_release_scores_audit
mutant scores-bound 'scores' 'noise for one record of a person' \
	's/(scores,\s+0,\s*&all,\s+)dataset->max_contributions/${1}1/' 252_release_scores_audit

##### choice of labels and categories

mutant choice-noise-none 'choice of categories' 'no noise' \
	's/\*noisy = race_noisy\(choices->random, persons, threshold->mechanism, threshold->noise\);/*noisy = persons;/' choice_test
mutant choice-noise-half 'choice of categories' 'half the noise' \
	's/(threshold->noise = scale)/$1 \/ 2/' choice_test
mutant choice-threshold 'choice of categories' 'a threshold that is one less' \
	's/threshold->least = threshold->reach \+ 1/threshold->least = threshold->reach/' choice_test
mutant choice-tail 'choice of categories' 'noise that goes on beyond the threshold' \
	's/while\s+\(\s*threshold->reach\s+>\s+0\s+&&\s+\(\s*/while (threshold->reach < 0 \&\& (/' choice_test
mutant choice-more 'choice of categories' 'more choices begin than are paid for' \
	's/\tchoices->left -= choices->open;\n//' choice_test
mutant choice-over 'choice of categories' 'choices and what is counted cost more than the release' \
	's/number \* threshold->epsilon \+ budget->rest_epsilon <= budget->epsilon/number * threshold->epsilon <= budget->epsilon/' choice_test
mutant choice-summed-twice 'choice of categories' 'records of a category are drawn twice' \
	's/\tchoices->passed--;\n//' choice_test
mutant choice-copy 'choice of categories' 'a copy of choices draws' \
	's/if \(!choices->open \|\| choices->self != choices\)/if (!choices->open)/' choice_test
mutant choice-delta 'choice of categories' 'delta for one category' \
	's/delta = delta \/ \(double\) categories \*/delta = delta */' choice_test
mutant choice-gaussian-delta 'choice of categories, Gaussian' 'delta for one category' \
	's/tail = delta \/ \(double\) categories \*/tail = delta */' choice_test
mutant choice-gaussian-twice 'choice of categories, Gaussian' 'all of delta for the noise' \
	's/variance_of_numbers\(epsilon, delta \/ 2, categories,/variance_of_numbers(epsilon, delta, categories,/' choice_test
mutant choice-gaussian-loss 'choice of categories, Gaussian' 'the loss of one number' \
	's/first = floor\(epsilon \* variance - n \/ 2\) \+ 1;/first = floor(epsilon * variance - 0.5) + 1;/' choice_test
mutant choice-person 'choice of categories' 'one category a person' \
	's/return \(uint64\) max_contributions \*/return (uint64)/' 174_choice_audit
mutant choice-rows 'choice of categories' 'rows for persons' \
	's/by_unit \? distinct : ""/""/' 174_choice_audit
mutant choice-bound 'choice of categories, bounds by noisy counts' 'all rows of a person' \
	's/dataset->max_contributions, counted/dataset->max_contributions + 1000, counted/' 174_choice_audit
mutant choice-free 'choice of categories' 'all of epsilon for the tables' \
	's/left = plan->choice\.rest_epsilon;/left = plan->request.epsilon;/' chosen
mutant choice-free-delta 'choice of categories' 'all of delta for the tables' \
	's/plan->rest_delta = pure \? 0 : /plan->rest_delta = /' choice_test
mutant choice-shares 'choice of categories' 'each of several choices gets the part of all' \
	's/race_down\(request->epsilon \* share\) \/ SHARES \/ choices/race_down(request->epsilon * share) \/ SHARES/' choice_test
mutant choice-joint 'choice of categories, Gaussian' 'tables get all of the account that choices share' \
	's/race_down\(\s*account\.allowed\s+-\s+race_rho_of_draw\(\s*request->chosen_squared,\s+request->chosen_variance\s+-\s+account\.added\)\)/account.allowed/' costs_test 038_second_accountant
mutant choice-joint-delta 'choice of categories, Gaussian' 'joint: each of several choices gets all of delta' \
	's/race_down\(tables\.delta \/ request->choices\)/tables.delta/' choice_test
mutant choice-joint-price 'choice of categories, Gaussian' 'joint: one of several choices is paid' \
	's/\(unsigned __int128\) choices \* categories/categories/' choice_test
mutant choice-summed 'choice of categories' 'a number of further records has no noise' \
	's/for \(uint64_t i = 1; i < summed; i\+\+\)/for (uint64_t i = 2; i < summed; i++)/' choice_test
mutant choice-further 'choice of categories' 'further records without numbers of their own' \
	's/\tif \(summed <= 1 \|\| summed > RACE_MOST_SUMMED [^\n]*\n[^\n]*\n\t\treturn noisy;\n//' choice_test
mutant choice-no-delta 'choice of categories' 'what is no delta lets all pass' \
	's/ \|\| !\(delta > 0\)//' choice_test
mutant choice-gaussian-no-delta 'choice of categories, Gaussian' 'what is no delta lets all pass' \
	's/if \(!\(normal_tail\(high\) <= tail\)\)/if (normal_tail(high) > tail)/' choice_test
mutant choice-spread 'choice of categories' 'all rows of a person, where different values come first' \
	's/PARTITION BY found\.unit, found\.spread\)/PARTITION BY found.spread)/' chosen

##### bounds by noisy counts

mutant bounds-epsilon 'bounds by noisy counts' 'noise of twice the epsilon' \
	's/plan->noise\.epsilon = plan->request\.epsilon;/plan->noise.epsilon = 2 * plan->request.epsilon;/' 174_choice_audit
mutant bounds-numbers 'bounds by noisy counts' 'one number a person' \
	's/plan->noise\.max_contributions = plan->dataset->max_contributions;/plan->noise.max_contributions = 1;/' 174_choice_audit

##### duties

mutant duty-public 'duties' 'what PUBLIC is given counts' \
	's/item->ai_grantee\s+!=\s+ACL_ID_PUBLIC\s+&&\s+(.*?;)/item->ai_grantee == ACL_ID_PUBLIC || $1/s' protect 140_release_roles
mutant duty-none 'duties' 'everybody has them' \
	's/if \(!race_has_duty\(function, GetUserId\(\)\)\)/if (false)/' protect 140_release_roles
mutant duty-next 'duties' 'a maker needs none' \
	's/if \(!race_has_duty\(procedure, run->role\)\)/if (false)/' 272_ledger_authority

##### what the second accountant sees

mutant cost-count 'accounts' 'the stated cost is that of the last payment' \
	's/account->cost = fmin\(account->allowed, race_cost_sum\(account->cost, cost\)\)/account->cost = fmin(account->allowed, cost)/' budget_test 038_second_accountant
mutant cost-order 'zCDP' 'epsilon of an order that is one more' \
	's/(second = \(order_term\(a\) - log_delta\) \/ )a;/${1}(1 + a);/' 038_second_accountant
mutant cost-exact 'Gaussian' 'a tail of the exact account without its shift' \
	's/erfc\(\(at - mu \/ 2\) \* sqrt/erfc(at * sqrt/' 038_second_accountant

##### what the soak sees

mutant ledger-refund 'ledger' 'the charge is committed with the release' \
	's/(tell_left\(run\);\s*return;\s*\})\s*next_transaction\(run\);(\s*read_provenance)/$1$2/' 300_soak
mutant ledger-standby 'ledger' 'rows are read when the wait for a standby was canceled' \
	's/\t\tcheck_replicated\(level\);/\t\t(void) check_replicated;/' 130_release_copies
mutant ledger-twice 'ledger' 'a refresh is not charged' \
	's/\tenter_charge\(run\);\n(\tif \(run->plan->request\.series)/\tif (run->version == 1)\n\t\tenter_charge(run);\n$1/' 300_soak
mutant ledger-unchecked 'ledger' 'tables that contradict each other are used' \
	's/, _racepriv\._race_check_invariants\(\)//' 135_restores
mutant ledger-values 'ledger' 'values of a series are not counted' \
	's/\n\t\tcount_value\(run\);//' 135_restores

##### calls of src/privacy

mutant call-wraps 'accounts' 'the square of a large unit wraps around' \
	's/race_most_product\(race_most_product\(shape->unit, shape->unit\), blocks\)/shape->unit * shape->unit * blocks/' privacy_test
mutant call-parts 'counting' 'parts of a cell are not added up' \
	's/parts == 1 \|\| !are_unit_parts\(part, \(int\) parts, shape->unit\)/parts == 1/' privacy_test
mutant call-shares 'counting' 'shares of nodes are not added up' \
	's/if \(are_unit_parts\(share, n, shape->unit\) &&/if (/' privacy_test
mutant call-sums-left 'scores' 'exact sums are left in the space of a score' \
	's/(n \/ grouping->parts, expected\);\n)\tmemset\([^;]*;\n/$1/' privacy_test
mutant call-nodes-left 'looks' 'exact nodes are left in the space of a look' \
	's/\tmemset\(nodes, 0, 2 \* n \* sizeof\(int64_t\)\);\n//' privacy_test
mutant call-matrix-left 'moments' 'a Wishart matrix is left in the space' \
	's/\tmemset\(work, 0, n \* sizeof\(int64_t\)\);\n//' privacy_test
mutant call-exact-written 'measuring' 'numbers get noise where they are written' \
	's/(uint64_t noise,\s+bool rounded, int64_t \*noisy\)\n\{\n)/$1\tfor (size_t i = 0; i < n; i++)\n\t\tnoisy[i] = exact[i];\n/' privacy_test
mutant call-space-counted 'measuring' 'a space may be among counters' \
	's/overlaps_counters\(exact, space, n \* sizeof\(int64_t\)\) \? NULL : //' privacy_test
mutant call-no-noise 'noise' 'a number without noise is exact' \
	's/(if \(noise == 0\)\n\t\treturn) 0;/$1 value;/' laplace_test
mutant call-limits 'accounts' 'a request may be beyond all limits' \
	's/if \(!is_within_limits\(request\)\)/if (!is_within_limits(request) \&\& false)/' privacy_test
mutant call-records 'accounts' 'the records of a person wrap around' \
	's/return request->weight_bits > 31 \|\| request->max_contributions > most >> request->weight_bits \?/return most == 0 ?/' privacy_test
mutant call-share-pure 'noise shares' 'a share has the mechanism of its request' \
	's/\taccount->mechanism = RACE_MECHANISM_GAUSSIAN; [^\n]*\n//' privacy_test
mutant call-share-beyond 'noise shares' 'a plan beyond all numbers pays for all changes' \
	's/(account->drawn > 1) \|\| change\.squared > MOST_SQUARED/$1/' privacy_test
mutant call-refund 'accounts' 'a negative cost is given back' \
	's/ \|\| !\(cost > 0\)//' privacy_test
mutant call-groups 'measuring' 'there may be more groups than places' \
	's/ \|\| grouping->groups\[axis\] > grouping->length\[axis\]//' privacy_test
mutant call-parts-wrap 'counting' 'a sum of parts may wrap around' \
	's/(numbers\[i\] > unit) - sum/$1/' privacy_test
mutant call-large-products 'moments' 'changes beyond all numbers wrap around' \
	's/\t\tshape->squared > MOST_SQUARED \/ shape->columns\)\n\t\treturn[^;]*;/\t\tfalse)\n\t\treturn 0;/' privacy_test
mutant call-grouping 'measuring' 'a grouping that has no group is taken' \
	's/grouping->groups\[axis\] < 1 \|\| //' privacy_test
mutant call-largest 'accounts' 'the largest number is paid for, whatever it stands for' \
	's/ \|\| squared == UINT64_MAX//' privacy_test
mutant call-copy 'accounts' 'a copy of an account draws' \
	's/ \|\| account->self != account//' privacy_test

##### ends

mutant ends-shares 'ends' 'one share is paid for' \
	's/race_most_product\(exact->shape->unit, ends->length - 1\)/exact->shape->unit/' privacy_test ends_test
mutant ends-squared 'ends, Gaussian' 'shares are not squared' \
	's/race_most_product\(change, change\)/change/' privacy_test
mutant ends-lower 'ends' 'the first place has a share more' \
	's/\(ends->length - 1 - \(from \+ i\)\)/(ends->length - (from + i))/' privacy_test
mutant ends-places 'ends' 'places need not be those of a block' \
	's/ &&\n\t\tends->length <= race_block_length\(exact->shape, ends->block\)//' ends_test
mutant ends-room 'ends of releases' 'the workspace has no room for them' \
	's/race_ends_work_size\(&tables\) \+ race_signs_work_size\(&tables\)/race_signs_work_size(\&tables)/' greybox_tables_test
mutant ends-free 'ends of releases' 'ends are planned beside all of what the table gets' \
	's/return price->noise == 0 \? amount : amount - price->amount;/return amount;/' greybox_tables_test
mutant ends-series 'ends of releases' 'a series has ends' \
	's/select->fixed \|\| (select->parts > 1 \|\| select->span)/$1/' ends_test

##### signs

mutant signs-unit 'signs, Laplace' 'the unit is forgotten' \
	's/race_most_product\(shape->unit, pairs\)/pairs/' privacy_test
mutant signs-pairs 'signs, Laplace' 'one pair is paid for, not all' \
	's/race_most_product\(shape->unit, pairs\)/shape->unit/' privacy_test
mutant signs-squared 'signs, Gaussian' 'the unit is not squared' \
	's/race_most_product\(race_most_product\(shape->unit, shape->unit\), squared\)/race_most_product(shape->unit, squared)/' privacy_test
mutant signs-substitute 'signs, Gaussian' 'inner products of signs are not negative' \
	's/pairs \+ \(account->substitute \? \(\(uint64_t\) columns \+ 1\) \/ 2 : 0\)/pairs/' privacy_test
mutant signs-trace 'signs, Wishart' 'half of the trace' \
	's/race_most_product\(shape->unit << finer, columns\)/race_most_product(shape->unit << finer, columns) \/ 2/' privacy_test signs_test
mutant signs-finer 'signs, Wishart' 'noise in finer integers for sums that are not' \
	's/sum \* \(\(int64_t\) 1 << noise->finer\)/sum/' privacy_test signs_test
mutant signs-entries 'signs, Wishart' 'no noise of entries' \
	's/(race_noisy\(account->random, \*sum\+\+, account->mechanism, )noise->entry\)/$1noise->scale > 0 ? 1 : noise->entry)/' privacy_test
mutant signs-sign 'signs' 'a sign may be any number' \
	's/return \(sign > 0\) - \(sign < 0\);/return sign;/' privacy_test
mutant signs-places 'signs' 'places beyond are cut in each table, not in each column' \
	's/\t\tplace\[i\] = within\(place\[i\], length\);/\t\t(void) length;/' privacy_test
mutant signs-twice 'signs' 'a column may be named twice' \
	's/\t\tif \(signs->column\[i - 1\] >= signs->column\[i\]\)\n\t\t\treturn false;/\t\t;/' privacy_test
mutant signs-lengths 'signs' 'places need not fit the tables' \
	's/(race_block_length\(shape, block_of\(shape, signs, i, j\)\)\)\n\t\t\t\treturn) false;/$1 true;/' privacy_test
mutant signs-clamped 'signs, Wishart' 'sums are clamped' \
	's/wrapped\(sum \* \(\(int64_t\) 1 << noise->finer\)\)/race_clamped(sum * ((int64_t) 1 << noise->finer), RACE_MAX_COUNT)/' privacy_test
mutant signs-many 'signs' 'the number of records tells whether there are signs' \
	's/exact->counters == NULL \|\| !fit_tables\(/exact->count < 0 || $&/' greybox_tables_test privacy_test
mutant signs-room 'signs of releases' 'the workspace has no room for sums' \
	's/params->range \+ race_signs_pairs\(tables\.columns\)/params->range/' greybox_tables_test
mutant signs-looks 'signs of releases' 'looks at pairs are not paid' \
	's/race_score_distance\(&work->release->account, (work->release->exact, &grouping,\s+work->expected, price)/race_score_distance((RaceAccount[]) {work->release->account}, $1/' greybox_tables_test
mutant signs-null 'signs of releases' 'NULL has the sign 1' \
	's/g >= select->ordered\[column\] \? 0 : g < cut/g < cut/' greybox_tables_test
mutant signs-variance 'signs of releases' 'the variance has digits of weights' \
	's/\tif \(tables->signs != NULL\)\n\t\twork->signs\[0\] = [^;]*;\n//' greybox_tables_test
mutant signs-place 'signs of releases' 'sums stay where fewer tables had them' \
	's/\trace_tables_place_signs\(work\);\n(\tround_weights)/$1/' greybox_tables_test
mutant signs-independent 'signs of releases' 'signs without dependence are kept' \
	's/\telse\n\t\twork->result\.tables\.signs = NULL;\n//' greybox_tables_test
mutant signs-blocks 'tables of columns' 'a second draw in blocks has the first variance of a cell' \
	's/double first = \*variance \* table->block;/double first = *variance;/' greybox_tables_test
mutant signs-label 'signs of releases' 'a label has signs beside it' \
	's/ \|\| race_select_is_asked\(select\)\)\n\t\treturn;/)\n\t\treturn;/' select_signs_test
mutant signs-look-back 'signs of releases' 'looks that are too noisy are planned' \
	's/(return price;\n)\tselect->planned = before;\n/$1/' select_signs_test
mutant signs-left 'signs' 'exact sums are left in the space' \
	's/\tmemset\(work, 0, race_signs_space\(signs->columns\) \* sizeof\(int64_t\)\);\n//' privacy_test
