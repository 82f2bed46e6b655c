import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openMetrics } from "../../src/metrics/index.ts";

const id = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom("acme", "globex", "other", ""));

describe("requests by organisation", () => {
  it("have a bounded number of series whoever comes, count every request once, and those that are named have their own", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(id, { maxLength: 60 }),
        fc.array(id, { maxLength: 3 }),
        fc.nat({ max: 5 }),
        async (came, named, most) => {
          const metrics = openMetrics({ prefix: "t", version: "1", owners: { kind: "organization", named, most } });
          for (const org of came) metrics.owner(org, 200);
          const text = await metrics.text();
          const lines = [
            ...text.matchAll(/^t_organization_requests_total\{organization="((?:[^"\\]|\\.)*)",result="ok"\} (\d+)$/gm),
          ];
          const counts = new Map(
            lines.map(([, org = "", count]) => [org.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c)), Number(count)]),
          );
          expect(counts.size).toBeLessThanOrEqual(new Set(named).size + most + 1);
          expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(came.length);
          for (const org of named) {
            if (org === "other") continue;
            expect(counts.get(org) ?? 0).toBe(came.filter((one) => one === org).length);
          }
        },
      ),
    );
  });

  it("tell what was refused from what failed", async () => {
    const metrics = openMetrics({ prefix: "t", version: "1", owners: { kind: "tenant", named: [], most: 1 } });
    for (const status of [200, 304, 404, 429, 503]) metrics.owner("physics", status);
    const text = await metrics.text();
    for (const [result, count] of Object.entries({ ok: 2, refused: 2, failed: 1 }))
      expect(text).toContain(`t_tenant_requests_total{tenant="physics",result="${result}"} ${count}`);
  });
});
