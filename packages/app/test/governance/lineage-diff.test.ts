import { serve } from "@seneschal/server-fastify";
import { afterEach, expect, test } from "vitest";
import { NOON, type Rig, startRig } from "./rig.ts";
import { runEvent } from "./run-event.ts";

let rig: Rig;
afterEach(() => rig.stop());

const at = (seconds: number) => new Date(NOON + seconds * 1000).toISOString();
const diff = (who: "reader" | "other" | "judge" | undefined, query: string) =>
  rig.call(who, "GET", `/api/v1/lineage-diff?${query}`);
const etl = (run: string, output: string) =>
  runEvent({ run, at: at(0), job: `etl ${output}`, inputs: ["crm"], outputs: [output] });

test("what was declared, came, changed and went between two moments is told, as it was known then", async () => {
  rig = await startRig(serve);
  const later = (seconds: number) => rig.clock.set(NOON + seconds * 1000);
  const put = (body: object) => rig.call("writer", "PUT", "/api/v1/resources/crm", body);
  later(10);
  await put({ tier: "CONFIDENTIAL", columns: { mail: { type: "text" }, note: { type: "text" } } });
  later(20);
  expect((await rig.call("writer", "POST", "/api/v1/lineage", etl("3f5e83fa-3480-44ff-99c5-ff943904e5e8", "dwh"))).status).toBe(
    201,
  );
  later(30);
  await put({ tier: "RESTRICTED", columns: { mail: { type: "varchar" } }, owners: ["ada"] });
  later(40);
  await rig.call("writer", "PUT", "/api/v1/lineage-edges", { source: "crm", target: "dwh", blocked: true });
  later(50);
  await rig.call("writer", "DELETE", "/api/v1/resources/crm");
  const ids = (list: readonly { readonly resource_id: string }[]) => list.map((one) => one.resource_id);

  const first = (await diff("reader", `from=${at(0)}&to=${at(20)}`)).body;
  expect(ids(first.resources.added)).toEqual(["crm", "dwh"]);
  expect(first.resources.added[1].classification.tier).toBe("CONFIDENTIAL");
  expect(first.edges.added).toMatchObject([{ source: "crm", target: "dwh", blocked: false }]);

  const second = (await diff("reader", `from=${at(20)}&to=${at(30)}`)).body;
  expect(second.resources.changed).toMatchObject([
    {
      from: { resource_id: "crm", classification: { tier: "CONFIDENTIAL" } },
      to: { classification: { tier: "RESTRICTED" }, owners: ["ada"] },
    },
    { from: { resource_id: "dwh", classification: { tier: "CONFIDENTIAL" } }, to: { classification: { tier: "RESTRICTED" } } },
  ]);
  expect(second.columns).toMatchObject({
    removed: [{ resource_id: "crm", column: "note" }],
    changed: [{ from: { column: "mail", type: "text" }, to: { column: "mail", type: "varchar" } }],
  });
  expect(second.edges).toEqual({ added: [], removed: [], changed: [] });

  const third = (await diff("reader", `from=${at(30)}&to=${at(40)}`)).body;
  expect(third.edges.changed).toMatchObject([{ from: { blocked: false }, to: { blocked: true } }]);
  expect(third.resources.changed).toMatchObject([{ from: { resource_id: "dwh" }, to: { classification: { tier: "INTERNAL" } } }]);
  const fourth = (await diff("reader", `from=${at(40)}`)).body;
  expect(fourth.resources.changed).toMatchObject([
    { to: { resource_id: "crm", classification: { tier: "INTERNAL" }, owners: [] } },
  ]);
  expect((await diff("reader", `from=${at(20)}&to=${at(20)}`)).body).toMatchObject({
    resources: { added: [], removed: [], changed: [] },
    truncated: false,
  });
  const cut = (await diff("reader", `from=${at(0)}&to=${at(20)}&limit=1`)).body;
  expect([ids(cut.resources.added), cut.truncated]).toEqual([["crm"], true]);
});

test("other organisations have no part in it, a key without the scope none at all, and time does not run backwards", async () => {
  rig = await startRig(serve);
  await rig.call("writer", "PUT", "/api/v1/resources/crm", { tier: "RESTRICTED" });
  rig.clock.set(NOON + 1000);
  const other = await diff("other", `from=${at(-10)}`);
  expect(other.body.resources).toEqual({ added: [], removed: [], changed: [] });
  expect((await diff("judge", `from=${at(0)}`)).status).toBe(403);
  expect((await diff(undefined, `from=${at(0)}`)).status).toBe(401);
  for (const query of ["", "from=soon", `from=${at(1)}&to=${at(0)}`])
    expect([query, (await diff("reader", query)).status]).toEqual([query, 400]);
});
