import { checkArgument } from "@seneschal/kernel";
import * as z from "zod";
import { bodyBounds } from "./body-bounds.ts";
import type { ErrorTable } from "./error-table.ts";
import { exampleOf } from "./example-of.ts";
import { changes, failuresOf, isKeyed } from "./failures.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { Contract, Route } from "./route.ts";

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  readonly servers?: readonly string[];
  /** Names the codes that can stand behind each error status. */
  readonly errors: ErrorTable;
  /** The form: 3.1, or 3.0 for tools that read no other. There nothing can say that a client shows a certificate. Default 3.1. */
  readonly form?: "3.1" | "3.0";
  /** The service keeps answers by `Idempotency-Key` (`Hooks.idempotency`). */
  readonly keepsAnswers?: boolean;
}

type Json = Record<string, unknown>;

/** What the server says before it knows the route, under the code of a bad request. */
const UNROUTED: Readonly<Record<string, string>> = {
  408: "The request did not arrive in time",
  431: "The headers are larger than 16 KiB",
};

/**
 * The OpenAPI 3.1 document of a contract. Schemas that carry an id (`.meta({ id })`) become components; an id whose request and
 * reply forms differ gets the suffix `Input` for the request. Routes beyond the interface documents are marked `x-extension`.
 *
 * @example
 * ```ts
 * import { openapi } from "@seneschal/contract";
 * import { gatewayContract, gatewayErrors } from "@seneschal/contract/gateway";
 * const document = openapi(gatewayContract, { title: "Gateway", version: "1.0.0", errors: gatewayErrors });
 * console.log(document.openapi); // 3.1.0
 * ```
 */
export function openapi(contract: Contract, info: OpenApiInfo): Json {
  checkArgument("contract", contract, "object");
  checkArgument("info", info, "object");
  const steps = openapiSteps(contract, info);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** As {@link openapi}, with a pause after each operation: some hundred of them take longer than others should wait. */
export async function openapiInSteps(contract: Contract, info: OpenApiInfo, pause: () => Promise<void>): Promise<Json> {
  checkArgument("contract", contract, "object");
  checkArgument("info", info, "object");
  checkArgument("pause", pause, "function");
  const steps = openapiSteps(contract, info);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await pause();
  }
}

function* openapiSteps(contract: Contract, info: OpenApiInfo): Generator<undefined, Json> {
  const { form = "3.1" } = info;
  const components = new Components(form);
  const paths: Record<string, Json> = {};
  for (const [id, route] of Object.entries(contract)) {
    const path = route.path.replace(/:([a-z0-9_]+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(id, route, contract, info, components) };
    yield;
  }
  const tags = [...new Set(Object.values(contract).map((route) => route.tag))].map((name) => ({ name }));
  return {
    openapi: form === "3.0" ? "3.0.3" : "3.1.0",
    info: {
      title: info.title,
      version: info.version,
      ...(info.description === undefined ? {} : { description: info.description }),
    },
    ...(info.servers === undefined ? {} : { servers: info.servers.map((url) => ({ url })) }),
    tags,
    paths,
    components: {
      schemas: { ...components.schemas, Error: errorSchema(info.errors) },
      headers: HEADERS,
      parameters: PARAMETERS,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        ...(form === "3.0" ? {} : { mtls: { type: "mutualTLS" } }),
      },
    },
  };
}

const text = { type: "string" } as const;
const whole = { type: "integer", minimum: 0 } as const;

/** Headers of replies, by the names that responses refer to them with. */
const HEADERS = {
  "X-Request-ID": { description: "Names the request in logs; the caller's own, or a new one", schema: text },
  ETag: { description: "The entity tag of what is answered", schema: text },
  "RateLimit-Policy": { description: "The limit that was counted against: quota and window in seconds", schema: text },
  RateLimit: { description: "What is left of it, and in how many seconds it is whole again", schema: text },
  "X-RateLimit-Limit": { description: "Requests in a window", schema: whole },
  "X-RateLimit-Remaining": { description: "What is left of them", schema: whole },
  "X-RateLimit-Reset": { description: "When the window ends, seconds since the epoch", schema: whole },
  "Retry-After": { description: "Seconds after which it is worth asking again", schema: whole },
  "WWW-Authenticate": { description: "How to authenticate", schema: text },
} as const;

/** Headers of requests. */
const PARAMETERS = {
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description: "One key, one work: the same request under the same key is answered the same and not done again",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
  },
  "If-Match": {
    name: "If-Match",
    in: "header",
    required: false,
    description: "The entity tag that the change was made for: refused when the entity is another by now",
    schema: text,
  },
  "If-None-Match": {
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "The entity tag that the caller has already",
    schema: text,
  },
} as const;

