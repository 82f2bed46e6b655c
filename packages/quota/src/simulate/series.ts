import type { Simulation } from "./simulate.ts";

/** A line of a plot: a name and one value per column. */
interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

/** One plot: lines over the same columns of time, in seconds. */
export interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly lines: readonly Series[];
}

/** Utilisation, share by tenant and wait of a simulation, averaged into `columns` equal spans of time. */
export function panels(simulation: Simulation, columns: number): readonly Panel[] {
  const { samples, jobs } = simulation;
  const from = samples[0]?.at ?? 0;
  const to = Math.max(from + 1, samples.at(-1)?.at ?? 0);
  const tenants = Object.keys(samples[0]?.shares ?? {});
  const held = (value: (i: number) => number): readonly number[] => heldOver(samples, value, from, to, columns);
  const waits = (tenant: string): readonly number[] => {
    const sums = new Array<number>(columns).fill(0);
    const counts = new Array<number>(columns).fill(0);
    for (const { tenant: of, submit, start } of jobs) {
      if (of !== tenant || start === null) continue;
      const column = Math.min(columns - 1, Math.max(0, Math.floor(((submit - from) / (to - from)) * columns)));
      sums[column] = (sums[column] ?? 0) + (start - submit) / 60;
      counts[column] = (counts[column] ?? 0) + 1;
    }
    return sums.map((sum, i) => sum / Math.max(1, counts[i] ?? 0));
  };
  const waitLines = tenants.map((name) => ({ name, values: waits(name) }));
  return [
    {
      title: "utilisation",
      unit: "of all nodes",
      from,
      to,
      top: 1,
      lines: [{ name: "all", values: held((i) => samples[i]?.utilisation ?? 0) }],
    },
    {
      title: "share",
      unit: "of all nodes",
      from,
      to,
      top: 1,
      lines: tenants.map((name) => ({ name, values: held((i) => samples[i]?.shares[name] ?? 0) })),
    },
    {
      title: "wait",
      unit: "minutes, by time of submission",
      from,
      to,
      top: Math.max(1, ...waitLines.flatMap(({ values }) => values)),
      lines: waitLines,
    },
  ];
}

/** Time-weighted means per column of a value that holds from one sample to the next. */
function heldOver(
  samples: Simulation["samples"],
  value: (index: number) => number,
  from: number,
  to: number,
  columns: number,
): readonly number[] {
  const width = (to - from) / columns;
  const sums = new Array<number>(columns).fill(0);
  for (let i = 0; i + 1 < samples.length; i++) {
    const [start, end] = [(samples[i]?.at ?? 0) - from, (samples[i + 1]?.at ?? 0) - from];
    for (let column = Math.floor(start / width); column < columns && column * width < end; column++) {
      const overlap = Math.min(end, (column + 1) * width) - Math.max(start, column * width);
      sums[column] = (sums[column] ?? 0) + value(i) * Math.max(0, overlap);
    }
  }
  return sums.map((sum) => sum / width);
}
