import { auditArchives, auditTiles, auditTrees } from "../../platform/audit-log/index.ts";
import type { AnyCollection } from "../../platform/collection.ts";
import { acceptances } from "./audit/gaps.ts";
import { logKeys } from "./audit/log-key.ts";
import { checkpoints } from "./audit/sealer.ts";
import { instances } from "./instance/collections.ts";
import { organizations } from "./organizations/collections.ts";
import { organizationKeyRecords } from "./organizations/keys.ts";
import { crks } from "./organizations/root-keys.ts";
import { certificates } from "./pki/certificates.ts";
import { authorities } from "./pki/collections.ts";
import { signingRequests, spentNonces } from "./signatures/requests.ts";

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
