import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { base64, fromBase64, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { parseCanonicalJson } from "../json/parse-canonical-json.ts";
import { MAX_ENTRIES, NO_ENTRY } from "./entry.ts";
import { bytesOf, listOf, members, name, only, wholeNumber } from "./shape.ts";
import type { TranscriptView } from "./transcript-view.ts";

const isState = members({
  v: only(1),
  ceremony: name,
  seat: wholeNumber(1, 255),
  secret: bytesOf(32),
  seen: listOf(bytesOf(32), 1, MAX_ENTRIES),
});

/**
 * What a custodian's client keeps of a ceremony between two steps: one secret, from which everything that it sends is derived, and how
 * far it has seen the transcript. A client that ends goes on from here and says the same again, never something else. The secret is
 * not enumerable and has no JSON form; {@link toBytes} is the one way out. Keep it sealed ({@link CustodianKeys.sealOwn}), and destroy it when the ceremony has ended:
 * it opens the packages of this ceremony and no others.
 */
export class CeremonyState {
  readonly ceremony: string;
  readonly seat: number;
  /**
   * Hash of every entry that was seen, the start that the custodian agreed to first: what is shown next must continue them. All and not
   * the last alone, so that a shorter transcript is told from a shorter part of this one.
   */
  readonly seen: readonly string[];
  readonly #secret: Uint8Array;
  readonly #derived: Map<string, unknown>;

  constructor(
    of: { readonly ceremony: string; readonly seat: number; readonly seen: readonly string[] },
    secret: Uint8Array,
    derived: Map<string, unknown> = new Map(),
  ) {
    checkArgument("of", of, "object");
    checkArgument("secret", secret, "bytes");
    this.ceremony = of.ceremony;
    this.seat = of.seat;
    this.seen = [...of.seen];
    this.#secret = Uint8Array.from(secret);
    this.#derived = derived;
  }

  /** Hash of the start that the custodian agreed to. */
  get start(): string {
    return this.seen[0] ?? NO_ENTRY;
  }

  /** How a view stands to what was seen: `behind` is a shorter part of it, `forked` is another transcript, of whichever length. */
  compare(view: TranscriptView): "continues" | "behind" | "forked" {
    const last = Math.min(this.seen.length, view.hashes.length) - 1;
    // Each hash is of everything before it.
    if (view.ceremony !== this.ceremony || view.hashes[last] !== this.seen[last]) return "forked";
    return view.hashes.length < this.seen.length ? "behind" : "continues";
  }

  /** The state of a client that has seen this view. */
  after(view: TranscriptView): CeremonyState {
    return new CeremonyState({ ...this, seen: view.hashes }, this.#secret, this.#derived);
  }

  /**
   * Bytes for one purpose, the same each time: HKDF-SHA256 of the secret, the salt being the hash of the entry that fixes what they are
   * for, so that another start, or other commitments, give other bytes.
   */
  derive(provider: Pick<CryptoProvider, "hkdf">, purpose: string, entry: string): Random {
    let drawn = 0;
    return (length) => provider.hkdf("sha256", this.#secret, fromBase64(entry), utf8(`${purpose}/${drawn++}`), length);
  }

  /** What costs something to derive from secret and start, made once for this state and all that come {@link after} it; never saved. */
  once<T>(name: string, make: () => T): T {
    if (!this.#derived.has(name)) this.#derived.set(name, make());
    return this.#derived.get(name) as T;
  }

  /** Canonical JSON, the secret included. */
  toBytes(): Uint8Array {
    const { ceremony, seat, seen } = this;
    return utf8(canonicalJson({ v: 1, ceremony, seat, seen, secret: base64(this.#secret) }));
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
    const { secret, ...of } = value as { ceremony: string; seat: number; seen: readonly string[]; secret: string };
    return new CeremonyState(of, fromBase64(secret));
  }

  /** Overwrites the secret, and forgets what was derived from it. */
  erase(): void {
    this.#secret.fill(0);
    this.#derived.clear();
  }
}
