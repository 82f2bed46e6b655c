import { expect, test } from "vitest";
import { LineageGraph, LineageIngest, lineageRun, readLineageEvent } from "../src/index.ts";

const run = lineageRun({
  producer: "https://example.com/etl",
  runId: "0190d3a6-6f6e-7a7b-8c1d-2f3e4d5c6b7a",
  job: { namespace: "default", name: "load" },
});
const source = { namespace: "default", name: "crm" };
const target = {
  namespace: "default",
  name: "dwh",
  columnLineage: { key: [{ ...source, field: "ssn", masking: true }] },
};

test("an emitted event is read back without a warning", () => {
  const read = readLineageEvent(run("COMPLETE", 5, { inputs: [source], outputs: [target] }), 9);
  expect(read).toMatchObject({ kind: "run", eventType: "COMPLETE", time: 5, warnings: [] });
});

test("an emitted mask lowers the tier on its way", () => {
  const graph = new LineageGraph();
  const ingest = new LineageIngest(graph);
  graph.declare({ id: "crm", columns: {}, direct: { tier: "RESTRICTED", tags: ["PII"] } }, 0);
  ingest.add(run("START", 0, { inputs: [source], outputs: [target] }), 0);
  expect(graph.effective("dwh")?.tier).not.toBe("RESTRICTED");
  ingest.add(run("COMPLETE", 1, { inputs: [source], outputs: [target] }), 1);
  expect(graph.walk("crm", "downstream", 1).visits.map(({ id }) => id)).toEqual(["dwh"]);
  expect(graph.effective("dwh")?.tier).toBe("PROPRIETARY");
});
