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
  const before = text
    .replace(/^\["state",3,(.*),\d+\]/, '["state",2,$1]')
    .replace(/^(\["tenant",.*),null,null\]$/m, "$1]")
    .replace(/^(\["allocation",.*),\["n0000"\],\[0\],(\d+\])$/m, "$1,$2");
  expect(before).not.toEqual(text);
  const read = decodeState(new TextEncoder().encode(before));
  expect(read.allocations.get("a")).toEqual({ ...s.state.allocations.get("a"), lastAssigned: [], lastPerNodeGpus: [] });
});

test("a format that is not known is refused, whatever follows", () => {
  const empty = new TextDecoder().decode(encodeState(emptyState()));
  for (const format of ["1", "4", "null", '"3"'])
    expect(() => decodeState(new TextEncoder().encode(empty.replace('["state",3', `["state",${format}`)))).toThrow(
      expect.objectContaining({ code: "snapshot_invalid" }),
    );
});
