import type { CryptoProvider, Random } from "@seneschal/core/ports";
import { base64, fromBase64, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { parseCanonicalJson } from "../json/parse-canonical-json.ts";
import { bytesOf, members, name, only, wholeNumber } from "./shape.ts";
import type { TranscriptView } from "./transcript-view.ts";

const isState = members({
  ...{ v: only(1), ceremony: name, start: bytesOf(32), seat: wholeNumber(1, 255), secret: bytesOf(32) },
  ...{ length: wholeNumber(1, 2048), head: bytesOf(32) },
});

/** How much of a transcript a client has seen: what it is shown next must continue that. */
interface Seen {
  readonly length: number;
  readonly head: string;
}

/**
 * What a custodian's client keeps of a ceremony between two steps: one secret, from which everything that it sends is derived, and how
 * far it has seen the transcript. A client that ends goes on from here and says the same again, never something else. The secret is
 * not enumerable and has no JSON form; {@link toBytes} is the one way out. Keep it sealed ({@link CustodianKeys.sealOwn}), and destroy it when the ceremony has ended:
 * it opens the packages of this ceremony and no others.
 */
export class CeremonyState {
  readonly ceremony: string;
  /** Hash of the start that the custodian agreed to. */
  readonly start: string;
  readonly seat: number;
  readonly seen: Seen;
  readonly #secret: Uint8Array;

  constructor(
    of: { readonly ceremony: string; readonly start: string; readonly seat: number; readonly seen: Seen },
    secret: Uint8Array,
  ) {
    this.ceremony = of.ceremony;
    this.start = of.start;
    this.seat = of.seat;
    this.seen = { length: of.seen.length, head: of.seen.head };
    this.#secret = Uint8Array.from(secret);
  }

  /** How a view stands to what was seen: `behind` is shorter, `forked` is another transcript. */
  compare(view: TranscriptView): "continues" | "behind" | "forked" {
    const { length, head } = this.seen;
    if (view.ceremony !== this.ceremony || view.hashes[0] !== this.start) return "forked";
    if (view.hashes.length < length) return "behind";
    return view.hashes[length - 1] === head ? "continues" : "forked";
  }

  /** The state of a client that has seen this view. */
  after(view: TranscriptView): CeremonyState {
    return new CeremonyState(
      { ...this, seen: { length: view.hashes.length, head: view.hashes.at(-1) ?? this.start } },
      this.#secret,
    );
  }

  /**
   * Bytes for one purpose, the same each time: HKDF-SHA256 of the secret, the salt being the hash of the entry that fixes what they are
   * for, so that another start, or other commitments, give other bytes.
   */
  derive(provider: Pick<CryptoProvider, "hkdf">, purpose: string, entry: string): Random {
    let drawn = 0;
    return (length) => provider.hkdf("sha256", this.#secret, fromBase64(entry), utf8(`${purpose}/${drawn++}`), length);
  }

  /** Canonical JSON, the secret included. */
  toBytes(): Uint8Array {
    const { ceremony, start, seat, seen } = this;
    return utf8(canonicalJson({ v: 1, ceremony, start, seat, ...seen, secret: base64(this.#secret) }));
  }

  /** Reads {@link toBytes}. Throws `custody_invalid` with `details.reason` `malformed`. */
  static fromBytes(bytes: Uint8Array): CeremonyState {
    let value: unknown;
    try {
      value = parseCanonicalJson(bytes);
    } catch (cause) {
      throw cryptoError("custody_invalid", "not canonical JSON", { reason: "malformed" }, cause);
    }
    if (!isState(value)) throw cryptoError("custody_invalid", "not a ceremony's state", { reason: "malformed" });
    const { secret, length, head, ...of } = value as { ceremony: string; start: string; seat: number; secret: string } & Seen;
    return new CeremonyState({ ...of, seen: { length, head } }, fromBase64(secret));
  }

  /** Overwrites the secret. */
  erase(): void {
    this.#secret.fill(0);
  }
}
