// Functions that <cmath> has not, in double.
#ifndef BENCH_SUITES_BB_LIBRARY_SPECIAL_H_
#define BENCH_SUITES_BB_LIBRARY_SPECIAL_H_

namespace aten {

double besselI0(double x);
double digamma(double x);
double inverseErf(double y);
double lowerGamma(double a, double x);  // regularised; NaN for a or x below 0
double upperGamma(double a, double x);
double logMultigamma(double x, int p);

}  // namespace aten

#endif  // BENCH_SUITES_BB_LIBRARY_SPECIAL_H_
