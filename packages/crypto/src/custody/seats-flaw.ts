import { checkArgument } from "@seneschal/kernel";
import { canonicalJson } from "../json/canonical-json.ts";
import { crkFromJson } from "../threshold/crk.ts";
import type { StartAct } from "./act.ts";
import type { CustodianCard } from "./custodian-card.ts";
import { shareAfter } from "./parts.ts";

/**
 * What contradicts itself in who sits where, by the numbers of the seats: each seat is one person with keys of its own, the witness is none
 * of them, nor who started, and threshold, key and dealers fit. `undefined`: nothing does.
 */
export function seatsFlaw(start: StartAct): string | undefined {
  checkArgument("start", start, "object");
  return personTwice(start) ?? termsFlaw(start);
}

function personTwice({ seats, witness, starter }: StartAct): string | undefined {
  const parts: { readonly part: string; readonly card: CustodianCard }[] = seats.map((card, i) => ({
    part: `seat ${i + 1}`,
    card,
  }));
  parts.push({ part: "the witness", card: witness });
  // Who starts may have a seat, and shows the same card as both.
  const seated = seats.find((card) => card.custodian_id === starter.custodian_id);
  if (seated === undefined || canonicalJson(seated) !== canonicalJson(starter))
    parts.push({ part: "the starter", card: starter });
  for (const [member, what] of SHARED) {
    const first = new Map<string, string>();
    for (const { part, card } of parts) {
      const before = first.get(card[member]);
      if (before !== undefined) return `${before} and ${part} ${what}`;
      first.set(card[member], part);
    }
  }
  return undefined;
}

const SHARED = [
  ["custodian_id", "are one person"],
  ["signing_key", "have one signing key"],
  ["agreement_key", "have one agreement key"],
] as const;

function termsFlaw(start: StartAct): string | undefined {
  const { length } = start.seats;
  if (start.kind === "generate") return above("threshold", start.threshold, `${length} seats`, length);
  let key: ReturnType<typeof crkFromJson>;
  try {
    key = crkFromJson(start.crk);
  } catch {
    return "the parts of the key do not fit each other";
  }
  if (start.kind !== "refresh") return dealingFlaw(start, key);
  return key.total === length
    ? undefined
    : `a refresh has a seat for each of the ${key.total} shares of the key, and not ${length}`;
}

const above = (name: string, value: number, of: string, most: number): string | undefined =>
  value > most ? `the ${name}, ${value}, is above the number of ${of}` : undefined;

/** A reshare or repair of a key of so many shares: each share is dealt once, at least the threshold of them, by a seat that has a part. */
function dealingFlaw(
  start: Extract<StartAct, { readonly kind: "reshare" | "repair" }>,
  { total, threshold }: { readonly total: number; readonly threshold: number },
): string | undefined {
  const { seats, deals } = start;
  if (deals.length !== seats.length) return `deals says something of ${deals.length} seats, and there are ${seats.length}`;
  const dealt = deals.flatMap((index, i) => (index > 0 ? [{ index, seat: i + 1 }] : []));
  for (const [i, { index, seat }] of dealt.entries()) {
    if (index > total) return `seat ${seat} deals with the share of index ${index}, of which the key has ${total}`;
    const before = dealt.slice(0, i).find((other) => other.index === index);
    if (before !== undefined) return `seat ${before.seat} and seat ${seat} deal with the share of one index, ${index}`;
  }
  if (dealt.length < threshold) return `${dealt.length} seats deal, and the key needs ${threshold}`;
  if (start.kind === "repair") {
    const { index } = start;
    if (deals[0] !== 0) return "seat 1 is given its share back, and deals with none";
    const idle = deals.findIndex((dealing, i) => i > 0 && dealing === 0);
    if (idle > 0) return `seat ${idle + 1} has no part: it neither deals nor is given a share`;
    const own = dealt.find((one) => one.index === index);
    if (own !== undefined) return `seat ${own.seat} deals with the share of index ${index}, which is lost`;
    return above("index", index, `shares of the key, ${total}`, total);
  }
  const flaw =
    above("threshold", start.threshold, `shares, ${start.total_shares}`, start.total_shares) ??
    above("number of shares", start.total_shares, `seats, ${seats.length}`, seats.length);
  if (flaw !== undefined) return flaw;
  const idle = deals.findIndex((index, i) => index === 0 && shareAfter(start, i + 1) === 0);
  return idle < 0 ? undefined : `seat ${idle + 1} has no part: it neither deals nor is given a share`;
}
