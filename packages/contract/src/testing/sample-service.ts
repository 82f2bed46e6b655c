import { CodedError } from "@seneschal/kernel";
import * as z from "zod";
import { contract } from "../contract.ts";
import { type Dispatch, dispatcher } from "../dispatcher.ts";
import { endpoints } from "../endpoints.ts";
import { errorTable } from "../error-table.ts";
import { versionTag } from "../etag.ts";
import type { Hooks } from "../hooks.ts";
import { integerParam, listParam } from "../query.ts";
import { type Handlers, withHeaders } from "../route.ts";

const widget = z.strictObject({ id: z.string(), name: z.string() });

/** A small contract with one route for each thing that a server can get wrong. */
export const sampleContract = contract({
  // Before `widgetHealth` on purpose: the static segment wins whatever the order.
  getWidget: {
    method: "GET",
    path: "/widgets/:id",
    summary: "One widget",
    tag: "widgets",
    auth: "principal",
    action: "widget:read",
    params: z.strictObject({ id: z.string().max(200) }),
    status: 200,
    reply: widget,
  },
  widgetHealth: {
    method: "GET",
    path: "/widgets/health",
    summary: "Health",
    tag: "widgets",
    auth: "public",
    status: 200,
    reply: z.strictObject({ ok: z.boolean() }),
  },
  createWidget: {
    method: "POST",
    path: "/widgets",
    summary: "Make a widget",
    tag: "widgets",
    auth: "principal",
    action: "widget:create",
    body: z.strictObject({ name: z.string().min(1), tags: z.array(z.string()).optional() }),
    status: 201,
    reply: widget,
  },
  removeWidget: {
    method: "DELETE",
    path: "/widgets/:id",
    summary: "Remove a widget",
    tag: "widgets",
    auth: "principal",
    action: "widget:delete",
    params: z.strictObject({ id: z.string() }),
    status: 204,
  },
  echo: {
    method: "GET",
    path: "/echo/:value",
    summary: "What arrived",
    tag: "echo",
    auth: "public",
    params: z.strictObject({ value: z.string() }),
    query: z.strictObject({
      n: integerParam(0, 9).optional(),
      list: listParam(z.string()).optional(),
      "a[b]": z.string().optional(),
    }),
    status: 200,
    reply: z.strictObject({
      value: z.string(),
      n: z.number().optional(),
      list: z.array(z.string()).optional(),
      flat: z.string().optional(),
    }),
  },
  touch: {
    method: "POST",
    path: "/touch",
    summary: "An optional body",
    tag: "echo",
    auth: "public",
    body: z.strictObject({ note: z.string().optional() }),
    bodyOptional: true,
    status: 200,
    reply: z.strictObject({ note: z.string().nullable() }),
  },
  ignore: { method: "POST", path: "/ignore", summary: "No body", tag: "echo", auth: "public", status: 204 },
  small: {
    method: "POST",
    path: "/small",
    summary: "At most 16 bytes",
    tag: "echo",
    auth: "public",
    body: z.strictObject({ a: z.string() }),
    bodyLimit: 16,
    status: 204,
  },
  upload: {
    method: "POST",
    path: "/upload",
    summary: "Bytes",
    tag: "echo",
    auth: "public",
    consumes: "application/octet-stream",
    status: 200,
    reply: z.strictObject({ bytes: z.number() }),
  },
  text: {
    method: "GET",
    path: "/text",
    summary: "Text",
    tag: "echo",
    auth: "public",
    status: 200,
    produces: "text/plain; charset=utf-8",
  },
  file: { method: "GET", path: "/file", summary: "A download", tag: "echo", auth: "public", status: 200, produces: "text/csv" },
  stream: {
    method: "GET",
    path: "/stream",
    summary: "Three pieces",
    tag: "echo",
    auth: "public",
    status: 200,
    produces: "application/octet-stream",
  },
  versioned: {
    method: "GET",
    path: "/versioned",
    summary: "With an entity tag",
    tag: "echo",
    auth: "public",
    status: 200,
    reply: z.strictObject({ version: z.number() }),
  },
  links: {
    method: "GET",
    path: "/links",
    summary: "Headers that name places",
    tag: "echo",
    auth: "public",
    status: 200,
    reply: z.strictObject({ base: z.string() }),
  },
  fail: {
    method: "GET",
    path: "/fail/:how",
    summary: "Failures",
    tag: "fail",
    auth: "public",
    params: z.strictObject({ how: z.enum(["bug", "conflict", "unknown-code", "bad-reply", "later"]) }),
    status: 200,
    reply: z.strictObject({ ok: z.literal(true) }),
  },
});