const COUNTED = ["RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const;

function operation(id: string, route: Route, contract: Contract, info: OpenApiInfo, components: Components): Json {
  const keeps = info.keepsAnswers === true;
  return {
    operationId: id,
    summary: route.summary,
    tags: [route.tag],
    ...(route.extension === true ? { "x-extension": true } : {}),
    ...(route.action === undefined ? {} : { "x-action": route.action }),
    security: security(route.auth, info.form === "3.0" ? ["bearer"] : ["bearer", "mtls"]),
    parameters: [
      ...parameters("path", route.params, components),
      ...parameters("query", route.query, components),
      ...requestHeaders(route, keeps).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...requestBody(route, components),
    responses: {
      [route.status]: success(route, contract, components),
      ...(readsEntity(route) ? { 304: { description: "The caller has it already", ...headers(route, ["ETag"]) } } : {}),
      ...failures(id, route, info.errors, keeps, components),
    },
  };
}

function security(auth: Route["auth"], schemes: readonly string[]): readonly Json[] {
  return auth === "public" ? [] : [...(auth === "optional" ? [{}] : []), ...schemes.map((scheme) => ({ [scheme]: [] }))];
}

const readsEntity = ({ entity, method }: Route): boolean => entity !== undefined && method === "GET";

/** RFC 9110 section 13: the entity tag that a reader has already, or that a change was made for; and the key of a request. */
function requestHeaders(route: Route, keeps: boolean): readonly (keyof typeof PARAMETERS)[] {
  return [
    ...(isKeyed(route, keeps) ? ["Idempotency-Key" as const] : []),
    ...(readsEntity(route) ? ["If-None-Match" as const] : []),
    ...(route.entity !== undefined && !readsEntity(route) && changes(route) ? ["If-Match" as const] : []),
  ];
}

/** The headers of a response: those named, and those that every response of the route has. */
function headers(route: Route, more: readonly (keyof typeof HEADERS)[] = []): { readonly headers: Json } {
  const names = ["X-Request-ID", ...(route.uncounted === true ? [] : COUNTED), ...more];
  return { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };
}

function parameters(where: "path" | "query", schema: z.ZodObject | undefined, components: Components): readonly Json[] {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description, ...rest } = components.schema(field as z.ZodType, "input");
    const optional = where === "query" && (field as z.core.$ZodType)._zod.optin === "optional";
    return { name, in: where, required: !optional, ...(description === undefined ? {} : { description }), schema: rest };
  });
}

function requestBody(route: Route, components: Components): Json {
  const { consumes, body, bodyOptional, elements } = route;
  const { bytes, values } = bodyBounds(route);
  if (consumes !== undefined)
    return {
      requestBody: {
        description: `At most ${bytes} bytes`,
        required: true,
        content: Object.fromEntries([consumes].flat().map((media) => [media, {}])),
      },
    };
  if (body === undefined) return {};
  const content = components.content(body, "input");
  const held =
    elements === undefined
      ? `${values} separators and brackets`
      : `${elements.most} elements of ${elements.bytes} bytes and ${values} separators and brackets`;
  const description = `At most ${bytes} bytes and ${held}`;
  return { requestBody: { description, required: bodyOptional !== true, content } };
}

function success(route: Route, contract: Contract, components: Components): Json {
  const description = route.status === 201 ? "Created" : route.status === 202 ? "Accepted" : "Success";
  const told = headers(route, answersEntity(route, contract) ? ["ETag"] : []);
  if (route.produces !== undefined) {
    const types = [route.produces].flat().map((media) => media.split(";")[0] ?? media);
    return { description, ...told, content: Object.fromEntries(types.map((media) => [media, { schema: replySchema(media) }])) };
  }
  if (route.reply === undefined) return { description, ...told };
  return { description, ...told, content: components.content(route.reply, "output") };
}

/** Whether a reply is what the entity's reader answers, and so has its tag. */
function answersEntity(route: Route, contract: Contract): boolean {
  if (route.entity === undefined) return false;
  const reader = Object.values(contract).find((other) => other.entity === route.entity && readsEntity(other));
  return route.reply !== undefined && reader?.reply === route.reply;
}

/** Of what is no reply of a schema: a document of any shape, or text. */
function replySchema(media: string): Json {
  return media === "application/json" ? {} : { type: "string" };
}

