import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { refusal } from "@seneschal/core/keys";
import { crkFromJson, signWithShares } from "@seneschal/crypto/threshold";
import { ownOrganization } from "../auth/own-organization.ts";
import { base64, bytes } from "../bytes.ts";
import { startRotation } from "../ceremonies/start.ts";
import { ceremonyView } from "../ceremonies/view.ts";
import type { GatewayServices } from "../services.ts";
import { requireCrk } from "./current.ts";
import { dealMaterial, dealtShares, storeNewCrk } from "./deal.ts";

type Routes = Pick<GatewayContract, "generateCrk" | "signWithCrk" | "verifyWithCrk" | "rotateCrk">;

export const crkHandlers: Handlers<Routes, GatewayServices> = {
  async generateCrk(services, { principal, body, now, requestId }) {
    const org = ownOrganization(principal, body.org_id);
    const { crk: material, shares } = dealMaterial(services, body.threshold, body.total_shares);
    try {
      const crk = await services.transact({ principal, now, requestId }, async (unit) => {
        const made = await storeNewCrk(services, unit, org, material);
        unit.record({
          type: "crk.generate",
          metadata: { crk_id: made.id, threshold: made.threshold, total_shares: made.total_shares },
        });
        return made;
      });
      return { ...crk, crk, shares: dealtShares(services, crk, shares, now) };
    } finally {
      for (const share of shares) share.erase();
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
      const signature = signWithShares(crkFromJson(crk.material), shares, data, services.random);
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
    return services.transact({ principal, now, requestId }, async (unit) =>
      ceremonyView(await startRotation(services, unit, { threshold: body.threshold, total_shares: body.total_shares }), now),
    );
  },
};
