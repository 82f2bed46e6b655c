import * as z from "zod";
import type { Contract } from "../route.ts";
import { crk } from "./crk.ts";
import { listOf, organizationId, page, timestamp } from "./shapes.ts";

const organization = z
  .object({
    id: organizationId,
    origin: z.enum(["configuration", "crk", "restore"]),
    crk: crk.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Organization" });

const route = { tag: "organizations", auth: "principal", action: "organization:read", status: 200, extension: true } as const;

/** Beyond the interface: a caller sees its own organisation, and only that. */
export const organizationRoutes = {
  listOrganizations: {
    ...route,
    method: "GET",
    path: "/api/v1/organizations",
    summary: "The caller's organisation, as a list",
    query: page(),
    reply: listOf("organizations", organization),
  },
  getOrganization: {
    ...route,
    method: "GET",
    path: "/api/v1/organizations/:id",
    summary: "The caller's organisation",
    params: z.strictObject({ id: organizationId }),
    reply: organization,
  },
} as const satisfies Contract;

/**
 * The routes by which an organisation begins that has no record on the instance: each makes the record in the commit of what it does. Every
 * other request of its members that could change something is refused with `ORGANIZATION_UNKNOWN`.
 */
export const organizationBeginnings = ["generateCrk", "startGenerationCeremony", "restoreBackup"] as const;
