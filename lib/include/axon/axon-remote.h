/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keys of device REMOTE. */
#pragma once

/**
 * AXON_REMOTE_URL:
 *
 * Where the server is, as `https://host:8000`; a path is put before `/v2`.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_URL "URL"

/**
 * AXON_REMOTE_MODEL:
 *
 * The model's name on the server; empty: the name of the local model.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_MODEL "REMOTE_MODEL"

/**
 * AXON_REMOTE_VERSION:
 *
 * The model's version on the server; empty: the server chooses.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_VERSION "VERSION"

/**
 * AXON_REMOTE_TIMEOUT:
 *
 * Milliseconds from the start of a request to its result, tries and pauses between them included.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_TIMEOUT "TIMEOUT"

/**
 * AXON_REMOTE_RETRIES:
 *
 * How often a request is sent again that the server could not be given, or was too busy for. 0 for
 * models that keep a state between requests.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_RETRIES "RETRIES"

/**
 * AXON_REMOTE_CONNECTIONS:
 *
 * Connections at a time, of one compiled model.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_CONNECTIONS "CONNECTIONS"

/**
 * AXON_REMOTE_BINARY_DATA:
 *
 * Tensors as bytes behind the JSON: `AUTO` where the server lists the extension, `YES`, `NO`.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_BINARY_DATA "BINARY_DATA"

/**
 * AXON_REMOTE_SHARED_MEMORY:
 *
 * Tensors in memory shared with the server: `AUTO` where it lists the extension and is on this
 * machine, `YES`, `NO`.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_SHARED_MEMORY "SHARED_MEMORY"

/**
 * AXON_REMOTE_COMPRESSION:
 *
 * `GZIP`: requests and answers; `NO`; `AUTO`: answers in JSON from other machines. The protocol
 * does not tell whether a server takes compressed requests.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_COMPRESSION "COMPRESSION"

/**
 * AXON_REMOTE_TOKEN_FILE:
 *
 * File whose first line is the bearer's token; read again when the server refuses it.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_TOKEN_FILE "TOKEN_FILE"

/**
 * AXON_REMOTE_CA_FILE:
 *
 * File (PEM) of the certificates that are trusted, instead of the system's.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_CA_FILE "CA_FILE"

/**
 * AXON_REMOTE_CERTIFICATE_FILE:
 *
 * File (PEM) of the certificate that is shown to the server.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_CERTIFICATE_FILE "CERTIFICATE_FILE"

/**
 * AXON_REMOTE_KEY_FILE:
 *
 * File (PEM) of its key; empty: it is in the file of the certificate.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_KEY_FILE "KEY_FILE"

/**
 * AXON_REMOTE_MAX_ANSWER_SIZE:
 *
 * Mebibytes that an answer may have where the shapes of the outputs do not say less.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_MAX_ANSWER_SIZE "MAX_ANSWER_SIZE"

/**
 * AXON_REMOTE_TRANSFER:
 *
 * Of a compiled model: how its tensors travel, `SHARED_MEMORY`, `BINARY_DATA` or `JSON`.
 *
 * Since: 1.0
 */
#define AXON_REMOTE_TRANSFER "REMOTE_TRANSFER"
