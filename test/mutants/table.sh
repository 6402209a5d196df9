# table.sh: sourced by test/mutants/run.
#
#	mutant NAME MECHANISM MISTAKE EXPRESSION TEST ...
#
# EXPRESSION is a substitution of Perl that matches once in src/*/*.c.  Tests are unit tests (x_test), files of
# test/t without .pl, or regression tests; the fastest is named first.
#
# enforce_limit() of src/hash/moment_sums.c removed is not a mistake that a test could see: no record reaches it.  Let N be
# the norm with what rounding adds at most.  Squares of integers, or half of their sum, are beyond the limit,
# floor(N^2) + 1, only from N^2 + 1/2 on, which is 3e-11 of N^2 or more (256 columns of 2^13).  Roots and factors in floating
# point are off by less than 1e-13.

##### looks

mutant look-rows-none 'look at rows' 'no noise' \
	's/noisy\(random, sum, plan, plan->choice_noise\)/sum/' 033_look_audit
mutant look-rows-quarter 'look at rows' 'a quarter of the noise' \
	's/(noisy\(random, sum, plan, plan->choice_noise)\)/$1 \/ 4)/' 033_look_audit
mutant look-detail-none 'look at cells, detail' 'no noise' \
	's/(seen\.detail = ).*?\(int64_t\) look\.detail, mechanism, plan->choice_noise\), 0\)/$1look.detail/' 033_look_audit
mutant look-detail-quarter 'look at cells, detail' 'a quarter of the noise' \
	's/(look\.detail, mechanism, plan->choice_noise)\)/$1 \/ 4)/' 033_look_audit
mutant look-spread-none 'look at cells, spread' 'no noise' \
	's/(seen\.spread = ).*?\(int64_t\) look\.spread, mechanism, plan->choice_noise\), 0\)/$1look.spread/' 033_look_audit
mutant look-spread-quarter 'look at cells, spread' 'a quarter of the noise' \
	's/(look\.spread, mechanism, plan->choice_noise)\)/$1 \/ 4)/' 033_look_audit
mutant look-free 'look' 'the rest after the look is all of epsilon' \
	's/budget->rest = race_down\(race_down\(epsilon \* \(share - 1\)\) \/ share\)/budget->rest = epsilon/' budget_test
mutant look-weight-1 'look at cells' 'a weight of 60 for 61' \
	's/(most_detail\[RACE_GRID_DIMS \+ 1\] = \{0, )61/${1}60/' grid_test
mutant look-weight-2 'look at cells' 'a weight of 71 for 72' \
	's/(most_detail\[RACE_GRID_DIMS \+ 1\] = \{0, 61, )72/${1}71/' grid_test
mutant look-weight-3 'look at cells' 'a weight of 88 for 89' \
	's/(most_detail\[RACE_GRID_DIMS \+ 1\] = \{0, 61, 72, )89/${1}88/' grid_test

##### Laplace

mutant laplace-half 'Laplace' 'half the noise of counters' \
	's/(counters\[i\] = noisy\(.*?plan->counter_noise)\)/$1 \/ 2)/' 030_audit
mutant laplace-three-quarters 'Laplace' 'three quarters of the noise of counters' \
	's/(counters\[i\] = noisy\(.*?plan->counter_noise)\)/$1 * 3 \/ 4)/' 030_audit
mutant laplace-sampler 'Laplace' 'three quarters of the scale in the sampler' \
	's/(race_discrete_laplace\(RaceRandom \*random, uint64_t scale\)\n\{\n)/$1\tscale -= scale \/ 4;\n/' laplace_test
mutant laplace-zero 'Laplace' 'zero counts twice' \
	's/if \(negative && magnitude == 0\)/if (false)/' laplace_test
mutant laplace-rounded-down 'Laplace, Gaussian' 'scales and variances rounded down' \
	's/\tif \(rest > 0\)\n\t\tquotient\+\+;\n//' budget_test
mutant laplace-rows 'Laplace' 'the noise of one row for all' \
	's/return selection\.rows;/return 1;/' greybox_test 030_audit
mutant laplace-levels 'Laplace' 'the noise of one level for both' \
	's/return race_grid_unit\(params\) \* selection\.grid\.levels;/return race_grid_unit(params);/' greybox_test 032_grid_audit
