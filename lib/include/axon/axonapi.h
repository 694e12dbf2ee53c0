/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/**
 * AXON_API:
 *
 * Marks what the library exports; everything else is hidden.
 *
 * Since: 1.0
 */
#define AXON_API __attribute__ ((visibility ("default")))
