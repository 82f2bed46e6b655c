import type { Collections } from "@seneschal/kernel/ports";

/** What jobs need of a store: merge it into the collections that the service opens its store with. */
export const jobCollections: Collections = {
  jobs: {
    indexes: {
      state: { key: (job) => [job["state"] as string, job["created_at"] as number] },
      owner: { key: (job) => [job["owner"] as string, job["created_at"] as number] },
      owner_state: { key: (job) => [job["owner"] as string, job["state"] as string, job["created_at"] as number] },
      created: { key: (job) => [job["created_at"] as number] },
    },
  },
  leases: { indexes: {} },
};
