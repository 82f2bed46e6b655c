import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { base64, fromBase64 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import type { SignBytes } from "../merkle/checkpoint.ts";
import { signingBytes } from "../signing/signing-bytes.ts";
import { type CustodianCard, isCard, readCard } from "./custodian-card.ts";
import { bytesOf, members, name, only, seconds } from "./shape.ts";

/** An organisation says to another one, by its bundle signing key, that a card is one of its people's. */
export interface CardStatement {
  readonly v: 1;
  readonly type: "custodian-card";
  /** Who says so: the organisation of the card. */
  readonly org_id: string;
  /** To whom. */
  readonly for_org_id: string;
  readonly card: CustodianCard;
  /** Whole seconds since the epoch. */
  readonly at: number;
  readonly expires_at: number;
  /** Base64 Ed25519 signature over the statement without it. */
  readonly signature: string;
}

/** A statement is good so long, in seconds: it is asked for anew whenever it is needed. */
const LIFETIME = 600;
/** Clocks of two organisations, apart by so much, in seconds. */
const CLOCKS = 300;

const isStatement = members({
  v: only(1),
  type: only("custodian-card"),
  org_id: name,
  for_org_id: name,
  card: isCard,
  at: seconds,
  expires_at: seconds,
  signature: bytesOf(64),
});

/** Makes a statement of a card of the organisation's own; `at` in seconds. */
export async function stateCard(
  card: CustodianCard,
  to: { readonly forOrg: string; readonly at: number },
  sign: SignBytes,
): Promise<CardStatement> {
  checkArgument("card", card, "object");
  checkArgument("to", to, "object");
  checkArgument("sign", sign, "function");
  const { forOrg, at } = to;
  const type = "custodian-card";
  const claims = { v: 1, type, org_id: card.org_id, for_org_id: forOrg, card, at, expires_at: at + LIFETIME } as const;
  return { ...claims, signature: base64(await sign(signingBytes("federation", claims))) };
}

/** What a statement must be of. */
export interface ExpectedCard {
  /** The organisation's bundle signing key, which its federation certificate vouches for. */
  readonly signingKey: Uint8Array;
  readonly org: string;
  readonly forOrg: string;
  readonly identity: string;
  /** Seconds since the epoch; without it a statement of any time, as evidence. */
  readonly at?: number;
}

/**
 * Takes a value that should be such a statement. Throws `custody_invalid` with `details.reason` `malformed`, `signature`, `other` (of another
 * organisation or person, or for another organisation), `expired` or `proof` (the card does not prove its keys).
 *
 * @example
 * ```ts
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { readCardStatement } from "@seneschal/crypto/custody";
 * const expected = { signingKey: new Uint8Array(32), org: "globex", forOrg: "acme", identity: "hank" };
 * try {
 *   readCardStatement(nobleCrypto, { v: 2 }, expected);
 * } catch (error) {
 *   console.log((error as Error).message); // not a statement of a card: malformed
 * }
 * ```
 */
export function readCardStatement(provider: CryptoProvider, value: unknown, expected: ExpectedCard): CardStatement {
  checkArgument("provider", provider, "object");
  checkArgument("expected", expected, "object");
  if (!isStatement(value)) throw invalid("malformed");
  const statement = value as CardStatement;
  const { signature, ...claims } = statement;
  if (!provider.ed25519Verify(expected.signingKey, signingBytes("federation", claims), fromBase64(signature)))
    throw invalid("signature");
  const { card, org_id, for_org_id, at, expires_at } = statement;
  const right = org_id === expected.org && card.org_id === org_id && for_org_id === expected.forOrg;
  if (!right || card.custodian_id !== expected.identity) throw invalid("other");
  const now = expected.at;
  if (now !== undefined && (at > now + CLOCKS || expires_at < now - CLOCKS)) throw invalid("expired");
  readCard(provider, card);
  return statement;
}

const invalid = (reason: string) => cryptoError("custody_invalid", `not a statement of a card: ${reason}`, { reason });
