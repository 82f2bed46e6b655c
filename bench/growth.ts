/** How the time of recognisers grows with hostile texts. */
import { type Recogniser, recognise } from "@seneschal/governance";

/** Texts made to keep patterns busy: starts of many shapes that never end well. */
export const ATTACKS: readonly (readonly [name: string, unit: string])[] = [
  ["digits", "1"],
  ["letters", "a"],
  ["capitals", "A"],
  ["capitals and digits", "A1"],
  ["dots", "a."],
  ["at signs", "a@"],
  ["long labels", `${"a".repeat(63)}.`],
  ["colons", "1:"],
  ["hyphens", "12-"],
  ["card groups", "4111 1111 "],
  ["token starts", "eyJhbGciOiJ.eyJ"],
  ["key begins", "-----BEGIN A PRIVATE KEY-----"],
  ["address starts", "https://a:b@a."],
  ["passwords", "password: "],
  ["command lines", "mysql curl -u a:b -p "],
  ["addresses beyond ASCII", "\u00e9@\u00e9."],
  ["streets", "12 Rue de Aa Street via "],
  ["passports", "passport AB1234567"],
  ["mixed", "DE12 3456 a@b.co 1.2.3.4 +49 30 "],
];

/** One text size in UTF-16 units, and the milliseconds of processor time that it took. */
export interface Point {
  readonly size: number;
  readonly ms: number;
}

/** The text of a size that repeats a unit. */
export function attack(unit: string, size: number): string {
  return unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
}

/** Processor time of some work, milliseconds: what other processes take does not count. Only the sum is exact: Linux splits it by what it meets at its ticks. */
export function processorTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Processor time of one search, milliseconds. */
export function spent(recognisers: readonly Recogniser[], text: string): number {
  return processorTime(() => recognise(text, recognisers));
}

const ROUNDS = 6;

/**
 * Times of a unit at each size, each the least of some rounds: a slow moment of the machine meets all sizes of a round, and the others tell. Before them a run of the
 * largest warms up: code that is compiled on the way would bend the curve.
 */
export function curve(recognisers: readonly Recogniser[], unit: string, sizes: readonly number[]): Point[] {
  spent(recognisers, attack(unit, sizes.at(-1) ?? 0));
  const points = sizes.map((size) => ({ size, ms: Number.POSITIVE_INFINITY }));
  for (let round = 0; round < ROUNDS; round++)
    for (const point of points) point.ms = Math.min(point.ms, spent(recognisers, attack(unit, point.size)));
  return points;
}

/** Slope of the line through the points of a log-log plot (least squares): 1 is linear, 2 quadratic. Points under two milliseconds tell nothing. */
export function exponentOf(points: readonly Point[]): number | undefined {
  const told = points.filter(({ ms }) => ms >= 2).map(({ size, ms }) => [Math.log(size), Math.log(ms)] as const);
  if (told.length < 3) return undefined;
  const mean = (of: (point: readonly [number, number]) => number) =>
    told.reduce((sum, point) => sum + of(point), 0) / told.length;
  const [x, y] = [mean((p) => p[0]), mean((p) => p[1])];
  return mean((p) => (p[0] - x) * (p[1] - y)) / mean((p) => (p[0] - x) ** 2);
}
