"""Reads {"texts": [...]} from standard input; writes what the recognisers of Presidio find in each, and the seconds of processor that they took.

Presidio's own recognisers with their patterns, checks and context words; a spaCy model finds names and places and is not needed for these entities, so that
tokens stand for lemmas here.
"""

import json
import sys
import time

import spacy
from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine


class Tokens(NlpEngine):
    def __init__(self):
        self.nlp = spacy.blank("en")

    def load(self):
        pass

    def is_loaded(self):
        return True

    def process_text(self, text, language):
        doc = self.nlp(text)
        words = [token.lower_ for token in doc]
        artifacts = NlpArtifacts([], doc, [token.idx for token in doc], words, self, language)
        artifacts.keywords = words
        return artifacts

    def process_batch(self, texts, language, **_):
        return ((text, self.process_text(text, language)) for text in texts)

    def is_stopword(self, word, language):
        return self.nlp.vocab[word].is_stop

    def is_punct(self, word, language):
        return self.nlp.vocab[word].is_punct

    def get_supported_entities(self):
        return []

    def get_supported_languages(self):
        return ["en"]


asked = json.load(sys.stdin)
registry = RecognizerRegistry()
registry.load_predefined_recognizers(languages=["en"])
registry.recognizers = [one for one in registry.recognizers if "Spacy" not in one.name]
engine = AnalyzerEngine(registry=registry, nlp_engine=Tokens(), supported_languages=["en"])


def analyse():
    return [[[one.entity_type, one.start, one.end, one.score] for one in engine.analyze(text, language="en")] for text in asked["texts"]]


analyse()
started = time.process_time()
found = analyse()
spent = time.process_time() - started
json.dump({"found": found, "seconds": spent}, sys.stdout)
