"""A recogniser beside Seneschal: Presidio's `POST /analyze` over spaCy, or over a list of names.

    python3 recogniser.py --port 5002 --spacy en_core_web_sm
    python3 recogniser.py --port 5002 --names names.txt        # NAME or NAME<tab>ENTITY in each line
"""

import argparse
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def by_spacy(model):
    import spacy

    nlp = spacy.load(model)
    return lambda text: [(ent.label_, ent.start_char, ent.end_char) for ent in nlp(text).ents]


def by_names(path):
    with open(path, encoding="utf-8") as lines:
        named = [line.rstrip("\n").split("\t") for line in lines if line.strip()]
    patterns = [(rest[0] if rest else "PERSON", re.compile(r"(?<!\w)" + re.escape(name) + r"(?!\w)")) for name, *rest in named]
    return lambda text: [(entity, *match.span()) for entity, pattern in patterns for match in pattern.finditer(text)]


def handler_of(find):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != "/analyze":
                return self.answer(404, {"error": "POST /analyze"})
            # Offsets of Python are code points, as the protocol has them.
            found = [
                {"entity_type": entity, "start": start, "end": end, "score": 0.85}
                for entity, start, end in find(asked["text"])
                if entity in asked["entities"]
            ]
            self.answer(200, found)

        def answer(self, status, body):
            sent = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_):
            pass  # what was asked belongs into no log

    return Handler


parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=5002)
parser.add_argument("--spacy")
parser.add_argument("--names")
options = parser.parse_args()
find = by_spacy(options.spacy) if options.spacy else by_names(options.names)
server = ThreadingHTTPServer(("127.0.0.1", options.port), handler_of(find))
print(f"listening on {server.server_address[1]}", flush=True)
server.serve_forever()
