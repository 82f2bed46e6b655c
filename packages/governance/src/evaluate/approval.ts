import type { Approval, EvaluationCatalogue, OperationRequest } from "./types.ts";

/**
 * True when the approval is for what the request does: the same person and operation, no other source, the same destination and purpose, and at least the
 * transformations that were approved.
 */
export function covers({ covers: approved }: Approval, request: OperationRequest): boolean {
  const done = (request.transformations ?? []).map(keyOf);
  return (
    approved.user_context.user_id === request.user_context.user_id &&
    approved.operation_type.toUpperCase() === request.operation_type.toUpperCase() &&
    request.source_resources.every((id) => approved.source_resources.includes(id)) &&
    approved.destination_resource === request.destination_resource &&
    approved.purpose === request.purpose &&
    (approved.transformations ?? []).every((t) => done.includes(keyOf(t)))
  );
}

/** The approval that the request names, if it is for it and not over at `now`. */
export function activeApproval(request: OperationRequest, catalogue: EvaluationCatalogue, now: number): Approval | undefined {
  if (request.approval_id === undefined) return undefined;
  return catalogue.approvals().find((a) => a.id === request.approval_id && a.expiresAt > now && covers(a, request));
}

function keyOf(value: object): string {
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
