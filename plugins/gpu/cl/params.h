/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of kernels. This text is C and OpenCL C: the plan fills a struct, the kernel reads
 * it by the same names (PARAMS in prelude.cl). Only int and float, so that both lay it out alike.
 */

#define GPU_MAX_RANK 8

/* Three spatial dimensions; missing leading ones have size 1. taps: of the kernel, which is a word
 * of OpenCL. */
typedef struct {
  int in[3], taps[3], stride[3], dilation[3], pad[3], out[3];
} GpuWindow;

typedef struct {
  int inputs, outputs, blocks, groups; /* inputs and outputs of a group; blocks of 8 outputs */
  GpuWindow window;
} GpuConvParams;

typedef struct {
  int inputs, outputs, blocks, groups, pixels;
} GpuPointwiseParams;

/* Weights become [group][block of 8 outputs][depth][8]. */
typedef struct {
  int outputs, depth, taps;
  int group_step, output_step, input_step, tap_step;
} GpuPackWeightsParams;

typedef struct {
  int channels, quads, pixels; /* quads: of channels */
} GpuPackBytesParams;

typedef struct {
  int channels, rows, columns;    /* of x */
  int tile_rows, tile_columns;    /* of a picture */
  int pad_top, pad_left, n_tiles; /* of all pictures */
} GpuWinogradInParams;

typedef struct {
  int channels, rows, columns; /* of y */
  int tile_rows, tile_columns, n_tiles;
} GpuWinogradOutParams;

typedef struct {
  GpuWindow window;
  int counts_padding, pad_end[3];
  int p; /* of LpPool */
} GpuPoolParams;

/* One axis; indices and weights of all taps follow. */
typedef struct {
  int inner, in, out, taps;
  float outside;
} GpuResizeParams;

typedef struct {
  int channels, rows, columns, out_rows, out_columns;
  int padding; /* 0 zeros, 1 border, 2 reflection */
  int aligned; /* corners are */
} GpuGridSampleParams;

/* a[rows, depth] b[depth, columns], of every batch. */
typedef struct {
  int rows, columns, depth;
  int a_row, a_depth, c_row, c_column; /* steps */
  int batches;
  int size[GPU_MAX_RANK], a_step[GPU_MAX_RANK], b_step[GPU_MAX_RANK];
} GpuProductParams;

typedef struct {
  int hidden;
} GpuLstmParams;

/* Lines along an axis, elements of one line @inner apart. */
typedef struct {
  int inner, length;
} GpuLineParams;

typedef struct {
  GpuLineParams line;
  int last; /* of equal ones */
} GpuArgReduceParams;

typedef struct {
  GpuLineParams line;
  int k;
} GpuTopKParams;

typedef struct {
  GpuLineParams line;
  int exclusive, reverse;
} GpuCumulateParams;

typedef struct {
  GpuLineParams line;
  int p;
} GpuLpNormParams;

typedef struct {
  int channels, inner, size;
  float alpha, beta, bias;
} GpuLrnParams;

/* Scale and bias of an element: line % lines * line_step + element / elements. */
typedef struct {
  int length, centred;
  float epsilon;
  int lines, line_step, elements;
} GpuNormalizeParams;

typedef struct {
  int kept, reduced; /* numbers of axes */
  int count;         /* of elements that become one */
  int kept_size[GPU_MAX_RANK], kept_step[GPU_MAX_RANK];
  int reduced_size[GPU_MAX_RANK], reduced_step[GPU_MAX_RANK];
} GpuReduceParams;

typedef struct {
  int rank, from, to;
  int size[2 * GPU_MAX_RANK], x_step[2 * GPU_MAX_RANK], y_step[2 * GPU_MAX_RANK];
} GpuMoveParams;

typedef struct {
  int size, x_size, x_step, start; /* size: of y; start: where x begins in y */
} GpuPadAxis;

typedef struct {
  int rank;
  int mode; /* 0 constant, 1 edge, 2 reflect, 3 wrap */
  GpuPadAxis axis[GPU_MAX_RANK];
} GpuPadParams;

typedef struct {
  int count, inner, length; /* count: of indices; length: of the axis */
} GpuGatherParams;

typedef struct {
  int rank, axis, length;
  int size[GPU_MAX_RANK], x_step[GPU_MAX_RANK];
} GpuGatherElementsParams;

typedef struct {
  int length, slice;         /* of an index; elements */
  int per_batch, batch_size; /* slices of y, elements of x */
  int size[GPU_MAX_RANK], x_step[GPU_MAX_RANK];
} GpuGatherNdParams;

typedef struct {
  int rank, axis, length;
  int size[GPU_MAX_RANK], index_step[GPU_MAX_RANK], y_step[GPU_MAX_RANK];
} GpuScatterElementsParams;

typedef struct {
  int length, tuples; /* length: of an index */
  int size[GPU_MAX_RANK], y_step[GPU_MAX_RANK];
} GpuScatterNdParams;

typedef struct {
  int depth, inner;
} GpuOneHotParams;

typedef struct {
  int rows, columns, upper;
} GpuTriluParams;

typedef struct {
  int size[2], inner, time_first; /* size: of the first two axes */
} GpuReverseParams;

typedef struct {
  int width, height, channels, channels_last, blue_first;
  float bars; /* their value */
  float mean[3], scale[3];
} GpuImageParams;

/* whole + fraction / 2^32, the fraction by its bits */
typedef struct {
  int whole, fraction;
} GpuFixed;

/* Sample x >> shift_x of row y >> shift_y, as AxonImageComponent; stride: of its plane. */
typedef struct {
  int plane, stride, offset, step, shift_x, shift_y;
} GpuFrameComponent;

/* What a run says of its frame, as AxonImageSampling and AxonImageColors. */
typedef struct {
  int kind; /* 0 YUV, 1 RGB, 2 gray */
  int sample_bytes, big_endian;
  GpuFrameComponent component[3];
  int first[2], last[2];
  int left, top, columns, rows; /* of the tensor, that show the picture */
  GpuFixed origin[2], column_step[2], row_step[2];
  float unit, center, luma_scale, luma_offset;
  float v_to_r, u_to_g, v_to_g, u_to_b;
} GpuFrameParams;