mutant laplace-person 'Laplace' 'm - 1 contributions for m' \
	's/(sensitivity = \(uint64_t\) )units_of_person\(request\) \*/$1(units_of_person(request) - (units_of_person(request) > 1)) */' greybox_test 030_audit
mutant laplace-substitute 'Laplace' 'substituting costs what adding does' \
	's/request->neighbors == RACE_NEIGHBORS_SUBSTITUTE \? 2 : 1/1/' greybox_test 030_audit
mutant count-none 'count' 'no noise' \
	's/return noisy\(random, exact->count, plan, plan->count_noise\);/return exact->count;/' 030_audit

##### Gaussian

mutant gaussian-half 'Gaussian' 'half of sigma' \
	's/race_discrete_gaussian\(random, noise\)/race_discrete_gaussian(random, noise \/ 4 + 1)/' 035_gaussian
mutant gaussian-sampler 'Gaussian' 'half of the variance in the sampler' \
	's/(race_discrete_gaussian\(RaceRandom \*random, uint64_t variance\)\n\{\n)/$1\tvariance -= variance \/ 2;\n/' gaussian_test
mutant gaussian-substitute 'Gaussian' 'substituting costs what adding does' \
	's/\(neighbors == RACE_NEIGHBORS_SUBSTITUTE \? 2 : 1\)/1/' greybox_test 035_gaussian
mutant gaussian-person 'Gaussian' 'm - 1 contributions for m' \
	's/\(unsigned __int128\) max_contributions \* max_contributions \*/(unsigned __int128) max_contributions * (max_contributions - (max_contributions > 1)) */' greybox_test 035_gaussian
mutant zcdp-order 'rho to epsilon' 'alpha - 1 for alpha' \
	's/double\t\tfirst = \(1 \+ a\) \* rho;/double first = a * rho;/' zcdp_test
mutant zcdp-term 'rho to epsilon' 'the conversion without its last term' \
	's/(double\t\tsecond = )log\(a\);/${1}0 * a;/' zcdp_test
mutant exact-second 'the exact account' 'the second tail counts twice' \
	's/exp\(epsilon - ROUNDING_COST\) \* second/2 * exp(epsilon - ROUNDING_COST) * second/' zcdp_test
mutant exact-added 'the exact account' 'counters without the variance of rounding' \
	's/\tbudget->counter_variance \+= account\.added;\n//' budget_test
mutant exact-tables 'the exact account' 'tables without the variance of rounding' \
	's/\t\tnoise \+= select->added;\n//' greybox_tables_test
mutant exact-substitute 'the exact account' 'substitution as adding' \
	's/request->neighbors == RACE_NEIGHBORS_ADD_REMOVE && !request->zcdp/!request->zcdp/' greybox_tables_test
mutant exact-composed 'the exact account' 'in budgets that add up rho' \
	's/(request->neighbors == RACE_NEIGHBORS_ADD_REMOVE) && !request->zcdp/$1/' release
mutant shares-tau 'noise shares' 'a tenth of tau' \
	's/race_up\(10 \* sum \* \(1 \+ RACE_MARGIN\)\)/race_up(sum * (1 + RACE_MARGIN))/' share_test

##### moments

mutant wishart-rounding 'Wishart, Laplace on entries' 'rounding moves an entry by 1' \
	's/return 2 \* \(3 \+ \(uint64_t\) \(truncated >> \w+\)\) \+ 1;/return 1;/' wishart_test
mutant wishart-entries-none 'Wishart, Laplace on entries' 'no noise' \
	's/(int64_t\t\tsum = )(race_noisy\(random, (race_shift_rounded\(\*counter, coarser\)), mechanism)/$1wishart ? $3 : $2/' wishart_test
mutant wishart-entries-quarter 'Wishart, Laplace on entries' 'a quarter of the noise' \
	's/(noise = wishart \? plan->entry_noise) :/$1 \/ 4 :/' wishart_test
mutant wishart-one 'Wishart' 'one matrix in place of a difference' \
	's/for \(int sign = -1; sign <= 1; sign \+= 2\)/for (int sign = 1; sign <= 1; sign += 2)/' wishart_test
