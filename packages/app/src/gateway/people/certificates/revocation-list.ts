import { nextTurn } from "@seneschal/adapters/system";
import { notFound } from "@seneschal/core/keys";
import { createRevocationList, parseSerial, type Revocation } from "@seneschal/crypto/x509";
import { authorities, certificates, systemCall } from "../../ground/index.ts";
import type { PeopleServices } from "../services.ts";

const VALID_MS = 7 * 86_400_000;
const PAGE = 1000;

/** The signed list of everything that an authority (an organisation's, or one of the instance's own) revoked, DER, made anew for every answer: no revocation is late. */
export async function revocationList(services: PeopleServices, authority: string, now: number): Promise<Uint8Array> {
  const issuer = await authorityOf(services, authority, now);
  return createRevocationList(issuer, {
    entries: revocations(services, authority),
    // Seconds grow, also over processes and restarts.
    number: Math.floor(now / 1000),
    thisUpdate: now,
    nextUpdate: now + VALID_MS,
    pause: nextTurn,
  });
}

/** An authority with its key; one that was never needed is not made because a stranger asks for its list. */
export async function authorityOf(services: PeopleServices, authority: string, now: number) {
  if ((await services.read.get(authorities, authority)) === undefined) throw notFound("certificate authority");
  return services.transact(systemCall("system:pki", authority, now), (unit) => services.pki.issuer(unit, authority));
}

async function* revocations({ store }: PeopleServices, authority: string): AsyncGenerator<Revocation> {
  let cursor: string | undefined;
  do {
    const page = await store.list(certificates.name, "revoked", [authority], {
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { id, doc } of page.items) {
      yield { serial: parseSerial(id), revokedAt: Date.parse(String(doc["revoked_at"])) };
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}
