import { auditArchives, auditTiles, auditTrees } from "../../platform/audit-log/index.ts";
import type { AnyCollection } from "../../platform/collection.ts";
import { acceptances } from "./audit/gaps.ts";
import { logKeys } from "./audit/log-key.ts";
import { checkpoints } from "./audit/sealer.ts";
import { instances } from "./instance.ts";
import { organizationKeyRecords } from "./organization-keys.ts";
import { organizations } from "./organizations.ts";
import { authorities, certificates } from "./pki/collections.ts";
import { crks } from "./root-keys.ts";
import { signingRequests, spentNonces } from "./signatures.ts";

export const groundCollections: readonly AnyCollection[] = [
  acceptances,
  auditArchives,
  auditTiles,
  auditTrees,
  authorities,
  certificates,
  checkpoints,
  crks,
  instances,
  logKeys,
  organizationKeyRecords,
  organizations,
  signingRequests,
  spentNonces,
];
