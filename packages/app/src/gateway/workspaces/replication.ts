import type { Principal } from "@seneschal/contract";
import type { Invitation, Replica, Share, ShareInput, Workspace } from "@seneschal/core/keys";
import type { Call, GatewayUnit, PublicKeys, Reader, SignatureClaim } from "../ground/index.ts";
import type { DeletionConsent, Participation } from "./collections.ts";
import type { BundleContent } from "./workspaces/bundle-content.ts";

/**
 * What workspaces ask of the floor above, which carries them to organisations on other instances. Handed in by the composition; each is
 * given the services of its call.
 */
export interface WorkspaceReplication<Services> {
  /** Tells every partner that has to do with the workspace of a change: of it, or with `end` of its end. */
  announce(
    services: Services,
    unit: GatewayUnit,
    workspace: Pick<Workspace, "id" | "mode">,
    kind?: "change" | "end",
  ): Promise<void>;
  /** The share through which an organisation on another instance takes part; `undefined` for one that lives here. */
  shareOf(unit: GatewayUnit, workspace: string, org: string): Promise<Share | undefined>;
  /** One step of a share, and the partner is told. */
  stepAndTell(
    services: Services,
    unit: GatewayUnit,
    workspace: Pick<Workspace, "mode">,
    share: Share,
    input: ShareInput,
  ): Promise<void>;
  /** Lets an invitation travel to the instance of the invited organisation, if it lives on another. Throws `CONFLICT`. */
  offer(services: Services, unit: GatewayUnit, workspace: Workspace, invitation: Invitation): Promise<void>;
  /** Whether an invitation of another instance is known for the organisation and workspace. */
  hasOffer(services: Services, workspace: string, principal: Principal): Promise<boolean>;
  acceptOffer(services: Services, call: Call, claim: SignatureClaim, group_id: string | null): Promise<void>;
  declineOffer(services: Services, call: Call, workspace: string): Promise<void>;
  /** A participant's signed consent to the deletion of a workspace of another instance: kept, and brought to the owner. */
  consentToDeletion(
    services: Services,
    call: Call,
    claim: SignatureClaim,
  ): Promise<{ readonly consent: DeletionConsent; readonly delivered: boolean }>;
  /** The organisations of other instances that signed the deletion of the workspace as it is now. */
  consenting(services: Services, unit: GatewayUnit, workspace: Workspace): Promise<readonly string[]>;
  /** What of a workspace is to be compared between instances: the owner's hash and followers, or what a participant took over. */
  followed(services: Services, workspace: Workspace, org: string): Promise<object>;
  /** Lets the partners that were invited to an air-gapped workspace take part. Answers the workspace as it is then. */
  handOver(services: Services, unit: GatewayUnit, workspace: Workspace): Promise<Workspace>;
  /** Throws `FEDERATION_INACTIVE` unless the instance that owns the workspace was heard lately. */
  requireFollowed(services: Services, workspace: Workspace, participation: Participation, now: number): Promise<void>;
  /** What is known of a workspace of another instance that an organisation was offered. */
  replicaOf(read: Reader, workspace: string, org: string): Promise<Replica | undefined>;
  /** The public keys of an organisation with which another one is actively federated. */
  keysOf(read: Reader, partner: string, org: string): Promise<PublicKeys | undefined>;
  /** Takes over a workspace of a federated partner from a checked bundle; `undefined`: the caller is not federated with its owner. */
  takeBundle(services: Services, unit: GatewayUnit, content: BundleContent): Promise<Workspace | undefined>;
}
