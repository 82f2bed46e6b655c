import { freshMfa, judgeFactor, refusal } from "@seneschal/core/keys";
import { totpUri, verifyTotp } from "@seneschal/crypto";
import { type GatewayUnit, utf8 } from "../ground/index.ts";
import { mfaFactors, type StoredMfa } from "./collections.ts";
import type { PeopleServices } from "./services.ts";

const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** Without letters and digits that look alike. */
const ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";

const aad = (adminId: string): Uint8Array => utf8(`seneschal/mfa/v1\0${adminId}`);

const hash = ({ crypto }: PeopleServices, code: string): string =>
  Buffer.from(crypto.hash("sha256", utf8(`seneschal/mfa-recovery/v1\0${code}`))).toString("hex");

/**
 * A new secret that waits for its first verified code; answers the `otpauth://` address. A verified factor is never
 * silently replaced: `STATE_CONFLICT`.
 */
export async function provisionMfa(
  services: PeopleServices,
  unit: GatewayUnit,
  admin: { readonly id: string; readonly org_id: string; readonly email: string },
): Promise<string> {
  const known = await unit.get(mfaFactors, admin.id);
  if (known?.verified === true) throw refusal("STATE_CONFLICT", "the second factor is on already");
  const secret = services.random(SECRET_BYTES);
  const kek = await services.organizationKeys.ensureKek(admin.org_id);
  const stored: StoredMfa = {
    ...freshMfa,
    // A lock outlives a new secret: starting over is no way around it.
    locked_until: known?.locked_until ?? null,
    failures: known?.failures ?? 0,
    admin_id: admin.id,
    org_id: admin.org_id,
    sealed_secret: await services.vault.encrypt(kek, secret, aad(admin.id)),
    recovery_hashes: [],
  };
  unit.put(mfaFactors, admin.id, stored);
  const uri = totpUri(secret, { issuer: "Seneschal", account: admin.email });
  secret.fill(0);
  return uri;
}

/** What a code came to. `turnedOn` with the recovery codes, which are shown once. */
export type MfaOutcome = { readonly accepted: false } | { readonly accepted: true; readonly turnedOn?: readonly string[] };

/**
 * Judges a TOTP or recovery code and keeps the count of failures: the caller must let the transaction commit also when
 * the code was wrong. Throws `STATE_CONFLICT` without a factor, `RATE_LIMITED` while it is locked.
 */
export async function checkMfa(services: PeopleServices, unit: GatewayUnit, adminId: string, code: string): Promise<MfaOutcome> {
  const factor = await unit.get(mfaFactors, adminId);
  if (factor === undefined) throw refusal("STATE_CONFLICT", "there is no second factor to verify: enable it first");
  const { now } = unit.call;
  const step = await matchedStep(services, factor, code, now);
  const judged = judgeFactor(factor, { hash: hash(services, code), step }, now);
  const codes = judged.turnedOn ? Array.from({ length: RECOVERY_CODES }, () => recoveryCode(services)) : undefined;
  unit.put(mfaFactors, adminId, {
    ...judged.factor,
    ...(codes && { recovery_hashes: codes.map((fresh) => hash(services, fresh)) }),
  });
  return judged.accepted ? { accepted: true, ...(codes && { turnedOn: codes }) } : { accepted: false };
}

async function matchedStep(services: PeopleServices, factor: StoredMfa, code: string, now: number): Promise<number | undefined> {
  if (!/^[0-9]{6}$/.test(code)) return undefined;
  const kek = await services.organizationKeys.ensureKek(factor.org_id);
  const secret = await services.vault.decrypt(kek, factor.sealed_secret, aad(factor.admin_id));
  const decision = verifyTotp(services.crypto, secret, code, { now, lastStep: factor.last_step });
  secret.fill(0);
  return decision.valid ? decision.step : undefined;
}

/** Ten characters of 32, 50 bits: `k7m2p-x9qrs`. */
function recoveryCode({ random }: PeopleServices): string {
  const text = Array.from(random(10), (byte) => ALPHABET[byte % 32]).join("");
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}
