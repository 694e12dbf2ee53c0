/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The whole flow of ONNXIFI 1.0 in twelve steps, over any vendor's library: Axon's, another one, or
 * the wrapper that finds them all. It needs neither Axon nor ONNX, only the header.
 *
 * usage: twelvesteps LIBRARY MODEL.onnx INPUT=1,3,24,32 OUTPUT=1,10 [OUTPUT=1,4 ...]
 *
 * LIBRARY, such as libonnxifi-axon.so or libonnxifi.so; names and shapes are the model's: ONNXIFI
 * cannot be asked for them. Tensors are of floats; the input is a ramp from 0 to 1. */
#include <axon/onnxifi.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIMENSIONS 8
#define MOST_OUTPUTS 16

typedef struct {
  onnxTensorDescriptorV1 descriptor;
  uint64_t shape[MOST_DIMENSIONS];
  size_t n;
} Tensor;

static void
check (const char *what, onnxStatus status)
{
  if (status == ONNXIFI_STATUS_SUCCESS || status == ONNXIFI_STATUS_FALLBACK)
    return;
  fprintf (stderr, "%s: status 0x%x\n", what, (unsigned)status);
  exit (1);
}

/* The functions that this program calls. */
#define FUNCTIONS(X)                                                                               \
  X (GetBackendIDs)                                                                                \
  X (ReleaseBackendID)                                                                             \
  X (GetBackendInfo)                                                                               \
  X (GetBackendCompatibility)                                                                      \
  X (InitBackend)                                                                                  \
  X (ReleaseBackend)                                                                               \
  X (InitEvent)                                                                                    \
  X (SignalEvent)                                                                                  \
  X (WaitEvent)                                                                                    \
  X (ReleaseEvent)                                                                                 \
  X (InitGraph)                                                                                    \
  X (SetGraphIO)                                                                                   \
  X (RunGraph)                                                                                     \
  X (ReleaseGraph)

static struct {
#define FIELD(name) onnx##name##Function name;
  FUNCTIONS (FIELD)
} onnx;

static void *
find (void *library, const char *name)
{
  void *function = dlsym (library, name);
  if (function != NULL)
    return function;
  fprintf (stderr, "%s is missing\n", name);
  exit (1);
}

static void *
load (const char *path)
{
  void *library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf (stderr, "%s\n", dlerror ());
    exit (1);
  }
#define LOAD(name) onnx.name = (onnx##name##Function)find (library, "onnx" #name);
  FUNCTIONS (LOAD)
  return library;
}

/* NAME=1,3,24,32 with memory for it. */
static void
make_tensor (Tensor *t, char *text)
{
  char *dims = strchr (text, '=');
  memset (t, 0, sizeof *t);
  if (dims == NULL)
    exit (1);
  *dims++ = '\0';
  t->n = 1;
  for (char *d = strtok (dims, ","); d != NULL && t->descriptor.dimensions < MOST_DIMENSIONS;
       d = strtok (NULL, ",")) {
    t->shape[t->descriptor.dimensions] = strtoull (d, NULL, 10);
    t->n *= t->shape[t->descriptor.dimensions++];
  }
  t->descriptor.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  t->descriptor.name = text;
  t->descriptor.dataType = ONNXIFI_DATATYPE_FLOAT32;
  t->descriptor.memoryType = ONNXIFI_MEMORY_TYPE_CPU;
  t->descriptor.shape = t->shape;
  t->descriptor.buffer = (onnxPointer)(uintptr_t)calloc (t->n, sizeof (float));
}

static void *
read_file (const char *path, size_t *n)
{
  FILE *file = fopen (path, "rb");
  void *bytes = NULL;
  if (file != NULL && fseek (file, 0, SEEK_END) == 0) {
    *n = (size_t)ftell (file);
    rewind (file);
    bytes = malloc (*n);
    if (fread (bytes, 1, *n, file) != *n)
      *n = 0;
  }
  if (file != NULL)
    fclose (file);
  if (bytes != NULL)
    return bytes;
  fprintf (stderr, "%s cannot be read\n", path);
  exit (1);
}

/* What each backend is; texts come without a NUL. */
static void
print_names (const onnxBackendID *ids, size_t n_ids)
{
  for (size_t i = 0; i < n_ids; i++) {
    char name[256];
    size_t n = sizeof name - 1;
    check ("onnxGetBackendInfo", onnx.GetBackendInfo (ids[i], ONNXIFI_BACKEND_NAME, name, &n));
    name[n] = '\0';
    printf ("backend %zu: %s\n", i, name);
  }
}

/* The first that takes the model; FALLBACK is yes, but not its best. */
static onnxBackendID
choose (const onnxBackendID *ids, size_t n_ids, const void *model, size_t n_model)
{
  for (size_t i = 0; i < n_ids; i++)
    if (onnx.GetBackendCompatibility (ids[i], n_model, model) <= ONNXIFI_STATUS_FALLBACK)
      return ids[i];
  fprintf (stderr, "no backend takes the model\n");
  exit (1);
}

