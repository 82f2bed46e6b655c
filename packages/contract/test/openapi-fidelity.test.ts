import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type * as z from "zod";
import { gatewayContract, gatewayInfo } from "../src/gateway/index.ts";
import { governanceContract, governanceInfo, modelContract } from "../src/governance/index.ts";
import { type Contract, endpoints, type Handlers, openapi, type Principal, type Route } from "../src/index.ts";
import { schedulerContract, schedulerInfo } from "../src/scheduler/index.ts";
import { storageContract, storageInfo } from "../src/storage/index.ts";
import { unwatched } from "../src/testing/index.ts";
import { arbitraryOf } from "./arbitrary-of.ts";

const services = [
  ["gateway", gatewayContract, gatewayInfo],
  ["governance", { ...governanceContract, ...modelContract() }, governanceInfo],
  ["scheduler", schedulerContract, schedulerInfo],
  ["storage", storageContract, storageInfo],
] as const;

const runs = Number(process.env["FC_RUNS"] ?? 15);

/** A schema of the contract and what the document says of the same place. */
interface Place {
  readonly where: string;
  readonly schema: z.ZodType;
  readonly document: object;
  /** Whether the server takes a value as it is. */
  readonly takes: (value: unknown) => Verdict;
  /** It comes in a path or a query: texts are all that can be sent. */
  readonly text?: true;
}

/** `refined`: refused by a rule between fields or of bytes, which JSON Schema has no words for. */
type Verdict = "taken" | "refused" | "refined";

// biome-ignore lint/suspicious/noExplicitAny: a document is walked freely
type Json = any;

function placesOf(id: string, route: Route, operation: Json): readonly Place[] {
  const { body, reply } = route;
  const input = operation.requestBody?.content["application/json"]?.schema as object | undefined;
  const output = operation.responses[route.status]?.content?.["application/json"]?.schema as object | undefined;
  return [
    ...(body === undefined ? [] : [{ where: `${id} body`, schema: body, document: input ?? {}, takes: asInput(body) }]),
    ...(reply === undefined ? [] : [{ where: `${id} reply`, schema: reply, document: output ?? {}, takes: asReply(reply) }]),
    ...(["path", "query"] as const).flatMap((part) =>
      Object.entries((part === "path" ? route.params : route.query)?.shape ?? {}).map(([name, field]) => {
        const { schema } = operation.parameters.find((one: Json) => one.in === part && one.name === name);
        return {
          where: `${id} ${part} ${name}`,
          schema: field as z.ZodType,
          document: schema,
          takes: asInput(field as z.ZodType),
          text: true as const,
        };
      }),
    ),
  ];
}

const asInput =
  (schema: z.ZodType) =>
  (value: unknown): Verdict => {
    const result = schema.safeParse(value);
    if (result.success) return "taken";
    return refined(result.error.issues) ? "refined" : "refused";
  };

/** A field that the contract does not name leaves no reply. */
const asReply =
  (schema: z.ZodType) =>
  (value: unknown): Verdict => {
    const result = schema.safeParse(value);
    if (!result.success) return refined(result.error.issues) ? "refined" : "refused";
    return membersOf(result.data) === membersOf(value) ? "taken" : "refused";
  };

function refined(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.every((issue) => {
    if (issue.code === "invalid_union") return issue.errors.some(refined);
    return issue.code === "custom" || (issue.code === "invalid_key" && refined(issue.issues));
  });
}

function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, inner) => sum + 1 + membersOf(inner), 0);
}

function isText(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.every((one) => typeof one === "string"));
}

/** What a text of a query is, by the type that the document gives it. */
function read(value: unknown, { type }: { readonly type?: unknown }): unknown {
  if (Array.isArray(value) || typeof value !== "string") return value;
  if (type === "array") return [value];
  if (type === "integer" || type === "number") return /^-?[0-9]+(\.[0-9]+)?$/.test(value) ? Number(value) : value;
  if (type === "boolean") return value === "true" ? true : value === "false" ? false : value;
  return value;
}

/** One change that makes another document of a value: a part replaced, left out or added, or a text made long. */
interface Change {
  readonly at: number;
  readonly kind: "replace" | "leave out" | "add" | "lengthen";
  readonly by: unknown;
}
const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(1000),
  kind: fc.constantFrom("replace" as const, "leave out" as const, "add" as const, "lengthen" as const),
  by: fc.constantFrom<unknown>(null, true, 7, -1, 0.5, 1e9, "", "x", " ", [], {}, [null], { x: 1 }),
});

