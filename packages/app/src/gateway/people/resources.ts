import type { AnyCollection } from "../ground/index.ts";
import { adminHandlers } from "./admins.ts";
import { certificateHandlers } from "./certificates.ts";
import {
  admins,
  bootstrapMarks,
  devices,
  emergencies,
  enrollmentTokens,
  groups,
  memberships,
  mfaFactors,
  roleAssignments,
  roles,
  serviceIdentities,
  users,
} from "./collections.ts";
import { deviceHandlers } from "./devices.ts";
import { emergencyActs, emergencyHandlers } from "./emergency.ts";
import { enrollmentHandlers } from "./enrollment.ts";
import { groupHandlers } from "./groups.ts";
import { organizationHandlers } from "./organizations.ts";
import { roleHandlers } from "./roles.ts";
import { serviceHandlers } from "./service-identities.ts";
import { userHandlers } from "./users.ts";

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
