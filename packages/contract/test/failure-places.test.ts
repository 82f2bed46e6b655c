import { CodedError } from "@seneschal/kernel";
import { describe, expect, test } from "vitest";
import { failure } from "../src/error-table.ts";
import { fieldsOf } from "../src/fields.ts";
import { gatewayErrors } from "../src/gateway/errors.ts";
import { gatewayContract } from "../src/gateway/index.ts";
import { governanceErrors } from "../src/governance/errors.ts";
import { governanceContract } from "../src/governance/index.ts";
import { type Contract, dispatcher, type ErrorTable, endpoints, type Handlers, type Hooks } from "../src/index.ts";
import { failurePlacer } from "../src/place-failure.ts";
import { schedulerErrors } from "../src/scheduler/errors.ts";
import { schedulerContract } from "../src/scheduler/index.ts";
import { storageHttpErrors } from "../src/storage/errors.ts";
import { storageContract } from "../src/storage/index.ts";

const services: readonly (readonly [string, Contract, ErrorTable])[] = [
  ["gateway", gatewayContract, gatewayErrors],
  ["governance", governanceContract, governanceErrors],
  ["scheduler", schedulerContract, schedulerErrors],
  ["storage", storageContract, storageHttpErrors],
];

interface Told {
  readonly field: string;
  readonly reason: string;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
}

/** A part of the request, names behind dots, indices in brackets. */
const notation = /^(body|query|params|headers)(\.[^.[\]]*[^.[\]\d][^.[\]]*|\[\d+\])*$/;

/** `field` and `reason` repeat the first issue, whose path is in the one notation. */
function check({ field, reason, issues }: Told, where: string): void {
  expect(issues.length, where).toBeGreaterThan(0);
  for (const { path } of issues) expect(path, where).toMatch(notation);
  const [first] = issues;
  expect([field, reason], where).toEqual([first?.path.replace(/^(body|query|params)\./, ""), first?.message]);
}

describe.each(services)("a 400 of %s", (_, contract, errors) => {
  const placed = (id: string, error: Error): Told =>
    failurePlacer(contract[id] as Contract[string], errors)(failure(error, errors)).details as unknown as Told;

  test("whoever names a field alone, in the words of the wire or of rules: the route says in which part of the request it stands", () => {
    for (const [id, { params, query, body }] of Object.entries(contract)) {
      const parts = { params, query, body };
      for (const part of ["params", "query", "body"] as const)
        for (const { name } of fieldsOf(parts[part])) {
          if (part !== "body" && fieldsOf(body).some((other) => other.name === name)) continue;
          if (part === "params" && fieldsOf(query).some((other) => other.name === name)) continue;
          const rules = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
          for (const named of [name, rules]) {
            const told = placed(id, new CodedError("validation_failed", `${named}[0].x: no`, { field: `${named}[0].x` }));
            expect(told, id).toEqual({
              field: `${name}[0].x`,
              reason: "no",
              issues: [{ path: `${part}.${name}[0].x`, message: "no" }],
            });
          }
        }
    }
  });

  test("has issues with the paths of one notation, of every route that takes a body, for whatever is wrong with it", async () => {
    const refuse = () => {
      throw new CodedError("validation_failed", "no");
    };
    const handlers = Object.fromEntries(Object.keys(contract).map((id) => [id, refuse])) as unknown as Handlers<
      Contract,
      undefined
    >;
    const hooks: Hooks = {
      errors,
      now: () => 0,
      requestId: () => "r",
      rateLimit: "off",
      observe: "off",
      badParams: "validation_failed",
      authenticate: () => ({ id: "ada", type: "user", org: "o", roles: [], scopes: [], method: "token" }),
      authorise: () => undefined,
      onError: () => undefined,
    };
    const dispatch = dispatcher(endpoints(contract, handlers, undefined, hooks), hooks);
    for (const [id, route] of Object.entries(contract)) {
      if (route.body === undefined) continue;
      for (const body of ["{", '{"no_such":[{"__proto__":1}]}', '{"no_such":1}', "[[]]", "1", "", '{"a":[1,{"b":1,"b":2}]}']) {
        for (const query of ["", "?no_such=1"]) {
          const response = await dispatch({
            method: route.method,
            remoteAddress: "::1",
            target: route.path.replace(/:[a-z0-9_]+/g, "x") + query,
            headers: { "content-type": "application/json" },
            body: Buffer.from(body),
          });
          const where = `${id} ${body}${query}`;
          expect(response.status, where).toBe(400);
          check(JSON.parse(Buffer.from(response.body as Uint8Array).toString()).error.details as Told, where);
        }
      }
    }
  });
});