mutant wishart-sign 'Wishart' 'the sum of two matrices in place of a difference' \
	's/\+= sign \* \(int64_t\)/+= (int64_t)/' wishart_test
mutant wishart-freedom 'Wishart' 'p degrees of freedom for p + 1' \
	's/size_t\t\tn = \(size_t\) columns \+ 1;/size_t n = columns;/' wishart_test
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
	's/(records = \(uint64_t\) )units_of_person\(request\)/$1(units_of_person(request) - (units_of_person(request) > 1))/' labels_test
mutant moments-trace-down 'Wishart' 'the trace is rounded down when integers are coarser' \
	's/return shift_up\(race_moments_squared\(params\), coarser\);/return race_moments_squared(params) >> coarser;/' moments_test greybox_test
mutant moments-coarser-l1 'Laplace' 'rounding to coarser integers is free' \
	's/return shift_up\(weight, coarser\) \+ \(coarser > 0 \? params->range : 0\);/return shift_up(weight, coarser);/' moments_test
mutant moments-coarser-l2 'Gaussian' 'rounding to coarser integers is free' \
	's/(return shift_up\(race_moments_squared\(params\), coarser\)) \+\s*\(coarser > 0 \? race_moments_columns\(params\) : 0\);/$1;/' moments_test
mutant moments-squares 'Gaussian' 'half of the square of the norm' \
	's/return \(norm \* norm \+ 1\) \/ 2;/return (norm * norm + 1) \/ 4;/' moments_test

##### contingency tables

mutant tables-scores-none 'tables, scores' 'no noise' \
	's/work->scores\[k\] = race_clamped_sum\(race_noisy\(work->random,(.*?),\s*work->mechanism, work->score_noise\), 0\)/work->scores[k] = ($1)/s' greybox_tables_test 034_tables_audit
mutant tables-scores-quarter 'tables, scores' 'a quarter of the noise' \
	's/(work->mechanism, work->score_noise)\)/$1 \/ 4)/' 034_tables_audit greybox_tables_test
mutant tables-scores-once 'tables, scores' 'all scores are paid as one' \
	's/race_select_candidates\(select\),(\s*)score_change\(select, select->unit\)\)/1,$1score_change(select, select->unit))/' greybox_tables_test
mutant tables-scores-free 'tables, scores' 'not paid' \
	's/\tnoise = (take\([^;]*candidates\(select\),\s*score_change\(select, select->unit\)\);)/\tdouble before = select->allotted;\n\tnoise = $1\n\tselect->allotted = before;/' greybox_tables_test
mutant tables-scores-substitute 'tables, scores' 'substituting costs what adding does' \
	's/(l1 = \(unsigned __int128\) select->max_contributions \* unit) \* \(select->substitute \? 2 : 1\)/$1/' greybox_tables_test
mutant tables-columns-none 'tables of columns' 'no noise' \
	's/(add_noise\(work, counters, n, noise\);)/if (row[0] != row[1])\n\t\t$1/' greybox_tables_test
mutant tables-columns-quarter 'tables of columns' 'a quarter of the noise' \
	's/(measure_table\(work, table, work->select\.one_way\[table->first\])\)/$1 \/ 4)/' greybox_tables_test
mutant tables-again-free 'tables of columns' 'a second draw is not paid' \
	's/(if \(race_select_rest\(&work->select, again\)\)\n)/$1\t\tmeasure_again(work, again);\n\tif (work->select.measured == 0)\n/' greybox_tables_test
mutant tables-pairs-none 'tables of pairs' 'no noise' \
	's/(add_noise\(work, counters, n, noise\);)/if (row[0] == row[1])\n\t\t$1/' greybox_tables_test
mutant tables-pairs-quarter 'tables of pairs' 'a quarter of the noise' \
	's/(measure_table\(work, &table, chosen->noise)\)/$1 \/ 4 + 1)/' greybox_tables_test
mutant tables-triples-none 'tables of three columns' 'no noise' \
	's/(add_noise\(work, counters, n, noise\);)/if (row[1] < RACE_CONTINGENCY_COLUMNS)\n\t\t$1/' greybox_tables_test
mutant tables-triples-free 'tables of three columns' 'not paid' \
	's/\t\t(table\.noise = take\(select, .*?;)/\t\tdouble before = select->allotted;\n\n\t\t$1\n\t\tif (table.third != table.second)\n\t\t\tselect->allotted = before;/s' greybox_tables_test
