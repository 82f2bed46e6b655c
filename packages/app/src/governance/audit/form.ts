import type { LogForm } from "@seneschal/crypto/audit-log";
import { checkArgument } from "@seneschal/kernel";
import { leafOf } from "./records.ts";
import { sha256 } from "./sha256.ts";

/** How the audit log of data governance is hashed and signed: each organisation's by itself, under the name of the key. */
export const governanceLog: LogForm = {
  segments: "seneschal.governance.segment",
  keyName: (instance) => instance,
  checkpointOrigin: (instance, stream) => `${instance}/${encodeURIComponent(stream)}`,
  archiveOrigin: (instance, stream) =>
    `seneschal.governance.archive/${encodeURIComponent(instance)}/${encodeURIComponent(stream)}`,
  signsWhole: false,
  sha256,
  leaf(record) {
    checkArgument("record", record, "object");
    return leafOf(record.event);
  },
};
