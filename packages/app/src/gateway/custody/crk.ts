import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { assignCustodian, notFound, refusal, timestamp } from "@seneschal/core/keys";
import { base64, bytes, crks, crkView, currentCrk, ownOrganization, requireCrk, type StoredCrk } from "../ground/index.ts";
import { asKnownNow, custodiansNamed } from "../people/index.ts";
import { ceremonyView, startRotation } from "./ceremonies.ts";
import { dealing, dealtShares, storeNewCrk } from "./deal-crk.ts";
import { beginTranscript, recordDealt, seatsKept } from "./dealt-transcripts.ts";
import type { CustodyServices } from "./services.ts";

type Routes = Pick<GatewayContract, "generateCrk" | "signWithCrk" | "verifyWithCrk" | "rotateCrk" | "assignCustodian">;

export const crkHandlers: Handlers<Routes, CustodyServices> = {
  async generateCrk(services, { principal, body, now, requestId }) {
    const org = ownOrganization(principal, body.org_id);
    const dealt = dealing(services, org, body.threshold, body.total_shares);
    try {
      const crk = await services.transact({ principal, now, requestId }, async (unit) => {
        const custodians = await custodiansNamed(unit, org, body.custodians, body.total_shares);
        const made = await storeNewCrk(services, unit, org, dealt, custodians);
        const { threshold, total_shares } = made;
        const ceremony_id = services.newId(now);
        const seats = seatsKept(custodians);
        const terms = { kind: "dealt", org_id: org, threshold, total_shares, required_shares: 0, seats } as const;
        await beginTranscript(services, unit, ceremony_id, terms);
        const recorded = await recordDealt(services, unit, ceremony_id, made);
        unit.record({
          type: "crk.generate",
          metadata: { crk_id: made.id, ceremony_id, threshold, total_shares, ...recorded },
        });
        return made;
      });
      const view = crkView(crk);
      const { shares } = await dealt.material();
      return { ...view, crk: view, shares: dealtShares(services, crk, shares, now) };
    } finally {
      dealt.erase();
    }
  },

  async signWithCrk(services, { principal, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const crk = await requireCrk(unit, principal.org);
      if (base64(bytes(body.public_key)) !== crk.public_key) {
        throw refusal("FORBIDDEN", "the public key is not the caller organisation's", { field: "public_key" });
      }
      const data = bytes(body.data);
      const shares = body.shares.map((share) => ({ index: share.index, data: base64(bytes(share.data)) }));
      const signature = await services.threshold.signWithShares(crk.material, shares, data, principal.org);
      unit.record({
        type: "crk.sign",
        metadata: {
          crk_id: crk.id,
          indexes: shares.map((share) => share.index),
          data_sha256: Buffer.from(services.crypto.hash("sha256", data)).toString("hex"),
        },
      });
      return { signature: base64(signature) };
    });
  },

  verifyWithCrk(services, { body }) {
    return {
      valid: services.crypto.ed25519Verify(bytes(body.public_key), bytes(body.data), bytes(body.signature)),
    };
  },

  async rotateCrk(services, { principal, body, now, requestId }) {
    ownOrganization(principal, body.org_id);
    const { threshold, total_shares, custodians } = body;
    return services.transact({ principal, now, requestId }, async (unit) =>
      ceremonyView(await startRotation(services, unit, { threshold, total_shares, custodians }), now),
    );
  },

  async assignCustodian(services, { principal, params, body, now, requestId }) {
    const index = Number(params.index);
    return services.transact({ principal, now, requestId }, async (unit) => {
      const crk = await currentCrk(unit, principal.org);
      if (crk === undefined || crk.id !== params.crk_id || index > crk.total_shares) throw notFound("share");
      const [named] = await custodiansNamed(unit, principal.org, [{ index, ...body }], crk.total_shares);
      if (named === undefined) throw new Error("nobody was named");
      const present = await asKnownNow(unit, principal.org, crk.custodians ?? []);
      const custodians = assignCustodian(present, crk.total_shares, named);
      const assigned: StoredCrk = { ...crk, custodians, updated_at: timestamp(now) };
      unit.put(crks, crk.id, assigned);
      unit.record({
        type: "crk.custodian",
        metadata: {
          crk_id: crk.id,
          index,
          identity_id: named.identity_id,
          identity_type: named.identity_type,
          replaces: present.find((one) => one.index === index)?.identity_id ?? null,
        },
      });
      return crkView(assigned);
    });
  },
};
