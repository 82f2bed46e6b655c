import { refusal, type Workspace } from "@seneschal/core/keys";
import type { Participation } from "../../workspaces/index.ts";
import { federations } from "../collections.ts";
import type { PartnerServices } from "../services.ts";

/**
 * The keys of a workspace that another instance owns are good while the federation is, and while that instance is heard now and then:
 * an owner that ended the federation and could not say so ends the access all the same. Throws `FEDERATION_INACTIVE`. What came by a
 * bundle into an air gap is asked for no sign of life.
 */
export async function requireFollowed(
  { read, config }: PartnerServices,
  { mode }: Workspace,
  { federation_id }: Participation,
  now: number,
): Promise<void> {
  if (federation_id === undefined) return;
  const federation = await read.get(federations, federation_id);
  if (federation?.status !== "active")
    throw refusal("FEDERATION_INACTIVE", "the federation with the workspace's owner is not active");
  const { replica_lease } = config.federation;
  if (mode === "airgap" || replica_lease === 0) return;
  const heard = federation.last_heard_at === null ? 0 : Date.parse(federation.last_heard_at);
  if (now - heard > replica_lease) {
    throw refusal("FEDERATION_INACTIVE", "the instance of the workspace's owner was not heard for too long", {
      last_heard_at: federation.last_heard_at,
    });
  }
}
