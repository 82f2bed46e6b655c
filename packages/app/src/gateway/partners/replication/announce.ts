import { type Share, type ShareInput, stepShare, type Workspace } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { shareId, shares } from "../collections.ts";
import type { PartnerServices } from "../services.ts";
import { sendDispatch } from "./queue-dispatch.ts";

/** The share through which an organisation on another instance takes part; `undefined` for one that lives here. */
export async function shareOf(unit: GatewayUnit, workspace: string, org: string): Promise<Share | undefined> {
  const share = await unit.get(shares, shareId(workspace, org));
  return share?.stage === "ended" ? undefined : share;
}

/**
 * One step of a share, and the partner is told. Of an air-gapped workspace nothing leaves: its partners learn by bundles what they
 * are given.
 */
export async function stepAndTell(
  services: PartnerServices,
  unit: GatewayUnit,
  { mode }: Pick<Workspace, "mode">,
  share: Share,
  input: ShareInput,
): Promise<void> {
  const next = stepShare(share, input, unit.call.now);
  if (next === share) return;
  unit.put(shares, shareId(share.workspace_id, share.partner_org_id), next);
  if (mode === "airgap") return;
  const { org_id, federation_id, workspace_id } = next;
  await sendDispatch(services, unit, { kind: "state", org_id, federation_id, workspace_id });
}

/** Tells every partner that has to do with the workspace of a change: of it, or with `end` of its end. */
export async function announce(
  services: PartnerServices,
  unit: GatewayUnit,
  workspace: Pick<Workspace, "id" | "mode">,
  kind: "change" | "end" = "change",
): Promise<void> {
  for (const { partner_org_id } of await unit.list(shares, "by_workspace", [workspace.id])) {
    const share = await shareOf(unit, workspace.id, partner_org_id);
    if (share !== undefined) await stepAndTell(services, unit, workspace, share, { kind });
  }
}
