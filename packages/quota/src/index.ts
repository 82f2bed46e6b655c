export {
  type AgentReport,
  type Caller,
  hasRole,
  judgeReport,
  ROLES,
  type Role,
  reachesTenant,
  seesAll,
  seesAllocation,
} from "./access.ts";
export { type Accepted, apply, type Outcome, receiptOf } from "./apply/apply.ts";
export { auditHash } from "./apply/work.ts";
export type * from "./command.ts";
export type { QuotaErrorCode, Rejection, RejectionCode } from "./errors.ts";
export { checkQuotas, type Demand } from "./hard-quota.ts";
export { quotaMachine, type Verdict } from "./machine.ts";
export { type Housekeeping, housekeeping } from "./plan/housekeeping.ts";
export { type Plan, type PlanOptions, type Proposal, plan } from "./plan/plan.ts";
export type { Reason } from "./plan/reason.ts";
export { preemptionCost } from "./plan/victims.ts";
export { budgetCrossings } from "./soft/crossings.ts";
export { burstAllocations, effectiveShare, shareDeficit } from "./soft/fair-share.ts";
export {
  type BudgetStatus,
  budgetStatus,
  DAY_MS,
  tenantsOfUser,
  tenantUsage,
  type Usage,
  usageOver,
  userUsage,
} from "./soft/ledger.ts";
export { budgetPenalty } from "./soft/penalty.ts";
export { checkWeights, PROFILES, type Score, TERMS, type Term, type Weights } from "./soft/score.ts";
export { usageEvents } from "./soft/usage-events.ts";
export {
  ALLOCATION_STATES,
  type Allocation,
  type AllocationRequest,
  type AllocationState,
  countedGpus,
  isTerminal,
  TRANSITIONS,
} from "./state/allocation.ts";
export { type AllocationAsked, allocationRequest } from "./state/allocation-request.ts";
export {
  AUDIT_PIECE,
  type AuditPiece,
  continuesPieces,
  duePieces,
  pieceBytes,
  pieceDamaged,
  pieceOf,
  piecesBefore,
  readPiece,
} from "./state/audit-pieces.ts";
export { decodeState, encodePieces, encodeState, stateHash } from "./state/encoding.ts";
export { holdingOf } from "./state/holdings.ts";
export { type ComputeNode, NODE_STATES, type NodeInventory, type NodeState, ownerOf, stateOf, versionOf } from "./state/node.ts";
export { SortedMap } from "./state/sorted-map.ts";
export { type AuditRecord, emptyState, type QuotaEvent, type QuotaState, type Receipt } from "./state/state.ts";
export { PREEMPTION_MODES, type PreemptionMode, type Tenant, type TenantSettings } from "./state/tenant.ts";