mutant tables-triples-scores 'tables of three columns, scores' 'those of pairs alone are paid' \
	's/race_select_candidates\(select\),(\s*)score_change/pairs(select),$1score_change/' greybox_tables_test
mutant tables-count-quarter 'tables, count' 'a quarter of the noise' \
	's/(plan->count_noise = race_measure_count\(request, params, &plan->noise\.counter_variance, &cost\))/$1 \/ 4 + 1/' greybox_tables_test
mutant tables-person 'tables' 'm - 1 contributions for m' \
	's/m = \(unsigned __int128\) select->max_contributions \* unit;/m = (unsigned __int128) (select->max_contributions - (select->max_contributions > 1)) * unit;/' greybox_tables_test
mutant tables-person-one 'tables' 'one contribution for m' \
	's/select->max_contributions = request->max_contributions;/select->max_contributions = 1;/' greybox_tables_test
mutant tables-substitute 'tables' 'substituting costs what adding does' \
	's/\(select->pure \? m : m \* m\) \* \(select->substitute \? 2 : 1\)/(select->pure ? m : m * m)/' greybox_tables_test
mutant tables-groups-exact 'tables, joined groups' 'joined by exact tables' \
	's/const int64_t \*counter = work->result\.counters;/const int64_t *counter = (const int64_t *) work->exact->counters;/' greybox_tables_test
mutant tables-score-overflow 'tables, scores' 'distances of hostile counters are not clamped' \
	's/race_clamped_sum\((sum_of_parts\(tables, work->table \+ i \* tables->parts\)),\s*-\(int64_t\) floor\(fmax\(expected, 0\) \+ 0\.5\)\)/$1 - (int64_t) floor(fmax(expected, 0) + 0.5)/' greybox_tables_test
mutant tables-joined-overflow 'tables of pairs' 'sums of joined counters are not clamped' \
	's/cell\[k\] = race_clamped_sum\(cell\[k\], counter\[k\]\)/cell[k] += counter[k]/' greybox_tables_test
mutant tables-measure-columns 'tables of columns, measure' 'noise for 1, not for the unit' \
	's/(take\(select, own, 1, table_change\(select, )select->unit\)/${1}1)/' greybox_tables_test
mutant tables-blocks-none 'tables of columns, blocks' 'no noise' \
	's/\t\t\tadd_noise\(work, work->table \+ i, 1, noise\);/\t\t\t(void) noise;/' greybox_tables_test
mutant tables-blocks-quarter 'tables of columns, blocks' 'a quarter of the noise' \
	's/(measure_blocks\(work, table, work->select\.one_way\[table->first\])\)/$1 \/ 4)/' greybox_tables_test
mutant tables-unevenness-none 'scores of blocks' 'no noise' \
	's/score = race_noisy\(work->random, (unevenness\(table, work->table\)), work->mechanism, [^;]*;/score = $1;/' greybox_tables_test
mutant tables-unevenness-half 'scores of blocks' 'the terms of the other cells of a block are not paid' \
	's/\(select->substitute \? 2 : 1\) \* 2 \* \(block - 1\)/(select->substitute ? 2 : 1) * (block - 1)/' greybox_tables_test contingency_select_test
mutant tables-unevenness-substitute 'scores of blocks' 'substituting costs what adding does' \
	's/\(select->substitute \? 2 : 1\) \* 2 \* \(block - 1\)/2 * (block - 1)/' greybox_tables_test contingency_select_test
mutant tables-unevenness-free 'scores of blocks' 'not paid' \
	's/\treturn amount \* \(1 - UNEVENNESS_PART\);/\tselect->allotted -= amount * UNEVENNESS_PART;\n\treturn amount;/' greybox_tables_test contingency_select_test
mutant tables-measure-pairs 'tables of pairs, measure' 'noise for 1, not for the unit' \
	's/(table_part\(select, &table, select->groups\) \/ parts\) \* ROUNDING, 1,\s*table_change\(select, )select->unit\)/${1}1)/' greybox_tables_test
mutant tables-measure-scores 'tables, scores, measure' 'noise for 1, not for the unit' \
	's/(candidates\(select\),\s*score_change\(select, )select->unit\)/${1}1)/' greybox_tables_test
