import { checkArgument } from "@seneschal/kernel";
import { type Panel, panels } from "./series.ts";
import type { Simulation } from "./simulate.ts";

const WIDTH = 900;
const HEIGHT = 180;
const LEFT = 60;
const GAP = 60;
/** Okabe and Ito's colours: told apart by the colour-blind too. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#a8a800"];

/** Draws a simulation as a stand-alone SVG document: one panel each for utilisation, share and wait. */
export function plotSvg(simulation: Simulation, columns = 200): string {
  checkArgument("simulation", simulation, "object");
  const drawn = panels(simulation, columns);
  const height = drawn.length * (HEIGHT + GAP) + GAP;
  const body = drawn.map((panel, i) => draw(panel, GAP + i * (HEIGHT + GAP))).join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH + LEFT + 160} ${height}" font-family="sans-serif" font-size="12" role="img" aria-label="utilisation, share and wait of a simulated workload">
<rect width="100%" height="100%" fill="#ffffff"/>
${body}
</svg>
`;
}

function draw({ title, unit, from, to, top, lines }: Panel, y: number): string {
  const parts = [
    `<text x="${LEFT}" y="${y - 10}" font-weight="bold">${escaped(title)} (${escaped(unit)})</text>`,
    `<rect x="${LEFT}" y="${y}" width="${WIDTH}" height="${HEIGHT}" fill="none" stroke="#888888"/>`,
    `<text x="${LEFT - 6}" y="${y + 10}" text-anchor="end">${label(top)}</text>`,
    `<text x="${LEFT - 6}" y="${y + HEIGHT}" text-anchor="end">0</text>`,
    `<text x="${LEFT}" y="${y + HEIGHT + 16}">${label(from / 3600)} h</text>`,
    `<text x="${LEFT + WIDTH}" y="${y + HEIGHT + 16}" text-anchor="end">${label(to / 3600)} h</text>`,
  ];
  for (const [i, { name, values }] of lines.entries()) {
    const colour = COLOURS[i % COLOURS.length];
    const points = values.map((value, column) => {
      const x = LEFT + ((column + 0.5) / values.length) * WIDTH;
      const height = Math.min(1, Math.max(0, value / top)) * HEIGHT;
      return `${x.toFixed(1)},${(y + HEIGHT - height).toFixed(1)}`;
    });
    parts.push(`<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="1.5"/>`);
    if (i < 10) parts.push(`<text x="${LEFT + WIDTH + 10}" y="${y + 12 + i * 16}" fill="${colour}">${escaped(name)}</text>`);
  }
  return parts.join("\n");
}

function label(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}
