import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  type GenerationCeremony,
  type GenerationInput,
  generationStatus,
  lastMoment,
  notFound,
  refusal,
  requireThreshold,
  startGeneration,
  stepGeneration,
} from "@seneschal/core/keys";
import { type CrkWithShares, sealShare } from "@seneschal/crypto/threshold";
import {
  base64,
  bytes,
  crks,
  crkView,
  ensureOrganization,
  findOwn,
  type GatewayUnit,
  kekName,
  ownOrganization,
  type Reader,
  utf8,
} from "../ground/index.ts";
import { activeHolders, asKnownNow, custodiansNamed, holderCalling } from "../people/index.ts";
import {
  type EncryptedShare,
  encryptedShareId,
  encryptedShares,
  generationCeremonies,
  heldKeyId,
  heldKeys,
} from "./collections.ts";
import { dealing, storeNewCrk } from "./deal-crk.ts";
import { beginTranscript, recordAct, recordDealt, seatsKept } from "./dealt-transcripts.ts";
import type { CustodyServices } from "./services.ts";

/** Cancels or expires a generation ceremony; the derived keys are erased. */
export async function endGeneration(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: GenerationCeremony,
  input: Extract<GenerationInput, { readonly kind: "cancel" | "expire" }>,
): Promise<void> {
  const at = input.kind === "expire" ? lastMoment(ceremony.expires_at) : unit.call.now;
  const { state } = stepGeneration(ceremony, input, at);
  unit.put(generationCeremonies, ceremony.id, state);
  eraseHeldKeys(unit, ceremony);
  const reason = input.kind === "cancel" ? "cancelled" : "expired";
  const recorded = await recordAct(services, unit, ceremony.id, { type: "end", reason });
  unit.record({
    type: "crk.ceremony",
    org: ceremony.org_id,
    metadata: { ceremony_id: ceremony.id, operation: "generate", event: state.status, ...recorded },
  });
}

/** Carries out `erase_keys`. */
function eraseHeldKeys(unit: GatewayUnit, ceremony: GenerationCeremony): void {
  for (const entry of ceremony.seed_entries) unit.delete(heldKeys, heldKeyId(ceremony.id, entry.index));
}

type Routes = Pick<
  GatewayContract,
  | "startGenerationCeremony"
  | "seedGenerationCeremony"
  | "getGenerationCeremony"
  | "completeGenerationCeremony"
  | "cancelGenerationCeremony"
  | "getEncryptedShare"
>;

const find = (read: Reader, id: string, org: string) => findOwn(read, generationCeremonies, id, org, "generation ceremony");

async function view(read: Reader, ceremony: GenerationCeremony, now: number) {
  const crk = ceremony.crk_id === null ? undefined : await read.get(crks, ceremony.crk_id);
  const shares = crk === undefined ? [] : await read.list(encryptedShares, "by_crk", [crk.id]);
  return {
    ...ceremony,
    status: generationStatus(ceremony, now),
    seed_entries: [...ceremony.seed_entries],
    seats: [...(ceremony.seats ?? [])],
    encrypted_shares: [...shares],
    crk: crk === undefined ? null : crkView(crk),
  };
}

const aad = (ceremony: string, index: number): Uint8Array => utf8(`seneschal/ceremony-key/v1\0${ceremony}\0${index}`);

