/*
 * student.h
 *		Quantiles of Student's t distribution.
 */
#ifndef RACE_STUDENT_H
#define RACE_STUDENT_H

/*
 * The t that |T| exceeds with probability p, 0 < p < 1, for T with df >= 1
 * degrees of freedom (Hill 1970, CACM algorithm 396).  Relative error measured:
 * at most 1.4e-5, at df = 3, and below 1e-7 from df = 15 on.
 */
extern double race_student_two_sided(double p, double df);

#endif
