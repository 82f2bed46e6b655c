import { LineageHistory, readLineageEvent, schemaChanges } from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const at = (minute: number): string => `2026-02-01T00:${String(minute).padStart(2, "0")}:00.000Z`;
const event = (type: string, minute: number, more: object = {}) =>
  readLineageEvent(
    {
      eventType: type,
      eventTime: at(minute),
      producer: "p",
      schemaURL: "s",
      run: { runId: "r1" },
      job: { namespace: "default", name: "etl" },
      inputs: [],
      outputs: [],
      ...more,
    },
    0,
  );
const schema = (minute: number, fields: Readonly<Record<string, string>>, name = "t") =>
  event("COMPLETE", minute, {
    outputs: [
      {
        namespace: "default",
        name,
        facets: { schema: { fields: Object.entries(fields).map(([n, type]) => ({ name: n, type })) } },
      },
    ],
  });

describe("the history of runs", () => {
  it("has one record of all events of a run", () => {
    const history = new LineageHistory();
    history.add(event("START", 1, { inputs: [{ namespace: "default", name: "a" }] }));
    history.add(event("RUNNING", 2, { run: { runId: "r1", facets: { nominalTime: { nominalStartTime: at(0) } } } }));
    expect(history.runs()).toMatchObject([{ job: "etl", runId: "r1", state: "RUNNING", endedAt: undefined }]);
    history.add(event("COMPLETE", 9, { outputs: [{ namespace: "default", name: "b" }] }));
    expect(history.runs()).toEqual([
      {
        job: "etl",
        runId: "r1",
        state: "COMPLETE",
        startedAt: Date.parse(at(1)),
        endedAt: Date.parse(at(9)),
        updatedAt: Date.parse(at(9)),
        inputs: ["a"],
        outputs: ["b"],
        facets: { nominalTime: { nominalStartTime: at(0) } },
        truncated: false,
      },
    ]);
  });

  it("is the same in whatever order the events come, and however often", () => {
    const type = fc.constantFrom("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER");
    const one = fc
      .tuple(
        type,
        fc.integer({ min: 0, max: 5 }),
        fc.constantFrom("a", "b", "c"),
        fc.constantFrom("r1", "r2"),
        fc.integer({ min: 0, max: 3 }),
      )
      .map(([is, minute, name, runId, n]) =>
        event(is, minute, { inputs: [{ namespace: "default", name }], run: { runId, facets: { custom: { n } } } }),
      );
    const told = (events: readonly ReturnType<typeof event>[]) => {
      const history = new LineageHistory();
      for (const each of events) history.add(each);
      return history.runs();
    };
    fc.assert(
      fc.property(
        fc
          .array(one, { minLength: 1, maxLength: 8 })
          .chain((events) =>
            fc.tuple(fc.constant(events), fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 })),
          ),
        ([events, again]) => {
          expect(told(again)).toEqual(told(events));
        },
      ),
    );
  });

  it("is filtered by job, state and when a run began, newest first", () => {
    const history = new LineageHistory();
    history.add(event("FAIL", 1));
    history.add(event("COMPLETE", 3, { run: { runId: "r2" } }));
    history.add(event("START", 2, { run: { runId: "r3" }, job: { namespace: "ns", name: "other" } }));
    const ids = (filter: Parameters<LineageHistory["runs"]>[0]) => history.runs(filter).map(({ runId }) => runId);
    expect(ids({})).toEqual(["r2", "r3", "r1"]);
    expect(ids({ job: "etl" })).toEqual(["r2", "r1"]);
    expect(ids({ job: "ns/other" })).toEqual(["r3"]);
    expect(ids({ state: "FAIL" })).toEqual(["r1"]);
    expect(ids({ from: Date.parse(at(2)), to: Date.parse(at(2)) })).toEqual(["r3"]);
  });

  it("keeps a bounded record of a run without bounds, and says so", () => {
    const history = new LineageHistory();
    const inputs = Array.from({ length: 400 }, (_, i) => ({ namespace: "default", name: `t${i}` }));
    const facets = {
      large: { text: "x".repeat(5000) },
      ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, { i }])),
    };
    history.add(event("START", 1, { inputs, run: { runId: "r1", facets } }));
    const [run] = history.runs();
    expect([run?.inputs.length, Object.keys(run?.facets ?? {}).length, run?.truncated]).toEqual([256, 16, true]);
  });

  it("forgets the runs that began first", () => {
    const history = new LineageHistory();
    for (let i = 0; i < 11_500; i++) history.add({ ...event("START", 1), time: i, runId: `r${i}` });
    const runs = history.runs();
    expect([runs.length, runs.at(-1)?.runId]).toEqual([10_000, "r1500"]);
  });
});

describe("the history of a schema", () => {
  it("has a version where columns changed, put where its time belongs", () => {
    const history = new LineageHistory();
    for (const minute of [1, 2, 5]) history.add(schema(minute, { id: "int", name: "text" }));
    history.add(schema(9, { id: "bigint", mail: "text" }));
    history.add(schema(3, { id: "int" }));
    history.add(schema(3, { other: "int" }, "u"));
    const versions = history.versions((id) => id === "t");
    expect(versions.map(({ time }) => new Date(time).toISOString())).toEqual([at(1), at(3), at(5), at(9)]);
    expect(schemaChanges(versions[0], versions.at(-1))).toEqual({
      added: [{ column: "mail", type: "text" }],
      removed: [{ column: "name", type: "text" }],
      retyped: [{ column: "id", from: "int", to: "bigint" }],
    });
    expect(schemaChanges(undefined, versions[1]).added).toEqual([{ column: "id", type: "int" }]);
    expect(schemaChanges(versions[0], versions[0])).toEqual({ added: [], removed: [], retyped: [] });
  });

  it("keeps a bounded number of versions", () => {
    const history = new LineageHistory();
    for (let i = 0; i < 130; i++) history.add({ ...schema(1, { [`c${i}`]: "int" }), time: i });
    expect(history.versions(() => true).map(({ time }) => time)).toEqual(Array.from({ length: 100 }, (_, i) => i + 30));
  });
});
