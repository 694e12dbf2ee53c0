/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies from one layout to another on device CPU, by its own loops and by oneDNN's. */
#include "axontest.h"

/* Whether what is reshaped is copied to rows by a kernel of ours. */
static gboolean
is_reordered_by_own_loops (AxonModel *model)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  gboolean is_own = FALSE;
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *n = g_ptr_array_index (runtime->nodes, i);
    is_own |= g_str_equal (n->op->name, "Reshape") && g_strcmp0 (n->exec_type, "own") == 0;
  }
  return is_own;
}

/* Runs, elements some apart, pixels of a few planes, and matrices: of one part and of several, of
 * one set and of several, with and without what squares leave. */
static const struct {
  AxonDType dtype;
  AxonShape shape;
  gint64 perm[4];
} copies[] = {
  { AXON_DTYPE_F32, { 4, { 2, 7, 5, 33 } }, { 0, 2, 1, 3 } },
  { AXON_DTYPE_U8, { 4, { 2, 7, 5, 33 } }, { 0, 2, 1, 3 } },
  { AXON_DTYPE_F32, { 4, { 1, 8, 12, 4 } }, { 0, 3, 1, 2 } },
  { AXON_DTYPE_U8, { 4, { 2, 30, 40, 3 } }, { 0, 3, 1, 2 } },
  { AXON_DTYPE_F32, { 4, { 2, 33, 31, 5 } }, { 0, 3, 1, 2 } },
  { AXON_DTYPE_F32, { 4, { 2, 3, 90, 80 } }, { 0, 2, 3, 1 } },
  { AXON_DTYPE_U8, { 4, { 3, 3, 100, 70 } }, { 0, 2, 3, 1 } },
  { AXON_DTYPE_U8, { 4, { 1, 4, 9, 7 } }, { 0, 2, 3, 1 } },
  { AXON_DTYPE_F32, { 4, { 1, 8, 12, 4 } }, { 0, 2, 3, 1 } },
  { AXON_DTYPE_F32, { 4, { 2, 9, 8, 40 } }, { 0, 3, 1, 2 } },
  { AXON_DTYPE_F32, { 4, { 2, 9, 8, 40 } }, { 0, 2, 3, 1 } },
  { AXON_DTYPE_F32, { 4, { 2, 33, 31, 5 } }, { 0, 2, 3, 1 } },
  { AXON_DTYPE_F32, { 4, { 1, 70, 68, 130 } }, { 0, 3, 1, 2 } },
  { AXON_DTYPE_F32, { 4, { 1, 70, 68, 130 } }, { 0, 2, 3, 1 } },
  { AXON_DTYPE_F32, { 4, { 3, 64, 64, 17 } }, { 0, 3, 1, 2 } },
  { AXON_DTYPE_F32, { 4, { 3, 64, 64, 17 } }, { 0, 2, 3, 1 } },
  { AXON_DTYPE_U8, { 4, { 2, 9, 8, 40 } }, { 0, 3, 1, 2 } },
  { AXON_DTYPE_U8, { 4, { 2, 33, 31, 19 } }, { 0, 3, 1, 2 } },
  { AXON_DTYPE_U8, { 4, { 1, 70, 68, 130 } }, { 0, 2, 3, 1 } },
  { AXON_DTYPE_U8, { 4, { 2, 16, 4, 90 } }, { 0, 2, 3, 1 } },
};

/* No two that are near each other alike. */
static AxonTensor *
make_data (AxonDType dtype, const AxonShape *shape)
{
  AxonTensor *t = axon_tensor_new (dtype, shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    axon_dtype_store (dtype, axon_tensor_get_data (t), i, (gdouble)(i % 251));
  return t;
}

static void
copies_of_layouts_can_be_left_to_onednn (void)
{
  static const gint64 all = -1;
  for (guint i = 0; i < G_N_ELEMENTS (copies); i++) {
    TestModel t = test_model_new (13);
    AxonNode *turned = test_model_node (
        &t, "Transpose", 1, test_model_input (&t, "x", copies[i].dtype, &copies[i].shape));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) data = make_data (copies[i].dtype, &copies[i].shape);
    axon_node_set_ints (turned, "perm", copies[i].perm, 4);
    model = test_model_finish (
        &t, test_model_node (&t, "Reshape", 2, turned->outputs[0], test_model_ints (&t, &all, 1))
                ->outputs[0]);
    g_test_message ("row %u", i);
    test_compare_devices (model, data, 0);
    g_assert_true (is_reordered_by_own_loops (model));
    g_setenv ("AXON_CPU_DISABLE_KERNELS", "reorder", TRUE);
    test_compare_devices (model, data, 0);
    g_assert_false (is_reordered_by_own_loops (model));
    g_unsetenv ("AXON_CPU_DISABLE_KERNELS");
  }
}

/* As detectors put boxes and classes of their anchors together: parts of a turned tensor, of which
 * some are computed with; for all parts, and all but one. */
static void
turned_parts_are_joined (void)
{
  static const gint64 perm[] = { 0, 1, 3, 4, 2 }, sizes[] = { 2, 2, 81 };
  const AxonShape shape = AXON_SHAPE (1, 3, 85, 4, 5);
  for (guint computed = 0; computed < 8; computed++)
    for (gint64 axis = 0; axis < 5; axis++) {
      TestModel t = test_model_new (13);
      AxonNode *turned =
          test_model_node (&t, "Transpose", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
      AxonValue *in[] = { turned->outputs[0], test_model_ints (&t, sizes, 3) };
      AxonNode *split = test_model_node_of (&t, NULL, "Split", in, 2, 3), *joined;
      AxonValue *parts[3];
      g_autoptr (AxonModel) model = NULL;
      g_autoptr (AxonTensor) data = make_data (AXON_DTYPE_F32, &shape);
      axon_node_set_ints (turned, "perm", perm, 5);
      axon_node_set_int (split, "axis", -1);
      for (guint i = 0; i < 3; i++) /* along other axes parts have to be of the same size */
        parts[i] = split->outputs[axis == 4 ? i : 2];
      for (guint i = 0; i < 3; i++)
        if (computed >> i & 1)
          parts[i] = test_model_node (&t, "Neg", 1, parts[i])->outputs[0];
      joined = test_model_node_of (&t, NULL, "Concat", parts, 3, 1);
      axon_node_set_int (joined, "axis", axis);
      model = test_model_finish (&t, joined->outputs[0]);
      test_compare_devices (model, data, 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/reorder/copies_of_layouts_can_be_left_to_onednn",
                   copies_of_layouts_can_be_left_to_onednn);
  g_test_add_func ("/reorder/turned_parts_are_joined", turned_parts_are_joined);
  return g_test_run ();
}
