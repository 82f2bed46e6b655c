import { watchRequests } from "../platform/watched-requests.ts";

/** What requests of data governance change without an audit event of its own, and why. */
const silent: Readonly<Record<string, readonly string[]>> = {
  // The log's own signatures and hashes, and marks of the store's housekeeping.
  audit_checkpoints: ["*"],
  idempotency: ["*"],
  leases: ["*"],
  // The commitment to a name, of which an event after it tells: it is of no other use.
  audit_persons: ["+"],
  // When a key was last used.
  api_keys: ["last_used_at"],
};

export const governanceWatch = watchRequests({ silent, isRefusal: ({ allowed }) => allowed === false });
