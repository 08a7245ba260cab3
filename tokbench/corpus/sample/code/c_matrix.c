/*
 * Dense matrices of doubles, and a solver for systems of linear equations
 * by Gaussian elimination with partial pivoting.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIVOT_EPSILON	1e-12
#define AT(m, r, c)	((m)->cells[(size_t)(r) * (m)->cols + (c)])

struct matrix {
	size_t rows;
	size_t cols;
	double cells[];
};

static struct matrix *matrix_new(size_t rows, size_t cols)
{
	struct matrix *m;

	if (cols != 0 && rows > (SIZE_MAX - sizeof(*m)) / sizeof(double) / cols) {
		errno = ENOMEM;
		return NULL;
	}
	m = calloc(1, sizeof(*m) + rows * cols * sizeof(double));
	if (m == NULL)
		return NULL;
	m->rows = rows;
	m->cols = cols;
	return m;
}

static struct matrix *matrix_multiply(const struct matrix *a, const struct matrix *b)
{
	struct matrix *out;

	if (a->cols != b->rows) {
		errno = EINVAL;
		return NULL;
	}
	out = matrix_new(a->rows, b->cols);
	if (out == NULL)
		return NULL;
	for (size_t i = 0; i < a->rows; i++) {
		for (size_t k = 0; k < a->cols; k++) {
			const double factor = AT(a, i, k);

			for (size_t j = 0; j < b->cols; j++)
				AT(out, i, j) += factor * AT(b, k, j);
		}
	}
	return out;
}

static void swap_rows(struct matrix *m, size_t first, size_t second)
{
	for (size_t c = 0; c < m->cols; c++) {
		double held = AT(m, first, c);

		AT(m, first, c) = AT(m, second, c);
		AT(m, second, c) = held;
	}
}

/* Solve in place: the last column of an n by n+1 matrix becomes the answer. */
static bool matrix_solve(struct matrix *m)
{
	const size_t n = m->rows;

	for (size_t col = 0; col < n; col++) {
		size_t pivot = col;

		for (size_t r = col + 1; r < n; r++) {
			if (fabs(AT(m, r, col)) > fabs(AT(m, pivot, col)))
				pivot = r;
		}
		if (fabs(AT(m, pivot, col)) < PIVOT_EPSILON)
			return false;	/* singular, or very nearly so */
		if (pivot != col)
			swap_rows(m, pivot, col);

		for (size_t r = 0; r < n; r++) {
			double ratio;

			if (r == col)
				continue;
			ratio = AT(m, r, col) / AT(m, col, col);
			for (size_t c = col; c <= n; c++)
				AT(m, r, c) -= ratio * AT(m, col, c);
		}
	}
	for (size_t r = 0; r < n; r++)
		AT(m, r, n) /= AT(m, r, r);
	return true;
}

int main(void)
{
	static const double equations[3][4] = {
		{  4.0,  1.0, -2.0, -4.0 },
		{  1.0, -3.0,  1.0, 11.5 },
		{ -2.0,  2.0,  5.0, 13.0 },
	};
	struct matrix *eqs = matrix_new(3, 4);
	struct matrix *row = matrix_new(1, 3), *product = NULL;
	int status = EXIT_FAILURE;

	if (eqs == NULL || row == NULL) {
		fprintf(stderr, "matrix: %s\n", strerror(errno));
		goto out;
	}
	memcpy(eqs->cells, equations, sizeof(equations));
	for (size_t c = 0; c < row->cols; c++)
		AT(row, 0, c) = 0.5 * (double)(c + 1);

	product = matrix_multiply(row, eqs);
	if (product != NULL)
		printf("½r₁ + r₂ + 1½r₃ = %+.3f …\n", AT(product, 0, 0));
	if (!matrix_solve(eqs)) {
		fputs("the system has no single solution\n", stderr);
		goto out;
	}
	for (size_t r = 0; r < eqs->rows; r++)
		printf("x%zu = %8.4f\n", r, AT(eqs, r, eqs->cols - 1));
	status = EXIT_SUCCESS;
out:
	free(product);
	free(row);
	free(eqs);
	return status;
}
