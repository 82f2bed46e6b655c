"""An engine of words for Presidio without a language model: spaCy's tokens stand for lemmas."""

import spacy
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
