import fc from "fast-check";
import { expect, test } from "vitest";
import { CommitWindow } from "../src/commit-window.ts";

/** The batches of commits, each with few ids out of few, so that ids that left are used again. */
const batches = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 40 }).map(String), { minLength: 1, maxLength: 5 }), {
  maxLength: 60,
});

test("exactly the ids of the newest commits are recognised, and the batches that have left whole leave once, oldest first", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), batches, (size, drafts) => {
      const window = new CommitWindow(size);
      const written: string[] = [];
      const kept: number[] = [];
      const expectSame = (): void => {
        for (let id = 0; id <= 40; id += 1) {
          const at = written.lastIndexOf(String(id));
          expect(window.seqOf(String(id))).toBe(at >= Math.max(0, written.length - size) ? at + 1 : undefined);
        }
      };
      for (const draft of drafts) {
        const ids = draft.filter((id) => window.seqOf(id) === undefined);
        if (ids.length === 0) continue;
        const end = written.length + ids.length;
        const left = kept.filter((other) => other <= end - size);
        expect(window.leaving(end)).toEqual(left);
        kept.splice(0, left.length);
        kept.push(end);
        written.push(...ids);
        window.add(end, ids);
        expectSame();
        expect(window.leaving(end)).toEqual([]);
      }
    }),
  );
});

test("what left long ago is let go of: a window that many batches went through answers for the newest only", () => {
  const window = new CommitWindow(10);
  for (let seq = 1; seq <= 5000; seq += 1) {
    expect(window.leaving(seq)).toEqual(seq > 10 ? [seq - 10] : []);
    window.add(seq, [`c${seq}`]);
  }
  expect([4990, 4991, 5000].map((seq) => window.seqOf(`c${seq}`))).toEqual([undefined, 4991, 5000]);
});

test("a window of thousands knows every one of its ids by its sequence, and none beside them", () => {
  const window = new CommitWindow(3000);
  let end = 0;
  for (let batch = 1; end < 9000; batch += 1) {
    const ids = Array.from({ length: (batch % 7) + 1 }, (_, at) => `id ${end + 1 + at}`);
    end += ids.length;
    window.add(end, ids);
  }
  for (let seq = 1; seq <= end + 10; seq += 1)
    expect(window.seqOf(`id ${seq}`)).toBe(seq > end - 3000 && seq <= end ? seq : undefined);
});