function changed(value: unknown, { at, kind, by }: Change): unknown {
  const paths = pathsOf(value);
  const path = paths[at % paths.length] ?? [];
  return edited(value, path, (old) => {
    switch (kind) {
      case "replace":
        return by;
      case "leave out":
        if (typeof old !== "object" || old === null || Array.isArray(old)) return by;
        return Object.fromEntries(Object.entries(old).slice(1));
      case "add":
        if (Array.isArray(old)) return [...old, by];
        return typeof old === "object" && old !== null ? { ...old, unheard_of: by } : by;
      case "lengthen":
        return typeof old === "string" ? old + "x".repeat(70_000) : by;
    }
  });
}

type Path = readonly (string | number)[];
function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const inner = Array.isArray(value) ? value.map((one, i) => [i, one] as const) : Object.entries(value);
  return [path, ...inner.flatMap(([key, one]) => pathsOf(one, [...path, key]))];
}

function edited(value: unknown, [first, ...rest]: Path, edit: (old: unknown) => unknown): unknown {
  if (first === undefined) return edit(value);
  const copy: Json = Array.isArray(value) ? [...value] : { ...(value as object) };
  copy[first] = edited(copy[first], rest, edit);
  return copy;
}

/** Compiles schemas that refer to the components of a document. */
function validators(document: Json, others: Readonly<Record<string, true>> = {}): (schema: object) => ValidateFunction {
  const ajv = addFormats.default(new Ajv2020({ strict: false }));
  for (const [name, format] of Object.entries(others)) ajv.addFormat(name, format);
  ajv.addSchema({ $id: "tag:document", components: document.components });
  return (schema) => ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"tag:document#/components/')));
}

