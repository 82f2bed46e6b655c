import { type GrpcCall, type GrpcHandler, grpcError } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { StorageNode } from "../node.ts";
import { auditedCall, textOf } from "./audited-call.ts";
import type { PeerAuth } from "./authenticate-peer.ts";

/** The KeyManagerService. */
export function keyManagerCalls(node: StorageNode, auth: PeerAuth): Readonly<Record<string, GrpcHandler>> {
  const asServer = ({ peer }: GrpcCall) => auth.admit(peer, "keys:use");
  const asAdmin = ({ peer }: GrpcCall) => auth.admit(peer, "storage:admin");
  return {
    async CurrentEpoch(call) {
      await asServer(call);
      return { epoch: (await node.keys.forWrite()).epoch };
    },
    Rotate: auditedCall(node.context, asAdmin, "rotate_keys", async (_request, actor) => ({
      epoch: await node.rotateKeys(actor),
    })),
    async Health(call) {
      await asServer(call);
      return { reachable: await node.keys.probe(), cached_epochs: node.keys.cachedEpochs() };
    },
  };
}

/** The TenantKeyService, for cluster admins. */
export function tenantKeyCalls(node: StorageNode, auth: PeerAuth): Readonly<Record<string, GrpcHandler>> {
  const { context, tenants } = node;
  const asAdmin = ({ peer }: GrpcCall) => auth.admit(peer, "storage:admin");
  return {
    Create: auditedCall(context, asAdmin, "create_tenant", async (request, actor) => {
      const tenant = textOf(request, "tenant");
      if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(tenant))
        throw grpcError("InvalidArgument", "tenant must be 1 to 63 of a-z, 0-9 and hyphen", { field: "tenant" });
      await tenants.create(tenant, { dedup: request["no_dedup"] !== true }, actor);
      return {};
    }),
    Rotate: auditedCall(context, asAdmin, "rotate_tenant_key", async (request, actor) => {
      await tenants.rotate(textOf(request, "tenant"), actor);
      return {};
    }),
    CryptoShred: auditedCall(context, asAdmin, "crypto_shred", async (request, actor) => {
      const tenant = textOf(request, "tenant");
      if (textOf(request, "confirm") !== tenant)
        throw grpcError("InvalidArgument", "confirm must repeat the tenant's name", { field: "confirm" });
      await tenants.shred(tenant, actor);
      return {};
    }),
    async CheckKmsHealth(call) {
      await asAdmin(call);
      try {
        await tenants.check(textOf(call.request, "tenant"));
        return { reachable: true };
      } catch (error) {
        if (isCoded(error, "TenantKmsUnreachable", "KeyManagerUnavailable")) return { reachable: false };
        throw error;
      }
    },
  };
}
