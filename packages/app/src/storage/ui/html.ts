import { escapeHtml } from "@seneschal/kernel";

/** Markup that is safe to send. Only {@link html} makes it. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | readonly Html[];

/** A template whose values are escaped, unless they are {@link Html} themselves. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(strings.map((s, i) => s + (i < values.length ? render(values[i]) : "")).join(""));
}

function render(value: Part): string {
  if (value === undefined) return "";
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map((v: Html) => v.text).join("");
  return escapeHtml(String(value));
}

/** Bytes for people: `1.5 GiB`. */
export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
