import { z } from "zod";
import { bodyBounds } from "./body-bounds.ts";
import type { ErrorTable } from "./error-table.ts";
import type { Contract, Route } from "./route.ts";

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  readonly servers?: readonly string[];
  /** Names the codes that can stand behind each error status. */
  readonly errors: ErrorTable;
}

type Json = Record<string, unknown>;

/** Error statuses of every guarded route, and of those that read a body. */
const ALWAYS = [400, 408, 429, 431, 500];
const GUARDED = [401, 403, 404];
const WITH_BODY = [413, 415];

/** What the server says before it knows the route, under the code of a bad request. */
const UNROUTED: Readonly<Record<number, string>> = {
  408: "The request did not arrive in time",
  431: "The headers are larger than 16 KiB",
};

/**
 * The OpenAPI 3.1 document of a contract. Schemas that carry an id (`.meta({ id })`) become components; an id whose request and
 * reply forms differ gets the suffix `Input` for the request. Routes beyond the interface documents are marked `x-extension`.
 *
 * @example
 * ```ts
 * const document = openapi(gatewayContract, { title: "Gateway", version: "1.0.0", errors: gatewayErrors });
 * ```
 */
export function openapi(contract: Contract, info: OpenApiInfo): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const [id, route] of Object.entries(contract)) {
    const path = route.path.replace(/:([a-z0-9_]+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(id, route, info.errors, components) };
  }
  const tags = [...new Set(Object.values(contract).map((route) => route.tag))].map((name) => ({ name }));
  return {
    openapi: "3.1.0",
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
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        mtls: { type: "mutualTLS" },
      },
    },
  };
}

function operation(id: string, route: Route, errors: ErrorTable, components: Components): Json {
  return {
    operationId: id,
    summary: route.summary,
    tags: [route.tag],
    ...(route.extension === true ? { "x-extension": true } : {}),
    ...(route.action === undefined ? {} : { "x-action": route.action }),
    security: { public: [], optional: [{}, { bearer: [] }, { mtls: [] }], principal: [{ bearer: [] }, { mtls: [] }] }[route.auth],
    parameters: [
      ...parameters("path", route.params, components),
      ...parameters("query", route.query, components),
      ...preconditions(route),
    ],
    ...requestBody(route, components),
    responses: {
      [route.status]: success(route, components),
      ...(readsEntity(route) ? { 304: { description: "The caller has it already" } } : {}),
      ...failures(route, errors),
    },
  };
}

const readsEntity = ({ entity, method }: Route): boolean => entity !== undefined && method === "GET";

/** RFC 9110 section 13: the entity tag that a reader has already, or that a change was made for. */
function preconditions(route: Route): readonly Json[] {
  if (route.entity === undefined) return [];
  const name = readsEntity(route) ? "If-None-Match" : "If-Match";
  return [{ name, in: "header", required: false, schema: { type: "string" } }];
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
    return { requestBody: { description: `At most ${bytes} bytes`, required: true, content: { [consumes]: {} } } };
  if (body === undefined) return {};
  const schema = components.schema(body, "input");
  const held =
    elements === undefined
      ? `${values} separators and brackets`
      : `${elements.most} elements of ${elements.bytes} bytes and ${values} separators and brackets`;
  const description = `At most ${bytes} bytes and ${held}`;
  return { requestBody: { description, required: bodyOptional !== true, content: { "application/json": { schema } } } };
}

function success(route: Route, components: Components): Json {
  const description = route.status === 201 ? "Created" : route.status === 202 ? "Accepted" : "Success";
  if (route.produces !== undefined) {
    const types = [route.produces].flat().map((media) => media.split(";")[0] ?? media);
    return { description, content: Object.fromEntries(types.map((media) => [media, { schema: replySchema(media) }])) };
  }
  if (route.reply === undefined) return { description };
  const headers = readsEntity(route) ? { headers: { ETag: { schema: { type: "string" } } } } : {};
  return { description, ...headers, content: { "application/json": { schema: components.schema(route.reply, "output") } } };
}

/** Of what is no reply of a schema: a document of any shape, or text. */
function replySchema(media: string): Json {
  return media === "application/json" ? {} : { type: "string" };
}

function failures(route: Route, errors: ErrorTable): Json {
  const guarded = route.auth !== "public" || route.params !== undefined ? GUARDED : [];
  const body = route.body !== undefined || route.consumes !== undefined ? WITH_BODY : [];
  const stale = errors.find("precondition_failed")?.status;
  const changed = route.entity === undefined || route.method === "GET" || stale === undefined ? [] : [stale];
  const statuses = new Set([...ALWAYS, ...guarded, ...body, ...changed, ...(route.errors ?? [])]);
  const codes = Object.entries(errors.codes);
  return Object.fromEntries(
    [...statuses]
      .sort((a, b) => a - b)
      .map((status) => {
        const names = codes.filter(([, of]) => of === status).map(([code]) => code);
        const description = names.length > 0 ? names.join(", ") : (UNROUTED[status] ?? "Failure");
        return [status, { description, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } }];
      }),
  );
}

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
          details: { type: "object" },
        },
      },
    },
  };
}

/** Collects the named schemas of all routes. */
class Components {
  readonly schemas: Record<string, Json> = {};

  /** The JSON Schema of one place; what has an id is moved to the components and referred to. */
  schema(schema: z.ZodType, io: "input" | "output"): Json {
    // Wrapped, so that a schema with an id is referred to at the top as well.
    const wrapped = z.toJSONSchema(z.object({ it: schema }), {
      target: "draft-2020-12",
      io,
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const parameter = (zodSchema as unknown as z.ZodType).meta?.()?.["parameter"];
        if (parameter === undefined) return;
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema];
        Object.assign(jsonSchema, parameter);
      },
    }) as unknown as { $defs?: Record<string, Json>; properties: { it: Json } };
    const names = new Map<string, string>();
    const definitions = Object.entries(wrapped.$defs ?? {});
    for (const [id, { id: _, ...definition }] of definitions) names.set(id, this.#nameFor(id, definition, io));
    for (const [id, { id: _, ...definition }] of definitions) {
      this.schemas[names.get(id) ?? id] = pointed(definition, names) as Json;
    }
    return pointed(wrapped.properties.it, names) as Json;
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

/** References from `#/$defs/` to the components, under their names there. */
function pointed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => pointed(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== "$ref" || typeof inner !== "string") return [key, pointed(inner, names)];
      const id = inner.replace("#/$defs/", "");
      return [key, `#/components/schemas/${names.get(id) ?? id}`];
    }),
  );
}
