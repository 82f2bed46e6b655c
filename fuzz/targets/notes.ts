import { createHash } from "node:crypto";
import { fromHex, nobleCrypto } from "@seneschal/crypto";
import {
  checkpointText,
  parseCheckpoint,
  verifyConsistency,
  verifyInclusion,
  verifyNote,
  verifySubtreeConsistency,
  verifySubtreeInclusion,
} from "@seneschal/crypto/merkle";
import { type FuzzTarget, law, orRefused, textOf } from "../target.ts";

const sha256 = (data: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(data).digest());
const root = sha256(new Uint8Array());
const keys = [{ name: "audit.acme.example", publicKey: nobleCrypto.ed25519PublicKey(fromHex("11".repeat(32))) }];

/** Notes, checkpoints and Merkle proofs of whatever sizes a text names. */
export const target: FuzzTarget = {
  words: ["audit.acme.example\n", "\n\n\u2014 audit.acme.example ", "\u2014 ", "+", "0\n", "9007199254740993\n", "AAAA", "=="],
  run(bytes) {
    const text = textOf(bytes);
    const note = orRefused(() => verifyNote(text, keys));
    if (note !== undefined) law(text.startsWith(note.text), "a note holds its text");
    for (const body of [text, note?.text ?? ""]) {
      const checkpoint = orRefused(() => parseCheckpoint(body));
      if (checkpoint !== undefined) law(checkpointText(checkpoint) === body, "a checkpoint has one form");
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const number = (at: number): number => (at * 4 + 4 <= bytes.length ? view.getUint32(at * 4) % 40 : at);
    const proof: Uint8Array[] = [];
    for (let at = 16; at + 32 <= bytes.length && proof.length < 8; at += 32) proof.push(bytes.slice(at, at + 32));
    const [a, b, c] = [number(0), number(1), number(2)];
    const leaf = root;
    const verdicts = [
      orRefused(() => verifyInclusion({ index: a, size: b, leaf, proof, root: bytes.slice(-32) })),
      orRefused(() => verifyConsistency({ oldSize: a, newSize: b, oldRoot: root, newRoot: bytes.slice(-32), proof })),
      orRefused(() => verifySubtreeInclusion({ index: a, start: b, end: c, leaf, subtreeRoot: bytes.slice(-32), proof })),
      orRefused(() => verifySubtreeConsistency({ start: a, end: b, size: c, subtreeRoot: root, root: bytes.slice(-32), proof })),
    ];
    for (const verdict of verdicts) law(verdict === undefined || typeof verdict === "boolean", "a proof holds or does not");
  },
};