function failures(id: string, route: Route, errors: ErrorTable, keeps: boolean, components: Components): Json {
  const error = { $ref: "#/components/schemas/Error" };
  const named = Object.fromEntries(
    [...failuresOf(id, route, errors, keeps)].map(([status, codes]) => {
      const own = route.alsoStatus?.includes(status) === true && route.reply !== undefined ? route.reply : undefined;
      const schema = own === undefined ? error : { anyOf: [components.schema(own, "output"), error] };
      const more = ({ 401: ["WWW-Authenticate"], 429: ["Retry-After"], 503: ["Retry-After"] } as const)[status];
      const response = { description: codes.join(", "), "x-error-codes": codes, ...headers(route, more) };
      return [String(status), { ...response, content: { "application/json": { schema } } }];
    }),
  );
  const unrouted = Object.entries(UNROUTED).map(([status, description]) => [
    status,
    { description, content: { "application/json": { schema: error } } },
  ]);
  return { ...named, ...Object.fromEntries(unrouted) };
}

/** Of a 400: every place in the request that is wrong. */
const issues: Json = {
  type: "array",
  items: {
    type: "object",
    required: ["path", "message"],
    additionalProperties: false,
    properties: {
      path: { type: "string", description: "Such as body.rules[0].entity, query.limit, params.id, headers.idempotency-key" },
      message: { type: "string" },
    },
  },
};

function errorSchema(errors: ErrorTable): Json {
  return {
    type: "object",
    required: ["error"],
    additionalProperties: false,
    properties: {
      error: {
        type: "object",
        required: ["code", "message", "details"],
        additionalProperties: false,
        properties: {
          code: { type: "string", enum: Object.keys(errors.codes) },
          message: { type: "string" },
          details: { type: "object", properties: { issues } },
        },
      },
    },
  };
}

/** Collects the named schemas of all routes. */
class Components {
  readonly schemas: Record<string, Json> = {};
  readonly #target: "draft-2020-12" | "openapi-3.0";

  constructor(form: "3.1" | "3.0") {
    this.#target = form === "3.0" ? "openapi-3.0" : "draft-2020-12";
  }

  /** The JSON Schema of one place; what has an id is moved to the components and referred to. */
  schema(schema: z.ZodType, io: "input" | "output"): Json {
    // Wrapped, so that a schema with an id is referred to at the top as well.
    const wrapped = z.toJSONSchema(z.object({ it: schema }), {
      target: this.#target,
      io,
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const { examples } = jsonSchema;
        if (this.#target === "openapi-3.0" && examples !== undefined) {
          // 3.0 knows one.
          delete jsonSchema.examples;
          Object.assign(jsonSchema, { example: examples[0] });
        }
        const parameter = (zodSchema as unknown as z.ZodType).meta?.()?.["parameter"];
        if (parameter === undefined) return;
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema];
        Object.assign(jsonSchema, parameter);
        const { exclusiveMinimum } = parameter as { exclusiveMinimum?: number };
        if (this.#target === "openapi-3.0" && exclusiveMinimum !== undefined)
          Object.assign(jsonSchema, { minimum: exclusiveMinimum, exclusiveMinimum: true });
      },
    }) as unknown as { $defs?: Record<string, Json>; definitions?: Record<string, Json>; properties: { it: Json } };
    const names = new Map<string, string>();
    const definitions = Object.entries(wrapped.$defs ?? wrapped.definitions ?? {});
    for (const [id, { id: _, ...definition }] of definitions) names.set(id, this.#nameFor(id, definition, io));
    for (const [id, { id: _, ...definition }] of definitions) {
      this.schemas[names.get(id) ?? id] = pointed(definition, names) as Json;
    }
    return pointed(wrapped.properties.it, names) as Json;
  }

  /** A body or a reply as JSON, with an example of it. */
  content(schema: z.ZodType, io: "input" | "output"): Json {
    const shown = this.schema(schema, io);
    const example = exampleOf(shown, {
      refer: (ref) => (this.schemas[ref.slice(ref.lastIndexOf("/") + 1)] ?? {}) as JsonSchema,
      takes: (value) => schema.safeParse(value).success,
    });
    return { "application/json": { schema: shown, ...(example === undefined ? {} : { example }) } };
  }

  readonly #known = new Map<string, string>();

  #nameFor(id: string, definition: Json, io: "input" | "output"): string {
    const text = JSON.stringify(definition);
    const known = this.#known.get(id);
    if (known === undefined || known === text) {
      this.#known.set(id, text);
      return id;
    }
    const twin = `${id}${io === "input" ? "Input" : "Output"}`;
    const other = this.#known.get(twin);
    if (other !== undefined && other !== text) throw new TypeError(`two different schemas are called ${twin}`);
    this.#known.set(twin, text);
    return twin;
  }
}

/** References to definitions as references to the components, under their names there. */
function pointed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => pointed(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== "$ref" || typeof inner !== "string") return [key, pointed(inner, names)];
      const id = inner.slice(inner.lastIndexOf("/") + 1);
      return [key, `#/components/schemas/${names.get(id) ?? id}`];
    }),
  );
}
