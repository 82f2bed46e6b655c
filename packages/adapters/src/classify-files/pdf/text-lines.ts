/** A run of text of a page: where it begins, and how long it is. */
export interface Run {
  readonly str: string;
  /** Its matrix. */
  readonly transform: readonly number[];
  readonly width: number;
  readonly hasEOL: boolean;
}

interface Placed {
  readonly str: string;
  readonly height: number;
  /** Degrees. */
  readonly angle: number;
  /** Where it begins and ends along its line, and where its line is across. */
  readonly from: number;
  readonly to: number;
  readonly across: number;
}

/**
 * What a page says in lines: in the order in which it was written, and in the one in which it is seen, as a value may be put together of runs that were written in any. `fields` are what stands there besides and is
 * no text of the page.
 */
export function linesOf(runs: readonly Run[], fields: readonly Run[]): { readonly written: string; readonly seen: string } {
  const placed = runs.filter(({ str }) => str !== "").map(place);
  const all = [...placed, ...fields.map(place)];
  const byAngle = new Map<number, Placed[]>();
  for (const one of all) byAngle.set(one.angle, [...(byAngle.get(one.angle) ?? []), one]);
  const seen = [...byAngle.values()].flatMap((ones) => {
    const lines: Placed[][] = [];
    for (const one of ones.sort((a, b) => b.across - a.across)) {
      const line = lines.at(-1);
      if (line?.[0] !== undefined && isOneLine(line[0], one)) line.push(one);
      else lines.push([one]);
    }
    return lines.flatMap((line) => line.sort((a, b) => a.from - b.from));
  });
  return { written: joined(placed), seen: joined(seen) };
}

function place({ str, transform, width }: Run): Placed {
  const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = transform;
  const angle = Math.atan2(b, a);
  const from = x * Math.cos(angle) + y * Math.sin(angle);
  const across = y * Math.cos(angle) - x * Math.sin(angle);
  return { str, height: Math.hypot(c, d), angle: Math.round((angle * 180) / Math.PI), from, to: from + width, across };
}

function isOneLine(a: Placed, b: Placed): boolean {
  return a.angle === b.angle && Math.abs(a.across - b.across) <= 0.5 * Math.max(a.height, b.height);
}

function joined(runs: readonly Placed[]): string {
  let text = "";
  let last: Placed | undefined;
  for (const run of runs) {
    if (last !== undefined) {
      const gap = run.from - last.to;
      const size = Math.max(run.height, last.height);
      if (!isOneLine(last, run)) text += "\n";
      else if (gap > 0.2 * size || gap < -size) text += " ";
    }
    text += run.str;
    last = run;
  }
  return text;
}
