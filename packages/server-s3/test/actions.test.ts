import { expect, test } from "vitest";
import { actionsOf, knownActions } from "../src/actions.ts";
import { operations } from "../src/operations.ts";

test("every action that a request asks for is one that a policy can name", () => {
  for (const operation of operations)
    for (const query of [new Map<string, string>(), new Map([["versionId", "x"]])])
      for (const action of actionsOf(operation, query, {})) expect(knownActions).toContain(action);
});

test("an operation changes something if and only if its action is not one of reading", () => {
  for (const operation of operations) {
    const reads = actionsOf(operation, new Map(), {}).every((action) => /^s3:(?:Get|List)/.test(action));
    expect([operation.name, reads]).toEqual([operation.name, operation.method === "GET" || operation.method === "HEAD"]);
  }
});