static void
print_range (const Tensor *t)
{
  const float *y = (const float *)(uintptr_t)t->descriptor.buffer;
  float least = y[0], most = y[0];
  for (size_t i = 0; i < t->n; i++) {
    least = y[i] < least ? y[i] : least;
    most = y[i] > most ? y[i] : most;
  }
  printf ("%s: %zu values from %g to %g\n", t->descriptor.name, t->n, least, most);
}

static void
free_tensor (const Tensor *t)
{
  free ((void *)(uintptr_t)t->descriptor.buffer);
}

int
main (int argc, char **argv)
{
  if (argc < 5 || argc >= 5 + MOST_OUTPUTS) {
    fprintf (stderr, "usage: %s LIBRARY MODEL.onnx INPUT=1,3,24,32 OUTPUT=1,10 ...\n", argv[0]);
    return 1;
  }
  size_t n_model, n_ids = 0;
  void *model = read_file (argv[2], &n_model);
  Tensor input, outputs[MOST_OUTPUTS];
  onnxTensorDescriptorV1 descriptors[MOST_OUTPUTS];
  uint32_t n_outputs = (uint32_t)argc - 4;
  make_tensor (&input, argv[3]);
  for (uint32_t i = 0; i < n_outputs; i++) {
    make_tensor (&outputs[i], argv[4 + i]);
    descriptors[i] = outputs[i].descriptor;
  }

  /* 1. The library: one vendor's, or the wrapper. */
  void *library = load (argv[1]);

  /* 2. IDs of all backends: first how many, then which. */
  if (onnx.GetBackendIDs (NULL, &n_ids) != ONNXIFI_STATUS_FALLBACK)
    n_ids = 0;
  onnxBackendID *ids = calloc (n_ids + 1, sizeof *ids);
  check ("onnxGetBackendIDs", onnx.GetBackendIDs (ids, &n_ids));

  /* 3. What each one is. */
  print_names (ids, n_ids);

  /* 4. Which one takes the model. */
  onnxBackendID id = choose (ids, n_ids, model, n_model);

  /* 5. The backend, with properties: key, value ... NONE. */
  const uint64_t properties[] = { ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION,
                                  ONNXIFI_OPTIMIZATION_LOW_LATENCY, ONNXIFI_BACKEND_PROPERTY_NONE };
  onnxBackend backend;
  check ("onnxInitBackend", onnx.InitBackend (id, properties, &backend));

  /* 6. The graph; weights are in the model. Its bytes are ours again afterwards. */
  onnxGraph graph;
  check ("onnxInitGraph", onnx.InitGraph (backend, NULL, n_model, model, 0, NULL, &graph));
  free (model);

  /* 7. Where tensors lie, once for all runs. */
  check ("onnxSetGraphIO", onnx.SetGraphIO (graph, 1, &input.descriptor, n_outputs, descriptors));

  /* 8. The event that says that the input is there. */
  onnxMemoryFenceV1 before = { .tag = ONNXIFI_TAG_MEMORY_FENCE_V1,
                               .type = ONNXIFI_SYNCHRONIZATION_EVENT };
  onnxMemoryFenceV1 after = before;
  check ("onnxInitEvent", onnx.InitEvent (backend, &before.event));

  /* 9. The run, which waits for that event; it makes the one that says that the output is there. */
  check ("onnxRunGraph", onnx.RunGraph (graph, &before, &after));

  /* 10. The input, and its event. */
  float *x = (float *)(uintptr_t)input.descriptor.buffer;
  for (size_t i = 0; i < input.n; i++)
    x[i] = (float)i / (float)input.n;
  check ("onnxSignalEvent", onnx.SignalEvent (before.event));

  /* 11. The outputs, when their event says so. */
  check ("onnxWaitEvent", onnx.WaitEvent (after.event));
  for (uint32_t i = 0; i < n_outputs; i++)
    print_range (&outputs[i]);

  /* 12. All back, in the other order: events, graph, backend, IDs. */
  check ("onnxReleaseEvent", onnx.ReleaseEvent (before.event));
  check ("onnxReleaseEvent", onnx.ReleaseEvent (after.event));
  check ("onnxReleaseGraph", onnx.ReleaseGraph (graph));
  check ("onnxReleaseBackend", onnx.ReleaseBackend (backend));
  for (size_t i = 0; i < n_ids; i++)
    check ("onnxReleaseBackendID", onnx.ReleaseBackendID (ids[i]));
  free (ids);
  free_tensor (&input);
  for (uint32_t i = 0; i < n_outputs; i++)
    free_tensor (&outputs[i]);
  dlclose (library);
  return 0;
}
