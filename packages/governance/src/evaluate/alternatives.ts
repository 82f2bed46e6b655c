import { checkArgument } from "@seneschal/kernel";
import { type TierPolicy, tierRank } from "../classification/tiers.ts";
import { covers } from "./approval.ts";
import { MIN_GROUP } from "./classify-request.ts";
import { canFilter } from "./evaluate-operation.ts";
import type { Alternative, Approval, EvaluationCatalogue, OperationRequest, Transformation, Verdict } from "./types.ts";

/** One change to a request. `loss` orders by how much of the use is lost. */
interface Transform {
  /** Two transforms of one kind do not add up. */
  readonly kind: "destination" | "place" | "purpose" | "approval" | Transformation["type"];
  readonly description: string;
  readonly loss: number;
  apply(request: OperationRequest): OperationRequest;
}

const MOST = 5;
const TRIED = 40;
/** Rows of a sample that is proposed. */
const MAX_SAMPLE = 100;

/**
 * Other ways that the same policy allows: every transform, then every pair, judged by `judge`; only what it allows is returned, least
 * loss first, at most five. A pair is left out when one of its parts suffices.
 */
export async function findAlternatives(
  request: OperationRequest,
  catalogue: EvaluationCatalogue,
  tiers: TierPolicy,
  judge: (request: OperationRequest) => Promise<Verdict>,
  now: number,
): Promise<readonly Alternative[]> {
  checkArgument("request", request, "object");
  checkArgument("catalogue", catalogue, "object");
  checkArgument("tiers", tiers, "object");
  checkArgument("judge", judge, "function");
  checkArgument("now", now, "number");
  const transforms = transformsFor(request, catalogue, tiers, now);
  const found: (Alternative & { readonly loss: number })[] = [];
  const sufficient = new Set<Transform>();
  let tried = 0;
  const attempt = async (parts: readonly Transform[]): Promise<void> => {
    if (tried++ >= TRIED) return;
    const changed = parts.reduce((r, part) => part.apply(r), request);
    const verdict = await judge(changed);
    if (!verdict.allowed) return;
    if (parts.length === 1 && parts[0] !== undefined) sufficient.add(parts[0]);
    const description = parts.map((part) => part.description).join(", and ");
    found.push({
      description: sentence(description),
      request: changed,
      obligations: verdict.obligations,
      loss: parts.reduce((sum, part) => sum + part.loss, 0),
    });
  };
  for (const transform of transforms) await attempt([transform]);
  if (found.length < MOST) {
    for (const [i, a] of transforms.entries()) {
      for (const b of transforms.slice(i + 1)) {
        if (!sufficient.has(a) && !sufficient.has(b) && a.kind !== b.kind) await attempt([a, b]);
      }
    }
  }
  return found
    .sort((a, b) => a.loss - b.loss || (a.description < b.description ? -1 : 1))
    .slice(0, MOST)
    .map(({ loss: _, ...alternative }) => alternative);
}

/**
 * The approval that somebody could give so that the operation as asked becomes allowed: what to ask for. `undefined` when no approval would help.
 */
export async function approvalThatHelps(
  request: OperationRequest,
  catalogue: EvaluationCatalogue,
  judge: (request: OperationRequest, catalogue: EvaluationCatalogue) => Promise<Verdict>,
  now: number,
): Promise<OperationRequest | undefined> {
  checkArgument("request", request, "object");
  checkArgument("catalogue", catalogue, "object");
  checkArgument("judge", judge, "function");
  checkArgument("now", now, "number");
  const { approval_id: _, ...wanted } = request;
  const id = "the-approval-asked-for";
  const given: Approval = { id, expiresAt: now + 1, approvedBy: "", covers: wanted };
  const imagined: EvaluationCatalogue = {
    resource: (name) => catalogue.resource(name),
    destinations: () => catalogue.destinations(),
    purposes: () => catalogue.purposes(),
    approvals: () => [given],
  };
  return (await judge({ ...wanted, approval_id: id }, imagined)).allowed ? wanted : undefined;
}