mutant tables-measure-parts 'tables, measure' 'both parts together get more than the unit' \
	's/parts\[0\] = \(int64_t\) tables->unit - parts\[1\]/parts[0] = (int64_t) tables->unit/' greybox_tables_test

##### several labels

mutant labels-one-record 'labels' 'noise for one record in each label' \
	's/(plan->noise = race_make_request\(.*?)dataset->max_contributions/$1(terms->kept.label == NULL ? dataset->max_contributions : 1)/s' 172_labels_audit

##### series

mutant series-epsilon 'series' 'each value gets all of epsilon' \
	's/return epsilon \/ levels \* ROUNDING >= low \? epsilon \/ levels \* ROUNDING : 0;/return epsilon;/' series_test greybox_series_test 178_series_audit
mutant series-rho 'series' 'each value gets all of rho' \
	's/if \(each \* levels > most \* STEP\)\n\t\treturn false;\n\trace_series_cost\(&noise, levels\);\n\treturn noise\.epsilon <= allowed->epsilon;/return noise.rho <= most;/' series_test costs_test
mutant series-cost 'series' 'the cost of one value is stated' \
	's/i = 1; i < levels; i\+\+/i = 1; i < 1; i++/' series_test greybox_series_test
mutant series-selected 'series' 'noisy counts choose what is measured' \
	's/select->fixed = request->levels > 0;/select->fixed = false;/' greybox_series_test
mutant series-not-divided 'series' 'releases do not know that they are values' \
	's/terms->kept\.calibrate == 0 \? race_part_of_series\(terms->kept\.epsilon, terms->kept\.delta, terms->interval\.levels\)/terms->kept.calibrate == 0 ? terms->kept.epsilon/' series 178_series_audit
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
	's/return request->max_contributions << request->weight_bits;/return request->max_contributions;/' greybox_test 176_weights_audit
mutant weights-tables 'weights, tables' 'digits after the point are not hidden' \
	's/\ttables->unit <<= request->weight_bits;\n//' greybox_tables_test
mutant weights-count 'weights, tables, count' 'digits after the point are not hidden' \
	's/table_change\(select, UINT64_C\(1\) << select->weight_bits\)/table_change(select, 1)/' greybox_tables_test
mutant weights-blocks 'weights, tables' 'digits after the point are not hidden in scores of blocks' \
	's/(2 \* \(block - 1\)) \*\n\t\tselect->unit;/$1;/' greybox_tables_test
mutant weights-unclipped 'weights' 'weights above the largest count in full' \
	's/ldexp\(Min\(weight, most\), bits\)/ldexp(weight, bits)/' weights 176_weights_audit
mutant weights-up 'weights' 'weights are rounded beyond the largest' \
	's/< ldexp\(places - whole, 53\)\)/<= ldexp(1, 53))/' weights
mutant weights-negative 'weights' 'negative weights count' \
	's/\tif \(!\(weight > 0\)\)\n\t\treturn 0;/\tif (isnan(weight))\n\t\treturn 0;/' weights
mutant weights-unknown 'weights' 'exact sketches do not know the largest weight' \
	's/view->header->noise\.max_contributions != race_largest_weight\(request\)/false \&\& race_largest_weight(request)/' weights

##### scores of releases that are calibrated

mutant scores-free 'scores' 'their cost is not taken off that of moments' \
	's/nextafter\(terms->kept\.epsilon - scores, 0\)/terms->kept.epsilon/' classified 252_release_scores_audit
mutant scores-bound 'scores' 'noise for one record of a person' \
	's/(scores, 0,\s*&all, )dataset->max_contributions/${1}1/' 252_release_scores_audit

##### choice of labels and categories

mutant choice-noise-none 'choice of categories' 'no noise' \
	's/\*noisy = race_noisy\(random, persons, threshold->mechanism, threshold->noise\);/*noisy = persons;/' choice_test
mutant choice-noise-half 'choice of categories' 'half the noise' \
	's/(threshold->noise = budget\.scale)/$1 \/ 2/' choice_test
mutant choice-threshold 'choice of categories' 'a threshold that is one less' \
	's/threshold->least = threshold->reach \+ 1/threshold->least = threshold->reach/' choice_test
