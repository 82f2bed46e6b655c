import type { AnyCollection } from "../ground/index.ts";
import { admins } from "./admins/collections.ts";
import { adminHandlers } from "./admins/handlers.ts";
import { certificateHandlers } from "./certificates/handlers.ts";
import { devices } from "./devices/collections.ts";
import { deviceHandlers } from "./devices/handlers.ts";
import { emergencyActs } from "./emergency/acts.ts";
import { emergencies } from "./emergency/collections.ts";
import { emergencyHandlers } from "./emergency/handlers.ts";
import { bootstrapMarks, enrollmentTokens } from "./enrollment/collections.ts";
import { enrollmentHandlers } from "./enrollment/handlers.ts";
import { groups, memberships } from "./groups/collections.ts";
import { groupHandlers } from "./groups/handlers.ts";
import { mfaFactors } from "./mfa/collections.ts";
import { organizationHandlers } from "./organizations/handlers.ts";
import { roleAssignments, roles } from "./roles/collections.ts";
import { roleHandlers } from "./roles/handlers.ts";
import { serviceIdentities } from "./service-identities/collections.ts";
import { serviceHandlers } from "./service-identities/handlers.ts";
import { users } from "./users/collections.ts";
import { userHandlers } from "./users/handlers.ts";

export const peopleHandlers = {
  ...enrollmentHandlers,
  ...organizationHandlers,
  ...userHandlers,
  ...deviceHandlers,
  ...adminHandlers,
  ...certificateHandlers,
  ...groupHandlers,
  ...roleHandlers,
  ...emergencyHandlers,
  ...serviceHandlers,
};

export const peopleCollections: readonly AnyCollection[] = [
  admins,
  bootstrapMarks,
  devices,
  emergencies,
  emergencyActs,
  enrollmentTokens,
  groups,
  memberships,
  mfaFactors,
  roleAssignments,
  roles,
  serviceIdentities,
  users,
];
