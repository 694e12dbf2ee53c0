/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that vision models seldom have, at sizes that fill vectors and threads and at odd ones:
 * a device against TEMPLATE. Whole numbers are in [low, high). */
#include "nodes.h"

#include <math.h>

typedef struct {
  NodeCase node;
  gint64 low, high;
} SizeCase;

static const SizeCase cases[] = {
  { { "Col2Im", "f32[2,27,130] i64[2]=10,13 i64[2]=3,3", "pads=1,1,1,1", "" }, 0, 0 },
  { { "Col2Im", "f32[1,48,30] i64[2]=9,12 i64[2]=3,4", "strides=2,2 pads=0,1,2,1", "" }, 0, 0 },
  { { "Col2Im", "f32[3,8,36] i64[2]=8,9 i64[2]=2,2", "dilations=2,3", "" }, 0, 0 },
  { { "Col2Im", "f32[1,16,80] i64[3]=7,8,9 i64[3]=2,2,2", "strides=2,2,2 pads=1,0,1,0,0,0", "" },
    0,
    0 },
  { { "Col2Im", "f32[2,20,17] i64[1]=20 i64[1]=4", "", "" }, 0, 0 },
  { { "OneHot", "i64[7,9] i64[]=13 f32[2]=2,5", "", "" }, -20, 20 },
  { { "OneHot", "i64[7,300] i64[]=13 f32[2]=2,5", "axis=1", "" }, -20, 20 },
  { { "OneHot", "i32[2000] i64[]=40 u8[2]=3,250", "axis=0", "" }, -50, 50 },
  { { "OneHot", "i32[3,5,2] i64[]=6 i64[2]=-1,7", "axis=-2", "" }, -7, 7 },
  { { "OneHot", "i64[31] i64[]=5 i16[2]=-1,7", "", "" }, 0, 5 },
  { { "RotaryEmbedding", "f32[2,3,37,24] f32[50,12] f32[50,12] i64[2,37]", "", "" }, -50, 50 },
  { { "RotaryEmbedding", "f32[2,3,37,24] f32[50,5] f32[50,5] i64[2,37]",
      "interleaved=1 rotary_embedding_dim=10", "" },
    0,
    50 },
  { { "RotaryEmbedding", "f32[2,19,48] f32[2,19,6] f32[2,19,6]", "num_heads=4", "" }, 0, 0 },
  { { "RotaryEmbedding", "f32[2,19,48] f32[40,4] f32[40,4] i64[2,19]",
      "num_heads=3 rotary_embedding_dim=8", "" },
    0,
    40 },
  { { "MaxRoiPool", "f32[1,19,16,12] f32[3,5]=0,1,1,9,8,0,-3,2,30,4,-1,5,5,4,4", "pooled_shape=3,4",
      "" },
    0,
    0 },
  { { "MaxRoiPool", "f32[2,5,16,12] f32[2,5]=1,2,3,22,15,0,40,40,50,50",
      "pooled_shape=7,5 spatial_scale=0.5", "" },
    0,
    0 },
  { { "MaxRoiPool", "f32[1,5,16,12]:nan,nan,inf,2 f32[2,5]=0,nan,3,22,15,0,0,0,nan,nan",
      "pooled_shape=2,2", "" },
    0,
    0 },
  { { "AffineGrid", "f32[3,2,3] i64[4]=3,2,17,23", "", "" }, 0, 0 },
  { { "AffineGrid", "f32[2,3,4] i64[5]=2,1,5,6,7", "align_corners=1", "" }, 0, 0 },
  { { "BitShift", "u8[5,131] u8[131]", "direction:LEFT", "" }, 0, 10 },
  { { "BitShift", "u16[5,131] u16[5,1]", "direction:RIGHT", "" }, 0, 20 },
  { { "BitShift", "u32[5,131] u32[1]", "direction:LEFT", "" }, 0, 40 },
  { { "BitShift", "u64[131] u64[5,131]", "direction:RIGHT", "" }, 0, 70 },
  { { "BitShift", "u64[131] u64[131]", "direction:LEFT", "" }, 0, 70 },
  { { "Where", "bool[5,131] i64[5,131] i64[131]", "", "" }, 0, 2 },
  { { "Where", "bool[131] u8[5,131] u8[5,1]", "", "" }, 0, 2 },
  { { "Where", "bool[5,1] i16[131] i16[5,131]", "", "" }, 0, 2 },
  { { "Where", "bool[5,131] f64[1] f64[5,131]", "", "" }, 0, 2 },
  { { "Where", "bool[5,131] bool[5,131] bool[5,131]", "", "" }, 0, 2 },
};

/* Of one case: no two inputs hold the same. */
typedef struct {
  const SizeCase *of;
  guint32 state;
} Numbers;

static void
fill (AxonTensor *x, gpointer user_data)
{
  Numbers *n = user_data;
  AxonDType dtype = axon_tensor_get_dtype (x);
  if (axon_dtype_is_float (dtype)) {
    node_fill (x);
    return;
  }
  for (gsize i = 0; i < axon_tensor_get_numel (x); i++) {
    n->state = n->state * 1664525 + 1013904223;
    axon_dtype_store (dtype, axon_tensor_get_data (x), i,
                      (gdouble)(n->of->low + (gint64)(n->state >> 8) % (n->of->high - n->of->low)));
  }
}

static void
devices_agree (gconstpointer data)
{
  const SizeCase *c = data;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) expected = NULL;
  AxonNode *node;
  g_autoptr (AxonModel) model = node_case_build (&c->node, 1, FALSE, inputs, &node);
  node_fill_inputs (&c->node, inputs, fill, &(Numbers){ c, 12345 });
  axon_model_infer_shapes (model, &error);
  g_assert_no_error (error);
  expected = test_try_run_all (model, "TEMPLATE", NULL, (AxonTensor *const *)inputs->pdata,
                               inputs->len, &error);
  g_assert_no_error (error);
  for (gint threads = 1; threads <= 3; threads++) {
    g_autofree gchar *n = g_strdup_printf ("%d", threads);
    g_autoptr (GVariant) config =
        g_variant_ref_sink (g_variant_new_parsed ("{'INFERENCE_NUM_THREADS': <%s>}", n));
    g_autoptr (AxonTensor) y = test_try_run_all (
        model, test_device (), g_str_equal (test_device (), "CPU") ? config : NULL,
        (AxonTensor *const *)inputs->pdata, inputs->len, &error);
    g_assert_no_error (error);
    g_assert_cmpfloat (test_largest_difference (y, expected), <=, 1e-5);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = g_strdup_printf ("/sizes/devices_agree/%s-%u", cases[i].node.op, i);
    g_test_add_data_func (path, &cases[i], devices_agree);
  }
  return g_test_run ();
}