export const sampleErrors = errorTable(
  {
    BAD_REQUEST: 400,
    VALIDATION_ERROR: 400,
    UNAUTHENTICATED: 401,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    METHOD_NOT_ALLOWED: 405,
    CONFLICT: 409,
    REPLY_NOT_KEPT: 409,
    PRECONDITION_FAILED: 412,
    PAYLOAD_TOO_LARGE: 413,
    UNSUPPORTED_MEDIA_TYPE: 415,
    IDEMPOTENCY_MISMATCH: 422,
    RATE_LIMITED: 429,
    INTERNAL_ERROR: 500,
    SERVICE_UNAVAILABLE: 503,
  },
  {
    invalid_request: "BAD_REQUEST",
    invalid_json: "BAD_REQUEST",
    validation_failed: "VALIDATION_ERROR",
    unauthenticated: "UNAUTHENTICATED",
    forbidden: "FORBIDDEN",
    not_found: "NOT_FOUND",
    method_not_allowed: "METHOD_NOT_ALLOWED",
    precondition_failed: "PRECONDITION_FAILED",
    payload_too_large: "PAYLOAD_TOO_LARGE",
    unsupported_media_type: "UNSUPPORTED_MEDIA_TYPE",
    idempotency_conflict: "CONFLICT",
    idempotency_mismatch: "IDEMPOTENCY_MISMATCH",
    reply_not_kept: "REPLY_NOT_KEPT",
    rate_limited: "RATE_LIMITED",
    internal_error: "INTERNAL_ERROR",
    service_unavailable: "SERVICE_UNAVAILABLE",
    conflict: "CONFLICT",
  },
);

const sampleHandlers: Handlers<typeof sampleContract, undefined> = {
  getWidget: (_, { params }) => ({ id: params.id, name: "bolt" }),
  widgetHealth: () => ({ ok: true }),
  createWidget: (_, { body }) => ({ id: "w1", name: body.name }),
  removeWidget: () => {},
  echo: (_, { params, query }) => ({
    value: params.value,
    ...(query.n === undefined ? {} : { n: query.n }),
    ...(query.list === undefined ? {} : { list: query.list }),
    ...(query["a[b]"] === undefined ? {} : { flat: query["a[b]"] }),
  }),
  touch: (_, { body }) => ({ note: body.note ?? null }),
  ignore: () => {},
  small: () => {},
  upload: (_, { request }) => ({ bytes: request.rawBody.length }),
  text: () => ({ body: "grüezi\n" }),
  file: () => ({ filename: 'größe "1".csv', body: "a,b\n" }),
  stream: () => ({ body: pieces() }),
  versioned: () => withHeaders({ ETag: versionTag(7) }, { version: 7 }),
  links: (_, { request }) =>
    withHeaders(
      {
        location: "/widgets/w1",
        "content-location": "//elsewhere.test/widgets",
        link: '</echo/next?list=a>; rel="next", <https://elsewhere.test/x>; rel="help"',
        "set-cookie": "session=1; Path=/widgets; HttpOnly",
      },
      { base: request.basePath },
    ),
  fail: (_, { params }) => {
    switch (params.how) {
      case "conflict":
        throw new CodedError("conflict", "already there", { id: "w1" });
      case "unknown-code":
        throw new CodedError("sekrit_detail", "a text that must not leave", { key: "hunter2" });
      case "later":
        throw new CodedError("service_unavailable", "come back later", { retry_after: 2.5 });
      case "bad-reply":
        return { ok: "hunter2" } as unknown as { ok: true };
      case "bug":
        throw new Error("hunter2");
    }
  },
};

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (const byte of [65, 66, 67]) yield new Uint8Array([byte]);
}

/** Hooks of a service whose requests nobody counts and nobody watches, as tests of other things have it. */
export const unwatched = { rateLimit: "off", observe: "off", onError: () => {} } as const;

const sampleHooks: Hooks = {
  ...unwatched,
  errors: sampleErrors,
  now: () => 1_700_000_000_000,
  requestId: () => "generated-id",
  authenticate: (wire) => {
    const token = wire.headers["authorization"];
    if (token === undefined) return undefined;
    if (token !== "Bearer good" && token !== "Bearer weak" && token !== "Bearer flood") {
      throw new CodedError("unauthenticated", "invalid token");
    }
    const id = token.slice("Bearer ".length);
    return { id, type: "user", org: "o1", roles: [], scopes: [], method: "token" };
  },
  authorise: ({ principal, params }) => {
    if (principal?.id === "weak") throw new CodedError("forbidden", "not yours");
    if (params["id"] === "foreign") throw new CodedError("not_found", "not found");
  },
  rateLimit: (_wire, _ref, principal) => {
    const allowed = principal?.id !== "flood";
    return { allowed, headers: { "ratelimit-limit": "10" }, details: { limit: 10, window_seconds: 60, retry_after: 3 } };
  },
};

/** The sample service, ready to be served. */
export function sampleService(): Dispatch {
  return dispatcher(endpoints(sampleContract, sampleHandlers, undefined, sampleHooks), sampleHooks);
}
