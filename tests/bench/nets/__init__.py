# SPDX-License-Identifier: LGPL-2.1-or-later
"""Networks with random weights, like those that are published: the operators, widths and sizes are theirs."""
