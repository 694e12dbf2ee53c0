#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""schema.py SCHEMA [FILE]: every line of the file, or of standard input, is JSON that the schema allows.
Ends with 77 where nothing can check that (python3-jsonschema)."""
import json
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed: not checked")
    sys.exit(77)

schema = json.load(open(sys.argv[1]))
validator = jsonschema.validators.validator_for(schema)(schema)
validator.check_schema(schema)
bad = n = 0
for line in open(sys.argv[2]) if len(sys.argv) > 2 else sys.stdin:
    n += 1
    for error in validator.iter_errors(json.loads(line)):
        bad += 1
        print(f"line {n}: {error.json_path}: {error.message[:200]}")
sys.exit(1 if bad or n == 0 else 0)
