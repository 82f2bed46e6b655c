import { gatewayContract } from "@seneschal/contract/gateway";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { sampleOf } from "../platform/sample-of.ts";
import { registered } from "./registered.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";
import { makeTargets, pathOf, type Targets } from "./samples.ts";

interface AnyRoute {
  readonly method: string;
  readonly path: string;
  readonly auth: string;
  readonly action?: string;
  readonly body?: z.ZodType;
  readonly query?: z.ZodType;
}
type Schema = { readonly properties?: Record<string, unknown>; readonly anyOf?: readonly Schema[] };

/** Partners' calls are refused to everybody else before their bodies are looked at: `federation.test.ts` makes them. */
const partnerOnly = new Set<string | undefined>(["federation:peer", "message:deliver"]);
const routes = Object.entries(gatewayContract as Readonly<Record<string, AnyRoute>>).filter(
  ([, { action }]) => !partnerOnly.has(action),
);

/** The top-level fields that a schema knows. */
function fields(schema: z.ZodType): string[] {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;
  return Object.keys(json.properties ?? json.anyOf?.[0]?.properties ?? {});
}

/** Values that no field of any body takes. */
const nonsense = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    [],
    {},
    true,
    -1,
    1.5,
    1e308,
    "",
    "\u202e",
    "\u{1F600}".repeat(256),
    "x".repeat(100_000),
    [[[[]]]],
    { a: { b: null } },
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

type Twist =
  | { readonly kind: "wrong"; readonly field: string; readonly value: unknown }
  | { readonly kind: "missing"; readonly field: string }
  | { readonly kind: "unknown"; readonly field: string };

/** One deviation from a good body. */
function twists(known: readonly string[]): fc.Arbitrary<Twist> {
  const unknown = fc.record({
    kind: fc.constant("unknown" as const),
    field: fc.constantFrom("treshold", "constructor", "toString", "__proto__x", "org"),
  });
  if (known.length === 0) return unknown;
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant("wrong" as const), field: fc.constantFrom(...known), value: nonsense }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("missing" as const), field: fc.constantFrom(...known) }) },
    { weight: 1, arbitrary: unknown },
  );
}

describe("bad input to every route that takes a body", () => {
  let rig: Rig;
  let targets: Targets;
  let caller: Caller;
  beforeAll(async () => {
    rig = await openRig();
    targets = await makeTargets(rig);
    // Known by token: whatever the fuzz does to admins and certificates, the next request still gets in.
    const fuzzer = await registered(rig, rig.admin("acme"), { sub: "fuzzer", org: "acme", roles: ["super_admin"] });
    caller = fuzzer.call;
    const grant = { identity_id: fuzzer.id, identity_type: "user" };
    await rig.admin("acme")("POST", `/api/v1/workspaces/${targets.params["workspaces"]?.["id"]}/admissions`, grant);
  });
  afterAll(() => rig.close());

  let seen = 0;
  const head = async (): Promise<number> => {
    seen = (await rig.store.changes(seen, 1_000_000)).at(-1)?.seq ?? seen;
    return seen;
  };

  /** Whether there is something of the caller's behind a path; where not, that is said before anything of the body. */
  const reaches = (path: string): boolean => !/00000000-0000-7000-8000-|\/generate-ceremony\/(?!start)/.test(path);
  // What ends the workspace comes after all that want it.
  const inOrder = routes
    .filter(([, route]) => route.body !== undefined)
    .toSorted(([a], [b]) => Number(a === "deleteWorkspace") - Number(b === "deleteWorkspace"));

  it.each(inOrder)("%s is never a 5xx, changes nothing when refused, and names the field", async (id, route) => {
    const known = fields(route.body as z.ZodType);
    const runs = Number(process.env["FC_RUNS"] ?? 5);
    await fc.assert(
      fc.asyncProperty(twists(known), async (twist) => {
        const body: Record<string, unknown> = { ...(targets.bodies[id] ?? (sampleOf(route.body as z.ZodType) as object)) };
        if (twist.kind === "missing") delete body[twist.field];
        else body[twist.field] = twist.kind === "wrong" ? twist.value : 1;
        const before = await head();
        const path = pathOf(route.path, targets);
        const answer = await caller(route.method, path, body);
        expect(answer.status, answer.text).toBeLessThan(500);
        if (answer.status < 400) {
          expect(twist.kind).not.toBe("unknown");
          return;
        }
        expect(Object.keys(answer.body.error).sort()).toEqual(["code", "details", "message"]);
        expect(await head()).toBe(before);
        if (twist.kind === "unknown" && answer.status === 404) expect(reaches(path) && id !== "deleteWorkspace").toBe(false);
        else if (twist.kind === "unknown") {
          const issues = answer.body.error.details.issues.map((issue: { path: string }) => issue.path);
          expect(
            issues.some((path: string) => path.endsWith(twist.field)),
            answer.text,
          ).toBe(true);
        } else if (answer.body.error.code === "VALIDATION_ERROR" && twist.kind === "wrong") {
          expect(String(answer.body.error.details.field)).not.toBe("");
        }
      }),
      { numRuns: runs },
    );
  });

  it("bytes that are no JSON object are a 400 or 415 everywhere", async () => {
    const { body: workspace } = await rig.admin("acme")("POST", "/api/v1/workspaces", { name: "for bytes" });
    const there = { ...targets, params: { ...targets.params, workspaces: { id: workspace.id as string } } };
    for (const [, route] of routes) {
      if (route.body === undefined) continue;
      const path = pathOf(route.path, there);
      for (const text of ["{", "null", "[]", "1", '"x"', '{"a":1}{', `${"[".repeat(200)}`, '{"__proto__":{}}']) {
        const answer = await caller(route.method, path, text);
        expect(reaches(path) ? [400, 415] : [404], `${path} ${text} ${answer.text}`).toContain(answer.status);
      }
      const typed = await caller(route.method, path, "{}", { "content-type": "text/xml" });
      expect(typed.status).toBe(reaches(path) ? 415 : 404);
    }
  });

  it("ids that cannot exist are 404 in every path", async () => {
    for (const [id, route] of routes) {
      if (!/:(id|crk_id)/.test(route.path) || id === "getOrganization") continue;
      for (const bad of ["x", "..%2f..", "%00", "00000000-0000-7000-8000-000000000000", "1".repeat(300)]) {
        const path = route.path.replace(/:[a-z_]+/, bad).replace(/:[a-z_]+/g, "1");
        const answer = await caller(route.method, path, route.body === undefined ? undefined : targets.bodies[id]);
        // Enrolment answers all ids alike: one that nobody has is a token that is not its own.
        expect(id === "enrollAdmin" ? [404, 400, 401] : [404, 400], `${id} ${path} ${answer.text}`).toContain(answer.status);
      }
    }
  });
});
