# SPDX-License-Identifier: LGPL-2.1-or-later
# Stands between device REMOTE and a server, and writes what both said until its input ends, with what the server
# says to a request of another shape and of a model that it has not.
# usage: record.py PORT SERVER_PORT PACKAGE MODEL_FOLDER TRANSFER FILE.json
import base64
import http.client
import http.server
import importlib.metadata
import json
import os
import sys
import threading

import onnx
from onnx import numpy_helper

PORT, SERVER_PORT, PACKAGE, FOLDER, TRANSFER, FILE = sys.argv[1:]
KEPT = ("content-type", "inference-header-content-length", "server")  # the others frame a body, or tell the time
exchanges = []


def as_text(body):
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def kept(headers):
    return {name.lower(): value for name, value in headers if name.lower() in KEPT}


def ask(method, path, headers, body):
    connection = http.client.HTTPConnection("127.0.0.1", int(SERVER_PORT))
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    data = answer.read()
    exchange = {"method": method, "path": path, "request": {"headers": kept(headers.items()), **as_text(body or b"")},
                "answer": {"status": answer.status, "reason": answer.reason, "headers": kept(answer.getheaders()), **as_text(data)}}
    if exchange not in exchanges:
        exchanges.append(exchange)
    return answer, data


class Between(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or None
        headers = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection")}
        answer, data = ask(self.command, self.path, headers, body)
        self.send_response(answer.status, answer.reason)
        for name, value in kept(answer.getheaders()).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = pass_on

    def log_message(self, *args):
        pass


def tensor(kind):
    with open(os.path.join(FOLDER, "test_data_set_0", f"{kind}_0.pb"), "rb") as f:
        return numpy_helper.to_array(onnx.TensorProto.FromString(f.read()))


def port(p, kind):
    value = tensor(kind)
    return {"name": p["name"], "datatype": p["datatype"], "shape": list(value.shape), "base64": base64.b64encode(value.tobytes()).decode()}


between = http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)), Between)
threading.Thread(target=between.serve_forever, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
between.shutdown()
about = json.loads(ask("GET", "/v2", {}, None)[1])
model = json.loads(ask("GET", "/v2/models/m", {}, None)[1])
ask("GET", "/v2/models/unknown/ready", {}, None)
x = model["inputs"][0]
wrong = {"inputs": [{"name": x["name"], "datatype": x["datatype"], "shape": [1, 2], "data": [1, 2]}]}
ask("POST", "/v2/models/m/infer", {"Content-Type": "application/json"}, json.dumps(wrong).encode())
with open(FILE, "w") as f:
    json.dump({"server": f"{about['name']} {about['version']} ({PACKAGE} {importlib.metadata.version(PACKAGE)})",
               "model": os.path.basename(FOLDER), "transfer": TRANSFER, "input": port(x, "input"),
               "output": port(model["outputs"][0], "output"), "exchanges": exchanges}, f, indent=1)
    f.write("\n")
