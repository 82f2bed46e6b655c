import { watchRequests } from "../platform/watched-requests.ts";

/** What the gateway's requests change without an audit event of its own, and why. */
const silent: Readonly<Record<string, readonly string[]>> = {
  // The log's own signatures, and keys and marks of the store's housekeeping.
  audit_checkpoints: ["*"],
  audit_log_keys: ["*"],
  idempotency: ["*"],
  leases: ["*"],
  dek_uses: ["*"],
  // When somebody was last heard of.
  admins: ["last_login_at"],
  users: ["last_login_at"],
  devices: ["last_seen_at"],
  services: ["last_seen_at", "last_used_at"],
  edges: ["status", "last_seen_at"],
  federations: ["last_health_check", "last_heard_at"],
  // What is still to be told to a partner, and how far it was: what is told was recorded when it changed.
  dispatches: ["*"],
  workspace_shares: ["*"],
  messages: ["attempts", "error_detail", "updated_at", "due_at"],
  // How far an organisation followed an owner elsewhere: what changed was told to the logs of all organisations here with the first of them.
  workspace_replicas: ["sequence", "updated_at", "revision", "state_sha256", "retired_policies"],
  workspace_seats: ["deks"],
  // It is begun: its end is recorded, as made or as failed.
  backups: ["+"],
  // A signature is used up by the operation that it is for, whose end is recorded.
  signing_requests: ["used"],
};

export const gatewayWatch = watchRequests({
  silent,
  counted: { workspaces: "revision", policies: "version" },
  isRefusal: ({ result }) => result === "denied",
});
