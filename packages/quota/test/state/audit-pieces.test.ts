import {
  AUDIT_PIECE,
  type AuditRecord,
  auditHash,
  continuesPieces,
  duePieces,
  pieceBytes,
  readPiece,
  SortedMap,
} from "@seneschal/quota";
import fc from "fast-check";
import { expect, test } from "vitest";

/** A chain of entries. */
function chainOf(length: number): readonly AuditRecord[] {
  const entries: AuditRecord[] = [];
  for (let seq = 1; seq <= length; seq += 1) {
    const entry = {
      seq,
      at: seq,
      action: "tenant.create",
      user: "ada",
      resourceType: "tenant",
      resourceId: `t${seq}`,
      details: {},
    };
    entries.push({ hash: auditHash(entries.at(-1)?.hash ?? "", entry), ...entry });
  }
  return entries;
}
const stateOf = (chain: readonly AuditRecord[], from: number) => ({
  audit: chain
    .slice(from)
    .reduce((map, entry) => map.set(String(entry.seq).padStart(16, "0"), entry), SortedMap.empty<AuditRecord>()),
  nextAudit: chain.length + 1,
  auditHead: chain.at(-1)?.hash ?? "",
});
const textsOf = (chain: readonly AuditRecord[], pieces: number): readonly string[] =>
  Array.from({ length: pieces }, (_, at) => {
    const entries = chain.slice(at * AUDIT_PIECE, (at + 1) * AUDIT_PIECE);
    const previous = chain[at * AUDIT_PIECE - 1]?.hash ?? "";
    return new TextDecoder().decode(pieceBytes({ previous, entries }));
  });

const chain = chainOf(3 * AUDIT_PIECE + 40);
const texts = textsOf(chain, 3);
const state = stateOf(chain, 3 * AUDIT_PIECE);

test("pieces that leave the state, and what stays, are the chain: whole pieces, as many as leave what is kept", () =>
  fc.assert(
    fc.property(fc.nat(chain.length), (keep) => {
      const pieces = duePieces(stateOf(chain, 0), keep);
      expect(pieces.flat()).toEqual(chain.slice(0, pieces.length * AUDIT_PIECE));
      expect(chain.length - pieces.flat().length).toBeGreaterThanOrEqual(keep);
      expect(chain.length - pieces.flat().length - AUDIT_PIECE).toBeLessThan(keep);
      expect(continuesPieces(stateOf(chain, pieces.flat().length), textsOf(chain, pieces.length))).toBe(true);
    }),
    { numRuns: 10 },
  ));

test("a piece that is dropped, swapped, repeated or another's is found", () => {
  const [first = "", second = "", third = ""] = texts;
  for (const others of [
    [],
    [first],
    [first, third],
    [second, first, third],
    [first, first, third],
    [...texts, third],
    texts.toReversed(),
  ])
    expect(continuesPieces(state, others)).toBe(false);
  expect(continuesPieces({ ...state, auditHead: "0" }, texts)).toBe(false);
});

test("an entry of a piece that is dropped, swapped or repeated, or one character of it another, is found", () =>
  fc.assert(
    fc.property(fc.nat(2), fc.nat(AUDIT_PIECE - 2), fc.nat(), (piece, at, pick) => {
      const text = texts[piece] as string;
      const { previous, entries } = readPiece(piece, text);
      const [one, next] = entries.slice(at, at + 2) as [AuditRecord, AuditRecord];
      const rest = [entries.slice(0, at), entries.slice(at + 2)] as const;
      for (const others of [[one], [next, one], [one, one, next], []])
        expect(() =>
          readPiece(piece, new TextDecoder().decode(pieceBytes({ previous, entries: [...rest[0], ...others, ...rest[1]] }))),
        ).toThrow(expect.objectContaining({ code: "log_diverged" }));
      const where = pick % text.length;
      const changed = `${text.slice(0, where)}${text[where] === "1" ? "2" : "1"}${text.slice(where + 1)}`;
      expect(continuesPieces(state, texts.with(piece, changed))).toBe(false);
      expect(() => readPiece(piece + 1, text)).toThrow(expect.objectContaining({ code: "log_diverged" }));
    }),
    { numRuns: 25 },
  ));
