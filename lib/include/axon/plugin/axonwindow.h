/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Geometry that kernels of every device need, said once: sliding windows, and what an axis of
 * Resize reads. No state: any thread. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

/* Sliding windows over up to three spatial dimensions; missing leading ones have size 1. Of
 * ConvTranspose the window describes the convolution whose gradient it is: in is its output. */
typedef struct {
  gint rank;
  gint64 in[3], kernel[3], stride[3], dilation[3], pad[3], pad_end[3], out[3];
} AxonWindow;

/**
 * axon_window_init:
 * @w: what is filled
 * @node: a node with attributes strides, dilations, pads and auto_pad
 * @x: shape of input 0: N, C and one to three spatial dimensions
 * @kernel: size of the window in each spatial dimension
 * @ceil_mode: whether the output's size is rounded up
 * @error: return location
 *
 * Reads a sliding window. Fails with %AXON_ERROR_MODEL or %AXON_ERROR_UNSUPPORTED.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_window_init (AxonWindow *w, const AxonNode *node, const AxonShape *x,
                                    const gint64 *kernel, gboolean ceil_mode, GError **error);

/**
 * axon_window_shape:
 * @w: a window
 * @shape: (inout): a shape whose spatial dimensions are set to the output's
 *
 * Says what comes out of a window.
 *
 * Since: 1.0
 */
AXON_API void axon_window_shape (const AxonWindow *w, AxonShape *shape);

/**
 * axon_window_of_node:
 * @w: what is filled
 * @node: a convolution or a pooling that was inferred; its kernel's size is known
 * @error: return location
 *
 * Reads the window of a node. Fails as axon_window_init().
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_window_of_node (AxonWindow *w, const AxonNode *node, GError **error);

/**
 * axon_window_of_transposed:
 * @w: what is filled
 * @node: a ConvTranspose that was inferred; its kernel's size is known
 * @error: return location
 *
 * Reads the window of the convolution whose gradient the node is. Fails as axon_window_init().
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_window_of_transposed (AxonWindow *w, const AxonNode *node, GError **error);

/**
 * axon_window_taps:
 * @w: a window
 * @d: a dimension, 0 to 2
 * @o: place of the output in it
 * @from: first place of the input that counts; 0, or in the padding
 * @to: the one behind the last
 * @first: (out): the first tap that reads a place that counts
 *
 * Says which taps of the kernel read places that count. A kernel may have far more taps than the
 * input has places, and taking all of them one by one would take forever.
 *
 * Returns: the tap behind the last; @first where there is none
 *
 * Since: 1.0
 */
AXON_API gint64 axon_window_taps (const AxonWindow *w, gint d, gint64 o, gint64 from, gint64 to,
                                  gint64 *first);

/**
 * axon_window_reach:
 * @w: a window
 * @d: a dimension, 0 to 2
 *
 * Says how much work a window is: products of what this returns do not overflow where the input
 * fits memory.
 *
 * Returns: the most taps that read the input at one output
 *
 * Since: 1.0
 */
AXON_API gint64 axon_window_reach (const AxonWindow *w, gint d);

/* One axis of Resize: output i is the sum of weight[i * n + t] * input[index[i * n + t]], or a
 * constant where index is negative. */
typedef struct {
  gint axis;
  gint64 n_in, n_out;
  gint n; /* taps */
  gint32 *index;
  gfloat *weight;
} AxonResizeAxis;

/**
 * axon_resize_axes:
 * @node: a Resize or Upsample that was inferred; scales and sizes are constants
 * @error: return location
 *
 * Says what each axis of the output reads. Fails with %AXON_ERROR_MODEL or %AXON_ERROR_UNSUPPORTED.
 *
 * Returns: (transfer full) (element-type AxonResizeAxis): the axes that change something; %NULL
 *   with @error
 *
 * Since: 1.0
 */
AXON_API GArray *axon_resize_axes (const AxonNode *node, GError **error);

G_END_DECLS
