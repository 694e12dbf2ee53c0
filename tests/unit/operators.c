/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of operators: what every row must have, and that the rows of one operator follow each
 * other without overlap or gap. */
#include <axon/plugin/axonbuiltins.h>

#include "../../lib/ops/axonopset-private.h"

static const gchar *
domain_of (const AxonOp *op)
{
  return op->domain ? op->domain : "";
}

static gint
compare_ops (gconstpointer a, gconstpointer b)
{
  const AxonOp *x = *(const AxonOp *const *)a, *y = *(const AxonOp *const *)b;
  gint order = g_strcmp0 (domain_of (x), domain_of (y));
  order = order ? order : g_strcmp0 (x->name, y->name);
  return order ? order : x->since - y->since;
}

/* What is wrong with the ranges of @set's rows; NULL: nothing. */
static gchar *
find_bad_range (AxonOpSet *set)
{
  g_autoptr (GPtrArray) ops = g_ptr_array_new ();
  for (guint i = 0; i < axon_op_set_get_n_ops (set); i++)
    g_ptr_array_add (ops, (gpointer)axon_op_set_get_op (set, i));
  g_ptr_array_sort (ops, compare_ops);
  for (guint i = 0; i < ops->len; i++) {
    const AxonOp *op = g_ptr_array_index (ops, i);
    const AxonOp *next = i + 1 < ops->len ? g_ptr_array_index (ops, i + 1) : NULL;
    if (op->since < 1 || (op->until != 0 && op->until < op->since))
      return g_strdup_printf ("%s: no range from %d to %d", op->name, op->since, op->until);
    if (next == NULL || g_strcmp0 (domain_of (op), domain_of (next)) != 0 ||
        !g_str_equal (op->name, next->name))
      continue;
    if (op->until == 0 || op->until >= next->since)
      return g_strdup_printf ("%s: rows of %d and %d overlap", op->name, op->since, next->since);
    if (op->until + 1 < next->since)
      return g_strdup_printf ("%s: a gap from %d to %d", op->name, op->until + 1, next->since - 1);
  }
  return NULL;
}

static void
rows_of_one_operator_neither_overlap_nor_leave_gaps (void)
{
  g_autoptr (AxonOpSet) set = axon_op_set_new ();
  g_autofree gchar *problem = find_bad_range (set);
  g_assert_cmpstr (problem, ==, NULL);
}

typedef struct {
  AxonOp rows[3];
  const gchar *problem;
} BadTable;

static void
bad_tables_are_found (void)
{
  static const BadTable tables[] = {
    { { { .name = "A", .since = 1, .until = 6 }, { .name = "A", .since = 6 } },
      "A: rows of 1 and 6 overlap" },
    { { { .name = "A", .since = 7 }, { .name = "A", .since = 1 } }, "A: rows of 1 and 7 overlap" },
    { { { .name = "A", .since = 1 }, { .name = "A", .since = 1 } }, "A: rows of 1 and 1 overlap" },
    { { { .name = "A", .since = 1, .until = 6 }, { .name = "A", .since = 9 } },
      "A: a gap from 7 to 8" },
    { { { .name = "A", .since = 8, .until = 6 } }, "A: no range from 8 to 6" },
    { { { .name = "A" } }, "A: no range from 0 to 0" },
    { { { .name = "A", .since = 1 }, { .name = "A", .domain = "other", .since = 1 } }, NULL },
    { { { .name = "A", .since = 1, .until = 6 }, { .name = "A", .since = 7 } }, NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++) {
    g_autoptr (AxonOpSet) set = axon_op_set_new_empty ();
    g_autofree gchar *problem = NULL;
    for (guint k = 0; k < G_N_ELEMENTS (tables[i].rows) && tables[i].rows[k].name != NULL; k++)
      axon_op_set_add (set, &tables[i].rows[k], 1);
    problem = find_bad_range (set);
    g_assert_cmpstr (problem, ==, tables[i].problem);
  }
}

static void
every_row_says_how_many_inputs_and_outputs_and_has_a_kernel (void)
{
  g_autoptr (AxonOpSet) set = axon_op_set_new ();
  for (guint i = 0; i < axon_op_set_get_n_ops (set); i++) {
    const AxonOp *op = axon_op_set_get_op (set, i);
    g_test_message ("%s %d", op->name, op->since);
    g_assert_cmpuint (op->inputs.min, <=, op->inputs.max);
    g_assert_cmpuint (op->outputs.min, <=, op->outputs.max);
    g_assert_cmpuint (op->outputs.max, >, 0);
    g_assert_cmpuint (op->same_type_inputs, <=, op->inputs.max);
    g_assert_nonnull (op->infer);
    g_assert_true ((op->eval != NULL) != (op->run != NULL));
  }
}

static void
what_an_operator_means_today_is_the_current_form (void)
{
  g_autoptr (AxonOpSet) set = axon_op_set_new ();
  for (guint i = 0; i < axon_op_set_get_n_ops (set); i++) {
    const AxonOp *op = axon_op_set_get_op (set, i);
    g_test_message ("%s %d", op->name, op->since);
    if (op->until == 0)
      g_assert_cmpint (op->form, ==, AXON_FORM_CURRENT);
  }
}

static void
a_copy_of_a_set_has_its_rows (void)
{
  static const AxonOp added = { .name = "Added", .domain = "test", .since = 1 };
  g_autoptr (AxonOpSet) set = axon_op_set_new ();
  g_autoptr (AxonOpSet) copy = NULL;
  axon_op_set_add (set, &added, 1);
  copy = axon_op_set_copy (set);
  g_assert_cmpuint (axon_op_set_get_n_ops (copy), ==, axon_op_set_get_n_ops (set));
  g_assert_true (axon_op_set_lookup (copy, "test", "Added", 3) == &added);
  g_assert_true (axon_op_set_lookup (copy, NULL, "If", 13) == axon_builtin_op (NULL, "If", 13));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(test) g_test_add_func ("/operators/" #test, test)
  ADD (rows_of_one_operator_neither_overlap_nor_leave_gaps);
  ADD (bad_tables_are_found);
  ADD (every_row_says_how_many_inputs_and_outputs_and_has_a_kernel);
  ADD (what_an_operator_means_today_is_the_current_form);
  ADD (a_copy_of_a_set_has_its_rows);
  return g_test_run ();
}
