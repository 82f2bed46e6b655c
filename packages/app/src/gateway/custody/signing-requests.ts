import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { isPast, timestamp } from "@seneschal/core/keys";
import { bodyHash, operationBytes } from "@seneschal/crypto/signing";
import { base64, findOwn, requireCrk, type SigningRequest, signingRequests } from "../ground/index.ts";
import type { CustodyServices } from "./services.ts";

type Routes = Pick<GatewayContract, "createSigningRequest" | "getSigningRequest">;

function view(request: SigningRequest, now: number) {
  const { payload, used, ...rest } = request;
  const status = used ? ("used" as const) : isPast(request.expires_at, now) ? ("expired" as const) : ("pending" as const);
  return {
    ...rest,
    operation: request.operation as never,
    status,
    nonce: payload.nonce,
    message: base64(operationBytes(payload)),
  };
}

export const signingRequestHandlers: Handlers<Routes, CustodyServices> = {
  async createSigningRequest(services, { principal, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const crk = await requireCrk(unit, principal.org);
      const covered = await services.signatures.covered(unit, body.operation, body.resource_id, principal.org);
      const bodySha256 = bodyHash({ ...(body.body as object), ...covered });
      const lifetime = body.ttl_seconds ?? services.config.lifetimes.signing_request / 1000;
      const iat = Math.floor(now / 1000);
      const payload = services.signatures.payload(crk, {
        operation: body.operation,
        resourceId: body.resource_id,
        bodySha256,
        nonce: Buffer.from(services.random(18)).toString("base64url"),
        iat,
        exp: iat + lifetime,
      });
      const request: SigningRequest = {
        id: services.newId(now),
        org_id: principal.org,
        operation: body.operation,
        resource_id: body.resource_id,
        body_sha256: bodySha256,
        payload,
        used: false,
        created_by: principal.id,
        created_at: timestamp(now),
        expires_at: timestamp(payload.exp * 1000),
      };
      unit.insert(signingRequests, request.id, request);
      unit.record({
        type: "crk.signing_request",
        metadata: { signing_request_id: request.id, operation: request.operation, resource_id: request.resource_id },
      });
      return { ...view(request, now), covered: { ...covered } };
    });
  },

  async getSigningRequest({ read }, { principal, params, now }) {
    return view(await findOwn(read, signingRequests, params.id, principal.org, "signing request"), now);
  },
};
