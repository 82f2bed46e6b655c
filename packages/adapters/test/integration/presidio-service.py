"""Presidio's analyzer behind HTTP, as `app.py` of its image has it, without a language model: its own pattern recognisers and a list of names, and spaCy's tokens.

`POST /analyze`, `GET /health` and `GET /supportedentities`; the port that it listens on is written to standard output.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "bench" / "peers"))

from presidio_analyzer import AnalyzerEngine, AnalyzerRequest, PatternRecognizer, RecognizerRegistry
from presidio_tokens import Tokens

registry = RecognizerRegistry()
registry.load_predefined_recognizers(languages=["en"])
registry.recognizers = [one for one in registry.recognizers if "Spacy" not in one.name]
registry.add_recognizer(PatternRecognizer(supported_entity="PERSON", deny_list=sys.argv[1:], name="names"))
engine = AnalyzerEngine(registry=registry, nlp_engine=Tokens(), supported_languages=["en"])


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        content = json.dumps(body, default=lambda one: one.to_dict(), sort_keys=True).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        self.answer(200, engine.get_supported_entities("en"))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            asked = AnalyzerRequest(json.loads(body))
            if not asked.text:
                raise Exception("No text provided")
            if not asked.language:
                raise Exception("No language provided")
            found = engine.analyze(
                text=asked.text,
                language=asked.language,
                correlation_id=asked.correlation_id,
                score_threshold=asked.score_threshold,
                entities=asked.entities,
                return_decision_process=asked.return_decision_process,
                ad_hoc_recognizers=asked.ad_hoc_recognizers,
                context=asked.context,
            )
            for one in found:
                if not asked.return_decision_process:
                    del one.analysis_explanation
                    del one.recognition_metadata
            self.answer(200, found)
        except TypeError as error:
            self.answer(400, {"error": f"Failed to parse /analyze request for AnalyzerEngine.analyze(). {error.args[0]}"})
        except Exception as error:
            self.answer(500, {"error": str(error.args[0])})

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
print(server.server_address[1], flush=True)
server.serve_forever()
