"""A collector that decodes what arrives by the published schema, and tells it as JSON.

    receiver.py        prints "ready PORT"

POST …/v1/traces and …/v1/metrics take an export. The first part of the path is the collector's manner: `busy` refuses the first two exports of each
signal, `partial` rejects one span or point, `nonsense` answers with a page, `slow` takes a minute. GET /received lists what has been accepted.

POST /openmetrics and /prometheus parse a page of metrics, and answer with its families.
"""
import base64
import gzip
import http.server
import json
import time

from google.protobuf import json_format, unknown_fields
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces
import prometheus_client.openmetrics.parser as openmetrics
import prometheus_client.parser as prometheus

SIGNALS = {"traces": (traces.ExportTraceServiceRequest, traces.ExportTraceServiceResponse),
           "metrics": (metrics.ExportMetricsServiceRequest, metrics.ExportMetricsServiceResponse)}
PARSERS = {"/openmetrics": openmetrics, "/prometheus": prometheus}
received, refused = [], {}


def unknown(message, path=""):
    """The paths of all fields that the schema does not have."""
    found = [f"{path}/{field.field_number}" for field in unknown_fields.UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.message_type:
            for index, part in enumerate([value] if hasattr(value, "ListFields") else value):
                found += unknown(part, f"{path}/{field.name}[{index}]")
    return found


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", type="application/x-protobuf", **headers):
        self.send_response(status)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, json.dumps(received).encode(), "application/json")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path in PARSERS:
            families = [{"name": f.name, "type": f.type, "unit": f.unit, "samples": [[s.name, s.labels, s.value] for s in f.samples]}
                        for f in PARSERS[self.path].text_string_to_metric_families(body.decode())]
            return self.answer(200, json.dumps(families).encode(), "application/json")
        if self.path.startswith("/api"):
            status = 500 if self.path.endswith("broken") else 200
            return self.answer(status, json.dumps(self.headers["traceparent"]).encode(), "application/json")
        manner, signal = self.path.split("/")[1], self.path.split("/")[-1]
        refused[signal] = refused.get(signal, 0) + 1
        if manner == "busy" and refused[signal] <= 2:
            return self.answer([429, 503][refused[signal] - 1], **({"Retry_After": "0"} if refused[signal] == 1 else {}))
        if manner == "slow":
            time.sleep(60)
        Request, Response = SIGNALS[signal]
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        message, response, is_json = Request(), Response(), self.headers["Content-Type"] == "application/json"
        try:
            if is_json:
                document = json.loads(body)
                for part in spans_of(document):
                    for name in ("traceId", "spanId", "parentSpanId"):
                        if name in part:
                            part[name] = base64.b64encode(bytes.fromhex(part[name])).decode()
                json_format.ParseDict(document, message)
            else:
                message.ParseFromString(body)
        except Exception as error:
            received.append({"signal": signal, "error": str(error)})
            return self.answer(400)
        received.append({
            "signal": signal,
            "format": "json" if is_json else "protobuf",
            "encoding": self.headers["Content-Encoding"],
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "unknown": unknown(message),
            "isCanonical": is_json or message.SerializeToString(deterministic=True) == body,
            "message": hexadecimal(json_format.MessageToDict(message)),
        })
        if manner == "nonsense":
            return self.answer(200, b"<html>hello</html>", "text/html")
        if manner == "partial":
            setattr(response.partial_success, "rejected_spans" if signal == "traces" else "rejected_data_points", 1)
            response.partial_success.error_message = "too old"
        self.answer(200, json_format.MessageToJson(response).encode() if is_json else response.SerializeToString())


def spans_of(document):
    return [span for r in document.get("resourceSpans", []) for s in r.get("scopeSpans", []) for span in s.get("spans", [])]


def hexadecimal(document):
    """The message with its IDs as hexadecimal digits, in place of base64."""
    for span in spans_of(document):
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in span:
                span[name] = base64.b64decode(span[name]).hex()
    return document


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"ready {server.server_port}", flush=True)
server.serve_forever()
