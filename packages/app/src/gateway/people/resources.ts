import { adminHandlers } from "./admins.ts";
import { certificateHandlers } from "./certificates.ts";
import { deviceHandlers } from "./devices.ts";
import { emergencyHandlers } from "./emergency.ts";
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
