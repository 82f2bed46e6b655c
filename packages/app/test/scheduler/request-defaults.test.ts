import { schedulerContract } from "@seneschal/contract/scheduler";
import { allocationRequest } from "@seneschal/quota";
import { expect, test } from "vitest";

test("what a request over HTTP may leave out has the value that the library gives it", () => {
  const { body } = schedulerContract.submitAllocation;
  const library = allocationRequest({ tenant: "physics", user: "ada", nodes: 3 });
  const parsed = Object.entries(body.parse({ tenant: "physics", nodes: 3 })).map(([name, value]) => [
    name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  expect(library).toMatchObject(Object.fromEntries(parsed));
  expect(Object.entries(library).filter(([name, value]) => value === undefined || (name === "minNodes" && value !== 3))).toEqual(
    [],
  );
});
