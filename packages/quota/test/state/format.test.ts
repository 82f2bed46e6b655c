import { expect, test } from "vitest";
import { apply } from "../../src/apply/apply.ts";
import { decodeState, encodeState } from "../../src/state/encoding.ts";
import { emptyState } from "../../src/state/state.ts";
import { Scenario } from "../scenario.ts";

/** A state of format 2 as version 0.1 wrote it: a tenant, a node, work that ended on it, and receipts of three commands. */
const FORMAT_2 = `["state",2,3602000000,[0,90,0,0,"",null],1000000,3,2,"h",0]`;

test("a state of the format before is read: nobody's refusal was remembered, nobody knows where ended work ran", () => {
  const old = decodeState(new TextEncoder().encode(`${FORMAT_2}\n["young","c1",null,{"tenant":"t"}]\n["old","key:1","d",{}]`));
  expect(old.receipts).toMatchObject({ since: 1_000_000, horizon: 0 });
  expect(apply(old, { kind: "tenant.create", id: "c1", by: "root", tenant: "t", settings: {} }, old.at)).toMatchObject({
    repeat: true,
  });

  const s = new Scenario().tenant("physics").nodes(1).submit("a").assign("a", "n0000").move("a", "completed");
  const text = new TextDecoder().decode(encodeState(s.state));
  const third = text
    .replace('["state",4,', '["state",3,')
    .replace(/^(\["node",.*),false\]$/m, "$1]")
    .replace(/^(\["allocation",.*),1,false\]$/m, "$1]");
  expect(third.length).toBe(text.length - ",false".length - ",1,false".length);
  expect(decodeState(new TextEncoder().encode(third))).toEqual(decodeState(encodeState(s.state)));
  const second = third
    .replace(/^\["state",3,(.*),\d+\]/, '["state",2,$1]')
    .replace(/^(\["tenant",.*),null,null\]$/m, "$1]")
    .replace(/^(\["allocation",.*),\["n0000"\],\[0\],(\d+\])$/m, "$1,$2");
  expect(second).not.toEqual(third);
  const read = decodeState(new TextEncoder().encode(second));
  expect(read.allocations.get("a")).toEqual({ ...s.state.allocations.get("a"), lastAssigned: [], lastPerNodeGpus: [] });
});

test("of the formats before, work asks for what it asked for, reactive work too, and no node has to be wiped", () => {
  const s = new Scenario().tenant("physics").submit("a", { lifecycle: "reactive", nodes: 3, minNodes: 1 });
  const text = new TextDecoder().decode(encodeState(s.state));
  const third = text.replace('["state",4,', '["state",3,').replace(/^(\["allocation",.*),1,false\]$/m, "$1]");
  expect(decodeState(new TextEncoder().encode(third)).allocations.get("a")).toMatchObject({ desiredNodes: 3, wipes: false });
});

test("a format that is not known is refused by name, whatever follows", () => {
  const empty = new TextDecoder().decode(encodeState(emptyState()));
  for (const format of ["1", "5", "null", '"4"'])
    expect(() => decodeState(new TextEncoder().encode(empty.replace('["state",4', `["state",${format}`)))).toThrow(
      expect.objectContaining({
        code: "snapshot_invalid",
        message: `the snapshot has state format ${format}, this version knows 2 to 4`,
      }),
    );
});