mutant choice-tail 'choice of categories' 'noise that goes on beyond the threshold' \
	's/while \(threshold->reach > 0 && \(/while (threshold->reach < 0 \&\& (/' choice_test
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
	's/left = plan->choice\.rest_epsilon;/left = terms->kept.epsilon;/' chosen
mutant choice-free-delta 'choice of categories' 'all of delta for the tables' \
	's/plan->rest_delta = pure \? 0 : /plan->rest_delta = /' choice_test
mutant choice-shares 'choice of categories' 'each of several choices gets the part of all' \
	's/race_down\(request->epsilon \* share\) \/ SHARES \/ choices/race_down(request->epsilon * share) \/ SHARES/' choice_test
mutant choice-joint 'choice of categories, Gaussian' 'tables get all of the account that choices share' \
	's/race_down\(account\.allowed - race_rho_of_draw\(request->chosen_squared, request->chosen_variance - account\.added\)\)/account.allowed/' costs_test 038_second_accountant
mutant choice-joint-delta 'choice of categories, Gaussian' 'joint: each of several choices gets all of delta' \
	's/race_down\(tables\.delta \/ request->choices\)/tables.delta/' choice_test
mutant choice-joint-price 'choice of categories, Gaussian' 'joint: one of several choices is paid' \
	's/\(unsigned __int128\) choices \* categories/categories/' choice_test
mutant choice-summed 'choice of categories' 'a number of further records has no noise' \
	's/for \(uint64_t i = 1; i < summed; i\+\+\)/for (uint64_t i = 2; i < summed; i++)/' choice_test
mutant choice-further 'choice of categories' 'further records without numbers of their own' \
	's/\tif \(summed <= 1\)\n\t\treturn noisy;\n//' choice_test
mutant choice-spread 'choice of categories' 'all rows of a person, where different values come first' \
	's/PARTITION BY found\.unit, found\.spread\)/PARTITION BY found.spread)/' chosen

##### bounds by noisy counts

mutant bounds-epsilon 'bounds by noisy counts' 'noise of twice the epsilon' \
	's/plan->noise\.epsilon = terms->kept\.epsilon;/plan->noise.epsilon = 2 * terms->kept.epsilon;/' 174_choice_audit
mutant bounds-numbers 'bounds by noisy counts' 'one number a person' \
	's/plan->noise\.max_contributions = plan->dataset->max_contributions;/plan->noise.max_contributions = 1;/' 174_choice_audit

##### halves

mutant halves-identity 'halves' 'halves of two calls are not told apart' \
	's/\nrace_check_belong\(const RaceHeader \*(\w+), const RaceHeader \*(\w+)\)\n\{/$&\n\tif ($1 != $2)\n\t\treturn;/' conditional_mean

##### duties

mutant duty-public 'duties' 'what PUBLIC is given counts' \
	's/item->ai_grantee != ACL_ID_PUBLIC && (.*?;)/item->ai_grantee == ACL_ID_PUBLIC || $1/s' protect 140_release_roles
mutant duty-none 'duties' 'everybody has them' \
	's/if \(!race_has_duty\(function, GetUserId\(\)\)\)/if (false)/' protect 140_release_roles
mutant duty-next 'duties' 'a maker needs none' \
	's/if \(!race_has_duty\(procedure, run->role\)\)/if (false)/' 272_ledger_authority

##### what the second accountant sees

mutant cost-count 'Laplace' 'the count is not in the recorded cost' \
	's/race_cost_sum\(cost_of\(counter_sensitivity,\s*budget->counter_scale\),\s*cost_of\(count_sensitivity,\s*budget->count_scale\)\)/cost_of(counter_sensitivity, budget->counter_scale)/' \
	038_second_accountant
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
	's/\tenter_charge\(run\);\n(\tif \(run->terms\.kept\.series)/\tif (run->version == 1)\n\t\tenter_charge(run);\n$1/' 300_soak
mutant ledger-unchecked 'ledger' 'tables that contradict each other are used' \
	's/, _racepriv\._race_check_invariants\(\)//' 135_restores
mutant ledger-values 'ledger' 'values of a series are not counted' \
	's/\n\t\tcount_value\(run\);//' 135_restores
