import { watchRequests } from "../platform/watched-requests.ts";

/** What requests of a storage node's administrators change without an audit event of its own, and why. */
const silent: Readonly<Record<string, readonly string[]>> = {
  // Marks of the store's housekeeping.
  idempotency: ["*"],
  leases: ["*"],
  // What a bucket holds is counted after its quota was set, which is recorded.
  storage_usage: ["counting", "bytes", "objects"],
};

export const storageWatch = watchRequests({ silent, isRefusal: ({ outcome }) => outcome !== "ok" });