export const generationCeremonyHandlers: Handlers<Routes, CustodyServices> = {
  async startGenerationCeremony(services, { principal, body, now, requestId }) {
    const org = ownOrganization(principal, body.org_id);
    const ceremony = await services.transact({ principal, now, requestId }, async (unit) => {
      const { threshold, total_shares } = body;
      requireThreshold(threshold, total_shares);
      const custodians = await custodiansNamed(unit, org, body.custodians, total_shares);
      const id = services.newId(now);
      const started = startGeneration(
        { id, org, by: principal.id, threshold, total_shares, custodians },
        now,
        services.config.lifetimes.generation_ceremony,
      );
      // Its custodians are registered before its key is there: the organisation begins with the ceremony.
      const { crk_id } = await ensureOrganization(unit, org, "crk");
      if (crk_id !== null) throw refusal("CRK_EXISTS", "the organisation has a customer root key already");
      unit.insert(generationCeremonies, id, started);
      const seats = seatsKept(custodians);
      const terms = { kind: "password", org_id: org, threshold, total_shares, required_shares: 0, seats } as const;
      const recorded = await beginTranscript(services, unit, id, terms);
      unit.record({ type: "crk.ceremony", metadata: { ceremony_id: id, operation: "generate", event: "started", ...recorded } });
      return started;
    });
    return view(services.read, ceremony, now);
  },

  async seedGenerationCeremony(services, { principal, params, body, now, requestId }) {
    const kek = await services.organizationKeys.ensureKek(principal.org);
    await services.transact({ principal, now, requestId }, async (unit) => {
      const ceremony = await find(unit, params.id, principal.org);
      const { index, custodian_name, kdf_params } = body;
      const entry = { index, custodian_name, salt: base64(bytes(body.salt)), kdf_params };
      const seats = await asKnownNow(unit, principal.org, ceremony.seats ?? []);
      const holder = await holderCalling(unit, principal);
      const { state } = stepGeneration({ ...ceremony, seats }, { kind: "seed", entry, holder }, now);
      const key = bytes(body.derived_key);
      const sealed = await services.vault.encrypt(kek, key, aad(ceremony.id, index));
      key.fill(0);
      unit.insert(heldKeys, heldKeyId(ceremony.id, index), {
        ceremony_id: ceremony.id,
        index,
        custodian_id: principal.id,
        sealed,
      });
      unit.put(generationCeremonies, ceremony.id, state);
      const recorded = await recordAct(services, unit, ceremony.id, { type: "seed", index });
      unit.record({
        type: "crk.ceremony",
        metadata: { ceremony_id: ceremony.id, operation: "generate", event: "seed", index, ...recorded },
      });
    });
  },

  async getGenerationCeremony({ read }, { principal, params, now }) {
    return view(read, await find(read, params.id, principal.org), now);
  },

  async completeGenerationCeremony(services, { principal, params, now, requestId }) {
    const before = await find(services.read, params.id, principal.org);
    const dealt = dealing(services, principal.org, before.threshold, before.total_shares);
    const done = await services.transact({ principal, now, requestId }, async (unit) => {
      const ceremony = await find(unit, params.id, principal.org);
      const seats = await asKnownNow(unit, principal.org, ceremony.seats ?? []);
      const active = await activeHolders(unit, principal.org, seats);
      stepGeneration(ceremony, { kind: "complete", crk_id: "", active }, now);
      const custodians = seats.map(({ taken_at: _, ...custodian }) => custodian);
      const crk = await storeNewCrk(services, unit, principal.org, dealt, custodians);
      const { state } = stepGeneration(ceremony, { kind: "complete", crk_id: crk.id, active }, now);
      for (const share of await sealForCustodians(services, unit, ceremony, crk.id, await dealt.material())) {
        unit.insert(encryptedShares, encryptedShareId(crk.id, share.index), share);
      }
      eraseHeldKeys(unit, ceremony);
      unit.put(generationCeremonies, ceremony.id, state);
      const { threshold, total_shares } = crk;
      const recorded = await recordDealt(services, unit, ceremony.id, crk);
      unit.record({
        type: "crk.generate",
        metadata: { crk_id: crk.id, ceremony_id: ceremony.id, threshold, total_shares, ...recorded },
      });
      return state;
    });
    dealt.erase();
    return view(services.read, done, now);
  },

  async cancelGenerationCeremony(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) =>
      endGeneration(services, unit, await find(unit, params.id, principal.org), { kind: "cancel" }),
    );
  },

  async getEncryptedShare({ read }, { principal, params }) {
    const id = encryptedShareId(params.crk_id, Number(params.index));
    const share = await findOwn(read, encryptedShares, id, principal.org, "share");
    const office = principal.roles.some((role) => role === "super_admin" || role === "security_admin");
    const holder = await holderCalling(read, principal);
    // To another than its custodian it is as one that there is not: how many there are is nobody else's business.
    if (!office && share.custodian_id !== holder?.identity_id) throw notFound("share");
    return share;
  },
};

/** Each share under its custodian's derived key. */
async function sealForCustodians(
  services: CustodyServices,
  unit: GatewayUnit,
  ceremony: GenerationCeremony,
  crkId: string,
  dealt: CrkWithShares,
): Promise<readonly EncryptedShare[]> {
  return Promise.all(
    ceremony.seed_entries.map(async (entry) => {
      const held = await unit.get(heldKeys, heldKeyId(ceremony.id, entry.index));
      const share = dealt.shares[entry.index - 1];
      if (held === undefined || share === undefined)
        throw new Error(`generation ceremony ${ceremony.id} lost seed ${entry.index}`);
      const key = await services.vault.decrypt(kekName(ceremony.org_id), held.sealed, aad(ceremony.id, entry.index));
      const sealed = sealShare(services.crypto, key, share, { crkId, publicKey: dealt.crk.publicKey }, services.random);
      key.fill(0);
      return {
        crk_id: crkId,
        org_id: ceremony.org_id,
        index: entry.index,
        custodian_name: entry.custodian_name,
        custodian_id: held.custodian_id,
        encrypted_data: base64(sealed),
        salt: entry.salt,
        kdf_time: entry.kdf_params.time,
        kdf_memory: entry.kdf_params.memory,
        kdf_threads: entry.kdf_params.threads,
      };
    }),
  );
}
