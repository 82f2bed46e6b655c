import { openLevelStore } from "@seneschal/adapters/level";
import { vaultCollections } from "@seneschal/adapters/vault";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { gatewaySchema } from "../../src/gateway/index.ts";

/** A store on disk that holds the gateway and its embedded vault. */
export function openLevelRigStore(path: string): Promise<DocumentStore> {
  const collections = { ...gatewaySchema.collections, ...vaultCollections };
  return openLevelStore({ ...gatewaySchema, collections, path });
}
