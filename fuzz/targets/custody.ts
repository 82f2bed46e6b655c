import { canonicalJson, nobleCrypto, parseStrictJson, utf8 } from "@seneschal/crypto";
import {
  CeremonyState,
  encodeTranscript,
  openKeyFile,
  readCard,
  type TranscriptEntry,
  verifyTranscript,
} from "@seneschal/crypto/custody";
import { type FuzzTarget, law, orRefused, orRefusedLater, textOf } from "../target.ts";

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
/** Takes every signature, so that mutated acts are judged too. */
const credulous = { ...nobleCrypto, ed25519Verify: () => true };
/** Stretches nothing: a whole key file would take a second. */
const quick = { ...nobleCrypto, argon2id: () => Promise.resolve(new Uint8Array(32)) };

/** Transcripts, cards, key files and states of ceremonies: what is taken has one form, what is not is refused by a reason. */
export const target: FuzzTarget = {
  words: [
    '"act":{"type":"',
    "start",
    "join",
    "complaint",
    '"seq":',
    '"against":',
    '"proof":',
    '"v":2',
    "\n",
    "AAAA",
    "==",
    "}\n{",
  ],
  async run(bytes) {
    const text = textOf(bytes);
    for (const provider of [nobleCrypto, credulous]) {
      const report = verifyTranscript(provider, bytes);
      if (!report.valid) continue;
      const entries = text
        .trimEnd()
        .split("\n")
        .map((line) => parseStrictJson(line) as unknown as TranscriptEntry);
      law(same(encodeTranscript(entries), bytes), "a transcript has one form");
      law(report.acts.length === entries.length, "every entry is an act");
      law(report.status !== "active" || report.seats.every(({ confirmed }) => confirmed), "active means confirmed by all");
    }
    const card = orRefused(() => readCard(nobleCrypto, parseStrictJson(text)));
    if (card !== undefined) law(Object.keys(card).length === 6, "a card has no other members");
    const state = orRefused(() => CeremonyState.fromBytes(bytes));
    if (state !== undefined) law(same(state.toBytes(), bytes), "a state has one form");
    for (const secret of ["p", new Uint8Array(32)]) {
      const opened = await orRefusedLater(() => openKeyFile(quick, bytes, secret));
      if (opened === undefined) continue;
      law(same(utf8(canonicalJson(opened.card)), utf8(canonicalJson(readCard(nobleCrypto, opened.card)))), "a card is proven");
    }
  },
};
