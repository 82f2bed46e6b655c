import type { OperationRequest, Transformation } from "@seneschal/governance";

/** The body of a request as the contract gives it: fields that were not sent may stand there as `undefined`. */
type Body = {
  readonly [K in keyof OperationRequest]: K extends "transformations"
    ? readonly { readonly [F in keyof Transformation]: Transformation[F] | undefined }[] | undefined
    : OperationRequest[K] | undefined;
} & Pick<OperationRequest, "operation_type" | "source_resources" | "user_context">;

/** The request without what was not sent. */
export function operationRequest(body: Body): OperationRequest {
  return sent({
    ...body,
    transformations: body.transformations?.map((transformation) => sent(transformation)),
  }) as unknown as OperationRequest;
}

/** The request as it goes out: it can be sent back as it is. */
export function wireRequest(request: OperationRequest) {
  return {
    ...request,
    source_resources: [...request.source_resources],
    user_context: { ...request.user_context },
    transformations: (request.transformations ?? []).map((t) => ({
      ...t,
      columns: t.columns === undefined ? undefined : [...t.columns],
    })),
  };
}

function sent(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}