describe.each(services)("the OpenAPI document of %s", (_, contract: Contract, info) => {
  const document: Json = JSON.parse(JSON.stringify(openapi(contract, { ...info, version: "1" })));
  const inputs = validators(document);
  // What a reply shows as a time is a text to the contract: that it is one is the service's to see to.
  const replies = validators(document, { "date-time": true });
  const operations = new Map<string, Json>(
    Object.values(document.paths).flatMap((path) =>
      Object.values(path as object).map((operation: Json) => [operation.operationId, operation] as const),
    ),
  );
  const places = Object.entries(contract).flatMap(([id, route]) => placesOf(id, route, operations.get(id)));

  test("takes what the contract takes and refuses what it refuses, in every body, parameter and reply", () => {
    const lost: string[] = [];
    const seen = new Map<string, z.ZodType>();
    for (const { where, schema, document: shown, takes, text } of places) {
      // Many routes share a schema: it is read the same in each.
      const key = JSON.stringify(shown);
      if (seen.get(key) === schema) continue;
      seen.set(key, schema);
      const valid = (where.endsWith(" reply") ? replies : inputs)(shown);
      const compare = (value: unknown): void => {
        if (text && !isText(value)) return;
        const verdict = takes(value);
        const shownAs = valid(read(value, shown));
        if (verdict === "taken" && !shownAs)
          throw new Error(
            `the document refuses ${JSON.stringify(value).slice(0, 300)}: ${JSON.stringify(valid.errors).slice(0, 500)}`,
          );
        if (verdict === "refused" && shownAs) throw new Error(`the document takes ${JSON.stringify(value)?.slice(0, 500)}`);
      };
      let taken = 0;
      try {
        fc.assert(
          fc.property(arbitraryOf(schema), fc.array(change, { minLength: 8, maxLength: 8 }), (value, changes) => {
            if (takes(value) === "taken") taken++;
            compare(value);
            for (const one of changes) compare(changed(value, one));
          }),
          { numRuns: runs },
        );
        if (taken === 0) throw new Error("no value of it was found that the contract takes");
      } catch (error) {
        lost.push(`${where}: ${(error as Error).cause ?? (error as Error).message}`.slice(0, 900));
      }
    }
    expect(lost).toEqual([]);
  });

  test("has no place that is one of several texts: generated clients have no name for what is sent there", () => {
    const found: string[] = [];
    const walk = (value: Json, where: string): void => {
      if (typeof value !== "object" || value === null) return;
      const { anyOf, oneOf } = value;
      const choices = (anyOf ?? oneOf ?? []) as { readonly type?: string }[];
      if (choices.length > 1 && choices.every(({ type }) => type === "string")) found.push(where);
      for (const [name, member] of Object.entries(value)) walk(member, `${where}/${name}`);
    };
    // What partners send each other is as it was released, and no client's affair.
    for (const [path, operations] of Object.entries(document.paths)) if (!path.includes("/peer/")) walk(operations, path);
    expect(found).toEqual([]);
  });

  test("shows of every body and reply an example, which the contract and the document take", () => {
    for (const [id, { reply, body, status }] of Object.entries(contract)) {
      const { requestBody, responses } = operations.get(id);
      const shown = [
        [body && asInput(body), requestBody?.content["application/json"], inputs],
        [reply && asReply(reply), responses[status].content?.["application/json"], replies],
      ] as const;
      for (const [takes, content, valid] of shown)
        if (takes !== undefined) {
          expect.soft(content, id).toHaveProperty("example");
          if (content.example === undefined) continue;
          expect.soft(takes(content.example), `${id} ${JSON.stringify(content.example)}`).toBe("taken");
          expect.soft(valid(content.schema)(content.example), id).toBe(true);
        }
    }
  });

  test("names Idempotency-Key exactly where the answer is kept under it", async () => {
    const kept = new Set<string>();
    const ada: Principal = { id: "ada", type: "user", org: "o", roles: [], scopes: [], method: "jwt" };
    const refuse = () => {
      throw new Error("not carried out");
    };
    const handlers = Object.fromEntries(Object.keys(contract).map((id) => [id, refuse])) as unknown as Handlers<
      Contract,
      undefined
    >;
    const list = endpoints(contract, handlers, undefined, {
      ...unwatched,
      errors: info.errors,
      now: () => 0,
      requestId: () => "r",
      authenticate: () => ada,
      authorise: () => {},
      ...(info.keepsAnswers === true && {
        idempotency: {
          async run({ routeId }) {
            kept.add(routeId);
            return { status: 200, headers: {}, body: new Uint8Array() };
          },
        },
      }),
    });
    for (const { route, handle } of list) {
      const of = (schema: z.ZodType) =>
        fc.sample(
          arbitraryOf(schema).filter((value) => schema.safeParse(value).success),
          { numRuns: 1, seed: 1 },
        )[0];
      const body = route.body === undefined ? new Uint8Array(4) : new TextEncoder().encode(JSON.stringify(of(route.body)));
      await handle({
        method: route.method,
        path: route.path,
        basePath: "",
        body,
        remoteAddress: "::1",
        params: (route.params === undefined ? {} : of(route.params)) as Record<string, string>,
        query: (route.query === undefined ? {} : of(route.query)) as Record<string, string>,
        headers: { "content-type": [route.consumes ?? "application/json"].flat()[0], "idempotency-key": "k" },
      });
    }
    const named = Object.keys(contract).filter((id) =>
      operations.get(id).parameters.some((one: Json) => one.$ref === "#/components/parameters/Idempotency-Key"),
    );
    const byItself = Object.entries(contract).flatMap(([id, { keyed }]) => (keyed === true ? [id] : []));
    expect(named.sort()).toEqual([...kept, ...byItself].sort());
    // Under a key there is always another answer: the request of it was another.
    for (const id of named) expect(JSON.stringify(operations.get(id).responses[422]), id).toMatch(/mismatch/i);
  });

  test("names headers of requests and responses wherever they hold, and codes that only some operations give there alone", () => {
    for (const [id, route] of Object.entries(contract)) {
      const { parameters, responses } = operations.get(id);
      const header = (name: string) => parameters.some((one: Json) => one.$ref === `#/components/parameters/${name}`);
      const changes = route.method !== "GET" && route.entity !== undefined;
      expect([header("If-Match"), header("If-None-Match")], id).toEqual([
        changes,
        route.method === "GET" && route.entity !== undefined,
      ]);
      for (const [status, { headers = {} }] of Object.entries(responses as Record<string, { headers?: object }>)) {
        // Refused before there is a route.
        if (status === "408" || status === "431") continue;
        expect(Object.keys(headers).includes("RateLimit"), `${id} ${status}`).toBe(route.uncounted !== true);
        expect(Object.keys(headers).includes("Retry-After"), `${id} ${status}`).toBe(status === "429" || status === "503");
      }
      if (route.method === "GET" && route.entity !== undefined) expect(responses[200].headers, id).toHaveProperty("ETag");
      for (const [status, { "x-error-codes": codes = [] }] of Object.entries(responses as Record<string, Json>))
        for (const code of codes) {
          expect(info.errors.codes[code], `${id} ${code}`).toBe(Number(status));
          expect(info.errors.only[code]?.includes(id) ?? true, `${id} ${code}`).toBe(true);
        }
    }
    for (const [code, few] of Object.entries(info.errors.only))
      for (const id of few) expect(Object.keys(contract), `${code} of ${id}`).toContain(id);
  });
});
