import type { WorkspaceReplication } from "../../workspaces/index.ts";
import { replicaId, replicas } from "../collections.ts";
import { federatedKeys } from "../federation/certified-keys.ts";
import type { PartnerServices } from "../services.ts";
import { announce, shareOf, stepAndTell } from "./announce.ts";
import { acceptOffer, declineOffer, hasOffer } from "./answer-offer.ts";
import { consenting, consentToDeletion } from "./consent-to-deletion.ts";
import { followed } from "./followers.ts";
import { handOver } from "./hand-over.ts";
import { offerToPartner } from "./offer.ts";
import { requireFollowed } from "./require-followed.ts";
import { takeBundle } from "./take-bundle.ts";

/** What this floor does for the workspaces below it. */
export const workspaceReplication: WorkspaceReplication<PartnerServices> = {
  announce,
  shareOf,
  stepAndTell,
  hasOffer,
  acceptOffer,
  declineOffer,
  consentToDeletion,
  consenting,
  followed,
  handOver,
  requireFollowed,
  takeBundle,
  keysOf: federatedKeys,
  offer: offerToPartner,
  replicaOf: (read, workspace, org) => read.get(replicas, replicaId(workspace, org)),
};