function transformsFor(
  request: OperationRequest,
  catalogue: EvaluationCatalogue,
  tiers: TierPolicy,
  now: number,
): readonly Transform[] {
  const transforms: Transform[] = [];
  for (const { id, approvedBy, expiresAt } of catalogue.approvals().filter((a) => a.expiresAt > now && covers(a, request))) {
    if (id === request.approval_id) continue;
    transforms.push({
      kind: "approval",
      description: `use the approval ${id} of ${approvedBy}, which ends at ${new Date(expiresAt).toISOString()}`,
      loss: 0.5,
      apply: (r) => ({ ...r, approval_id: id }),
    });
  }
  for (const purpose of catalogue.purposes().slice(0, 5)) {
    if (purpose === request.purpose) continue;
    transforms.push({
      kind: "purpose",
      description: `use it for the purpose ${purpose} only`,
      loss: 1.5,
      apply: (r) => ({ ...r, purpose }),
    });
  }
  for (const [column, equals] of [
    ["department", request.user_context.department],
    ["user_id", request.user_context.user_id],
  ] as const) {
    if (equals === "" || !canFilter(request, catalogue, column)) continue;
    transforms.push({
      kind: "row_filter",
      description: `only the rows whose ${column} is the caller's`,
      loss: 2.8,
      apply: adding({ type: "row_filter", column, equals }),
    });
  }
  transforms.push({
    kind: "sample",
    description: `a sample of at most ${MAX_SAMPLE} rows`,
    loss: 4.5,
    apply: adding({ type: "sample", rows: MAX_SAMPLE }),
  });
  const destination = request.destination_resource;
  const resources = request.source_resources.map((id) => catalogue.resource(id)).filter((r) => r !== undefined);
  if (destination !== undefined || leaves(request)) {
    for (const { id } of [...catalogue.destinations()]
      .sort((a, b) => tierRank(tiers, a.accepts) - tierRank(tiers, b.accepts) || (a.id < b.id ? -1 : 1))
      .slice(-3)) {
      if (id === destination) continue;
      transforms.push({
        kind: "destination",
        description: `send it to ${id} instead`,
        loss: 1,
        apply: (r) => ({ ...r, destination_resource: id }),
      });
    }
    transforms.push({
      kind: "place",
      description: "read it in place instead of moving it",
      loss: 4,
      apply: ({ destination_resource: _, ...rest }) => ({ ...rest, operation_type: "READ" }),
    });
  }
  // One threshold per tier: the columns from it on are masked, pseudonymised or left out.
  for (let rank = tiers.tiers.length - 1; rank >= 2; rank--) {
    const columns = [
      ...new Set(
        resources.flatMap((r) =>
          Object.entries(r.columns)
            .filter(([, c]) => tierRank(tiers, c.tier) >= rank)
            .map(([name]) => name),
        ),
      ),
    ].sort();
    if (columns.length === 0) continue;
    const list = columns.length > 6 ? `${columns.slice(0, 6).join(", ")} and ${columns.length - 6} more` : columns.join(", ");
    const depth = (tiers.tiers.length - rank) / 10;
    transforms.push({
      kind: "mask",
      description: `mask the columns ${list}`,
      loss: 2 + depth,
      apply: adding({ type: "mask", columns }),
    });
    transforms.push({
      kind: "pseudonymize",
      description: `pseudonymize the columns ${list}`,
      loss: 2.05 + depth,
      apply: adding({ type: "pseudonymize", columns }),
    });
    transforms.push({
      kind: "drop",
      description: `leave out the columns ${list}`,
      loss: 3 + depth,
      apply: adding({ type: "drop", columns }),
    });
  }
  if (resources.some((r) => Object.keys(r.columns).length === 0)) {
    transforms.push({ kind: "mask", description: "mask all sensitive values", loss: 2.5, apply: adding({ type: "mask" }) });
  }
  transforms.push({
    kind: "aggregate",
    description: `aggregate over groups of at least ${MIN_GROUP}`,
    loss: 5,
    apply: adding({ type: "aggregate", k: MIN_GROUP }),
  });
  return transforms;
}

function leaves(request: OperationRequest): boolean {
  return /^(?:EXPORT|SHARE|COPY|TRANSFER|DOWNLOAD|PUBLISH)$/i.test(request.operation_type);
}

function adding(transformation: Transformation): (request: OperationRequest) => OperationRequest {
  return (request) => ({ ...request, transformations: [...(request.transformations ?? []), transformation] });
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
