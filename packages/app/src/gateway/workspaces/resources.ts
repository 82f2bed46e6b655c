import type { AnyCollection } from "../ground/index.ts";
import { admissionHandlers } from "./admissions.ts";
import { admissions, invitations, joinRequests, participations, policies, workspaces } from "./collections.ts";
import { joinRequestHandlers } from "./join-requests.ts";
import { policyHandlers } from "./policies.ts";
import { rotationPolicies } from "./workspaces/carry-out.ts";
import { dekUseRecords } from "./workspaces/dek-ring.ts";
import { deletionConsents } from "./workspaces/deletion-consents.ts";
import { workspaceHandlers } from "./workspaces/handlers.ts";

export const workspacesHandlers = {
  ...workspaceHandlers,
  ...admissionHandlers,
  ...policyHandlers,
  ...joinRequestHandlers,
};

export const workspacesCollections: readonly AnyCollection[] = [
  admissions,
  dekUseRecords,
  deletionConsents,
  invitations,
  joinRequests,
  policies,
  rotationPolicies,
  participations,
  workspaces,
];
