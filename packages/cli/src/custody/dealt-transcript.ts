import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { base64 } from "@seneschal/crypto";
import {
  type CustodianCard,
  type CustodianKeys,
  type DealtEntry,
  type DealtReport,
  dealtEntry,
  isDealtTranscript,
  verifyDealtTranscript,
} from "@seneschal/crypto/custody";
import { parseVerifierKey } from "@seneschal/crypto/merkle";
import { CodedError } from "@seneschal/kernel";

/** The transcript of a ceremony in which a gateway dealt, as it was found. */
export type DealtFound = Extract<DealtReport, { readonly valid: true }>;

/** What a file says, when it is of a ceremony in which a gateway dealt; `undefined` for another transcript. Throws `usage` for what is no verifier key. */
export function dealtReport(bytes: Uint8Array, logKey: string | undefined): DealtReport | undefined {
  if (!isDealtTranscript(bytes)) return undefined;
  return verifyDealtTranscript(nodeCrypto, bytes, logKey === undefined ? {} : { gatewayKey: gatewayKeyOf(logKey) });
}

function gatewayKeyOf(text: string): string {
  try {
    return base64(parseVerifierKey(text).key.publicKey);
  } catch (error) {
    throw new CodedError("usage", `${text} is no verifier key`, {}, error);
  }
}

const how = {
  dealt: "the gateway dealt at one call",
  witnessed: "the gateway dealt before a witness who was named",
  rotated: "the gateway dealt new shares of the key",
  password: "the gateway dealt, each share sealed under a custodian's password",
} as const;

/** What it proves, and what it does not, for people. */
export function dealtText({ standing, seats }: DealtFound, compared: boolean): readonly string[] {
  const { ceremony, start, status, seeds, shares, witness, transcript, dealt, confirmed } = standing;
  const by = (list: typeof seeds) =>
    list.map(({ index, identity_id }) => `${index} by ${JSON.stringify(identity_id)}`).join(", ");
  const able = seats.filter(({ fingerprint }) => fingerprint !== null).length;
  const key = compared
    ? "the gateway's key is the expected one"
    : `compare the gateway's key with what is known of it: ${start.gateway_key}`;
  return [
    `every entry of ${JSON.stringify(ceremony)} holds: ${how[start.kind]}; ${start.threshold} of ${start.total_shares}, of ${JSON.stringify(start.org_id)}; ${status}`,
    ...(seeds.length > 0 ? [`seeds: ${by(seeds)}`] : []),
    ...(shares.length > 0 ? [`shares of before: ${by(shares)}`] : []),
    ...(witness === null ? [] : [`witness: ${JSON.stringify(witness)}, who was named and has signed nothing`]),
    ...seats.map(
      ({ index, identity_id, fingerprint, confirmed }) =>
        `share ${index}: ${JSON.stringify(identity_id)}, ${fingerprint === null ? "no enrolled keys" : `${fingerprint}, ${confirmed ? "CONFIRMED" : "not confirmed"}`}`,
    ),
    ...(transcript === null ? [] : [`transcript: ${transcript}`]),
    ...(dealt === null ? [] : [`public key: ${dealt.crk.public_key}`]),
    `PROVEN: the holder of the gateway's key says so, in this order; ${confirmed.length} of ${able} custodians with keys have signed that they had this transcript and key before them`,
    "NOT PROVEN: that the gateway forgot the shares, all of which it made or had; that an act that it names was done by that person, but for confirmations",
    key,
  ];
}

/** The machine's form of it. */
export function dealtResult({ standing, seats }: DealtFound): object {
  const { start, transcript, dealt, ...rest } = standing;
  const { gateway_key, kind, org_id, threshold, total_shares } = start;
  const key = dealt === null ? {} : { crk_id: dealt.crk_id, crk: dealt.crk };
  const hash = transcript === null ? {} : { transcript };
  return { valid: true, form: "dealt", kind, org_id, threshold, total_shares, gateway_key, ...rest, seats, ...key, ...hash };
}

/** A custodian's confirmation behind the transcript. Throws `usage` for somebody to whom nothing was dealt, with these keys. */
export function confirmationEntry(
  { standing }: DealtFound,
  { keys, card }: { readonly keys: CustodianKeys; readonly card: CustodianCard },
  at: number,
): DealtEntry {
  const { dealt, transcript, ceremony } = standing;
  if (dealt === null || transcript === null) throw new CodedError("usage", "nothing was dealt");
  const seat = dealt.seats.find(({ card: held }) => held !== null && held.signing_key === card.signing_key);
  if (seat === undefined) throw new CodedError("usage", "no share was dealt to whoever has these keys");
  const act = { type: "confirmation", transcript, public_key: dealt.crk.public_key } as const;
  const { entry, bytes } = dealtEntry(standing, { ceremony, author: seat.identity_id, at }, act);
  return { ...entry, signature: base64(keys.sign(bytes)) };
}
