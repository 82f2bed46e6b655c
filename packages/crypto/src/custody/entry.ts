import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { base64, utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { signingBytes } from "../signing/signing-bytes.ts";
import { type Act, isAct } from "./act.ts";
import type { CustodianKeys } from "./custodian-keys.ts";
import { bytesOf, type Check, members, name, only, seconds, wholeNumber } from "./shape.ts";

/** One act of one person in a ceremony, signed over everything before it. */
export interface TranscriptEntry {
  readonly v: 1;
  readonly ceremony: string;
  /** 0 for the start, then one more each. */
  readonly seq: number;
  /** {@link entryHash} of the entry before; 32 zero bytes in the first. */
  readonly prev: string;
  /** The author's clock, whole seconds since the epoch. */
  readonly at: number;
  /** `custodian_id` of who acts. */
  readonly author: string;
  readonly act: Act;
  /** Base64 Ed25519 signature over the entry without it. */
  readonly signature: string;
}

/** More entries than a ceremony of 255 seats has: six acts of each seat, the start and the witness. */
export const MAX_ENTRIES = 2048;
/** A start with 257 cards of the longest names, or 254 packages. */
export const MAX_ENTRY_BYTES = 512 * 1024;
export const NO_ENTRY = base64(new Uint8Array(32));

/** Exactly the members of an entry, each of its size, by an author and of an act that are as these want them. */
export function entryOf(author: Check, act: Check): Check {
  return members({
    v: only(1),
    ceremony: name,
    seq: wholeNumber(0, MAX_ENTRIES - 1),
    prev: bytesOf(32),
    at: seconds,
    author,
    act,
    signature: bytesOf(64),
  });
}

/** Exactly the members of an entry of a ceremony among custodians. */
export const isEntry: Check = entryOf(name, isAct);

/** Base64 SHA-256 over `seneschal/custody-chain/v1 || 0x00 || JCS(entry)`, the signature included. */
export function entryHash(provider: Pick<CryptoProvider, "hash">, entry: object): string {
  checkArgument("provider", provider, "object");
  checkArgument("entry", entry, "object");
  return base64(provider.hash("sha256", utf8(`seneschal/custody-chain/v1\0${canonicalJson(entry)}`)));
}

/** The bytes that an entry's author signs. */
export function entryBytes({ signature: _, ...signed }: { readonly signature: string }): Uint8Array {
  return signingBytes("custodyEntry", signed);
}

/** Signs an act behind the transcript so far; `after` is `undefined` for a start. */
export function signEntry(
  keys: CustodianKeys,
  by: { readonly ceremony: string; readonly author: string; readonly at: number },
  act: Act,
  after?: { readonly hashes: readonly string[] },
): TranscriptEntry {
  checkArgument("keys", keys, "object");
  checkArgument("by", by, "object");
  checkArgument("act", act, "object");
  const { ceremony, author, at } = by;
  const hashes = after?.hashes ?? [];
  const signed = { v: 1, ceremony, seq: hashes.length, prev: hashes.at(-1) ?? NO_ENTRY, at, author, act } as const;
  return { ...signed, signature: base64(keys.sign(signingBytes("custodyEntry", signed))) };
}
