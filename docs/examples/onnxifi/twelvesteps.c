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

static void *
load (void *library, const char *name)
{
  void *function = dlsym (library, name);
  if (function != NULL)
    return function;
  fprintf (stderr, "%s is missing\n", name);
  exit (1);
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

#define LOAD(name) name##Function name##_ = (name##Function)load (library, #name)

int
main (int argc, char **argv)
{
  /* 1. Load the library: one vendor's, or the wrapper. */
  void *library =
      argc >= 5 && argc < 5 + MOST_OUTPUTS ? dlopen (argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf (stderr, "usage: %s LIBRARY MODEL.onnx INPUT=1,3,24,32 OUTPUT=1,10 ...\n%s\n", argv[0],
             argc >= 5 ? dlerror () : "");
    return 1;
  }
  LOAD (onnxGetBackendIDs);
  LOAD (onnxReleaseBackendID);
  LOAD (onnxGetBackendInfo);
  LOAD (onnxGetBackendCompatibility);
  LOAD (onnxInitBackend);
  LOAD (onnxReleaseBackend);
  LOAD (onnxInitEvent);
  LOAD (onnxSignalEvent);
  LOAD (onnxWaitEvent);
  LOAD (onnxReleaseEvent);
  LOAD (onnxInitGraph);
  LOAD (onnxSetGraphIO);
  LOAD (onnxRunGraph);
  LOAD (onnxReleaseGraph);
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

  /* 2. IDs of all backends: first how many, then which. */
  onnxGetBackendIDs_ (NULL, &n_ids);
  onnxBackendID *ids = calloc (n_ids + 1, sizeof *ids);
  check ("onnxGetBackendIDs", onnxGetBackendIDs_ (ids, &n_ids));

  /* 3. What each one is; texts come without a NUL. */
  for (size_t i = 0; i < n_ids; i++) {
    char name[256];
    size_t n = sizeof name - 1;
    check ("onnxGetBackendInfo", onnxGetBackendInfo_ (ids[i], ONNXIFI_BACKEND_NAME, name, &n));
    name[n] = '\0';
    printf ("backend %zu: %s\n", i, name);
  }

  /* 4. Which one takes the model; FALLBACK is yes, but not its best. */
  size_t chosen = 0;
  while (chosen < n_ids &&
         onnxGetBackendCompatibility_ (ids[chosen], n_model, model) > ONNXIFI_STATUS_FALLBACK)
    chosen++;
  if (chosen == n_ids) {
    fprintf (stderr, "no backend takes %s\n", argv[2]);
    return 1;
  }

  /* 5. The backend, with properties: key, value ... NONE. */
  const uint64_t properties[] = { ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION,
                                  ONNXIFI_OPTIMIZATION_LOW_LATENCY, ONNXIFI_BACKEND_PROPERTY_NONE };
  onnxBackend backend;
  check ("onnxInitBackend", onnxInitBackend_ (ids[chosen], properties, &backend));

  /* 6. The graph; weights are in the model. Its bytes are ours again afterwards. */
  onnxGraph graph;
  check ("onnxInitGraph", onnxInitGraph_ (backend, NULL, n_model, model, 0, NULL, &graph));
  free (model);

  /* 7. Where tensors lie, once for all runs. */
  check ("onnxSetGraphIO", onnxSetGraphIO_ (graph, 1, &input.descriptor, n_outputs, descriptors));

  /* 8. The event that says that the input is there. */
  onnxMemoryFenceV1 before = { .tag = ONNXIFI_TAG_MEMORY_FENCE_V1,
                               .type = ONNXIFI_SYNCHRONIZATION_EVENT };
  onnxMemoryFenceV1 after = before;
  check ("onnxInitEvent", onnxInitEvent_ (backend, &before.event));

  /* 9. The run, which waits for that event; it makes the one that says that the output is there. */
  check ("onnxRunGraph", onnxRunGraph_ (graph, &before, &after));

  /* 10. The input, and its event. */
  float *x = (float *)(uintptr_t)input.descriptor.buffer;
  for (size_t i = 0; i < input.n; i++)
    x[i] = (float)i / (float)input.n;
  check ("onnxSignalEvent", onnxSignalEvent_ (before.event));

  /* 11. The output, when its event says so. */
  check ("onnxWaitEvent", onnxWaitEvent_ (after.event));
  for (uint32_t k = 0; k < n_outputs; k++) {
    const float *y = (const float *)(uintptr_t)outputs[k].descriptor.buffer;
    float least = y[0], most = y[0];
    for (size_t i = 0; i < outputs[k].n; i++) {
      least = y[i] < least ? y[i] : least;
      most = y[i] > most ? y[i] : most;
    }
    printf ("%s: %zu values from %g to %g\n", descriptors[k].name, outputs[k].n, least, most);
  }

  /* 12. All back, in the other order: events, graph, backend, IDs. */
  check ("onnxReleaseEvent", onnxReleaseEvent_ (before.event));
  check ("onnxReleaseEvent", onnxReleaseEvent_ (after.event));
  check ("onnxReleaseGraph", onnxReleaseGraph_ (graph));
  check ("onnxReleaseBackend", onnxReleaseBackend_ (backend));
  for (size_t i = 0; i < n_ids; i++)
    check ("onnxReleaseBackendID", onnxReleaseBackendID_ (ids[i]));
  free (ids);
  free (x);
  for (uint32_t i = 0; i < n_outputs; i++)
    free ((void *)(uintptr_t)outputs[i].descriptor.buffer);
  dlclose (library);
  return 0;
}
