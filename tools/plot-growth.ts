/**
 * `npm run plot-growth`: draws docs/growth.svg, the time of all recognisers together over hostile texts of 16 KB to 1 MB, and prints the exponent of every recogniser
 * with the text that is worst for it. Ends with 1 when one is steeper than 1.2.
 */
import { writeFileSync } from "node:fs";
import { DEFAULT_RECOGNISERS } from "@seneschal/governance";
import { ATTACKS, attack, curve, exponentOf, type Point, spent } from "../bench/growth.ts";

const KB = 1024;
const SIZES = [16, 32, 64, 128, 256, 512, 1024].map((kb) => kb * KB);
const STEEPEST = 1.2;

const together = ATTACKS.map(([name, unit]) => ({ name, points: curve(DEFAULT_RECOGNISERS, unit, SIZES) }));
writeFileSync(new URL("../docs/growth.svg", import.meta.url), draw(together));
for (const { name, points } of together) {
  const [last] = points.slice(-1);
  console.log(`${name.padEnd(20)} 1 MB ${last?.ms.toFixed(0).padStart(5)} ms, exponent ${exponentOf(points)?.toFixed(2)}`);
}

let steep = 0;
/** Folding a text is part of every search: measured above, and no work of a recogniser. */
const folding = new Map(ATTACKS.map(([, unit]) => [unit, spent([], attack(unit, KB * KB))]));
for (const recogniser of DEFAULT_RECOGNISERS) {
  const { entity, country, patterns } = recogniser;
  const kind = `${entity}${country === undefined ? "" : ` (${country})`}: ${patterns[0]?.name}`;
  // Alone and under a hint at its context, so that none is left out for want of a word.
  const alone = [{ ...recogniser, onlyKnown: false }];
  const slow = ATTACKS.filter(([, unit]) => {
    const folded = folding.get(unit) ?? 0;
    return spent(alone, attack(unit, KB * KB)) - folded >= Math.max(8, folded / 2);
  });
  const told = slow.flatMap(([name, unit]) => {
    const points = leastSteep(() => curve(alone, unit, SIZES.slice(-4)));
    const exponent = exponentOf(points);
    return exponent === undefined ? [] : [{ name, exponent, ms: points.at(-1)?.ms ?? 0 }];
  });
  const worst = told.reduce((a, b) => (b.exponent > a.exponent ? b : a), { name: "no text over 8 ms", exponent: 1, ms: 0 });
  if (worst.exponent > STEEPEST) steep++;
  console.log(`${kind.padEnd(56)} exponent ${worst.exponent.toFixed(2)}, 1 MB ${worst.ms.toFixed(0)} ms (${worst.name})`);
}
console.log(`${DEFAULT_RECOGNISERS.length} recognisers, ${steep} steeper than ${STEEPEST}`);
process.exitCode = steep > 0 ? 1 : 0;

/** Measures a curve that is too steep twice more: what else the machine does bends one run, not three. */
function leastSteep(measure: () => Point[]): Point[] {
  const steepness = (points: Point[]): number => exponentOf(points) ?? 1;
  let best = measure();
  for (let again = 0; again < 2 && steepness(best) > STEEPEST; again++) {
    const points = measure();
    if (steepness(points) < steepness(best)) best = points;
  }
  return best;
}

/** A log-log plot of the curves with the slope of linear growth beside them. */
function draw(curves: readonly { readonly name: string; readonly points: readonly Point[] }[]): string {
  const [width, height, left, bottom] = [720, 420, 60, 380];
  const most = Math.max(...curves.flatMap(({ points }) => points.map(({ ms }) => ms)));
  const decades = Math.ceil(Math.log10(most));
  const x = (size: number) => left + ((Math.log2(size) - 14) / 6) * 440;
  const y = (ms: number) => bottom - (Math.log10(Math.max(ms, 0.1)) + 1) * (340 / (decades + 1));
  const line = (points: readonly Point[]) => points.map(({ size, ms }) => `${x(size).toFixed(1)},${y(ms).toFixed(1)}`).join(" ");
  const grid = Array.from({ length: decades + 2 }, (_, i) => 10 ** (i - 1));
  const first = SIZES[0] ?? 1;
  const linear = SIZES.map((size) => ({ size, ms: size / first }));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    "<title>Time of all recognisers over the size of hostile texts</title>",
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...grid.map((ms) => `<path d="M${left} ${y(ms)}H500" stroke="#ddd"/><text x="4" y="${y(ms) + 4}">${ms} ms</text>`),
    ...SIZES.map((size) => `<text x="${x(size) - 14}" y="${bottom + 18}">${size / KB} KB</text>`),
    `<polyline points="${line(linear)}" fill="none" stroke="#999" stroke-dasharray="6 4"/>`,
    ...curves.map(({ name, points }, i) => {
      const colour = `hsl(${Math.round((i * 360) / curves.length)} 70% 40%)`;
      const label = `<text x="515" y="${40 + i * 18}" fill="${colour}">${name}, exponent ${exponentOf(points)?.toFixed(2) ?? "-"}</text>`;
      return `<polyline points="${line(points)}" fill="none" stroke="${colour}" stroke-width="1.5"/>${label}`;
    }),
    `<text x="515" y="${46 + curves.length * 18}" fill="#666">dashed: linear growth</text>`,
    "</svg>",
    "",
  ].join("\n");
}
