import type { AnyCollection } from "../ground/index.ts";
import { admissions } from "./admissions/collections.ts";
import { admissionHandlers } from "./admissions/handlers.ts";
import { joinRequestHandlers } from "./join-requests/handlers.ts";
import { policies } from "./policies/collections.ts";
import { policyHandlers } from "./policies/handlers.ts";
import { invitations, joinRequests, participations, workspaces } from "./workspaces/collections.ts";
import { dekUseRecords } from "./workspaces/dek-uses.ts";
import { deletionConsents } from "./workspaces/deletion-consents.ts";
import { workspaceHandlers } from "./workspaces/handlers.ts";
import { rotationPolicies } from "./workspaces/rotation-policies.ts";

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
