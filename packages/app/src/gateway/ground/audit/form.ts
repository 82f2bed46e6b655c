import type { LogForm } from "@seneschal/crypto/audit-log";
import type { Sha256 } from "@seneschal/crypto/merkle";
import { checkArgument } from "@seneschal/kernel";
import { vaultName } from "../organization-keys.ts";
import { type AuditRecord, auditLeaf } from "./event.ts";

/** What the log's key is called in its notes. */
export const KEY_NAME = "seneschal-audit";

/** How the gateway's audit log is hashed and signed. */
export function gatewayLog(sha256: Sha256): LogForm {
  checkArgument("sha256", sha256, "function");
  return {
    segments: "seneschal.audit.segment",
    keyName: () => KEY_NAME,
    checkpointOrigin: (instance, stream) => `seneschal.audit/${vaultName(instance)}/${vaultName(stream)}`,
    archiveOrigin: (instance, stream) => `seneschal.audit.archive/${vaultName(instance)}/${vaultName(stream)}`,
    signsWhole: true,
    sha256,
    leaf: (record) => auditLeaf(record as unknown as AuditRecord, sha256),
  };
}
