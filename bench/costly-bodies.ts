import { bodyBounds, type Route } from "@seneschal/contract";
import { dearestBody } from "./dearest-body.ts";

/** Bodies that cost a route as much as its bounds allow, whatever it does with them: what its schema takes, and what is parsed before it is refused. None for a route without one. */
export function costlyBodies(route: Route): readonly (string | undefined)[] {
  const { bytes, values } = bodyBounds(route);
  if (route.consumes !== undefined) return ["x".repeat(bytes)];
  if (route.body === undefined) return [undefined];
  const most = Math.min(values, Math.floor(bytes / 2) - 8);
  const fits = (text: string): boolean => Buffer.byteLength(text) <= bytes && marks(text) <= values * (route.elements?.most ?? 1);
  const filled = (make: (share: number) => unknown): readonly string[] => {
    for (let share = 0.95; share > 0.0001; share *= 0.7) {
      const text = JSON.stringify(make(bytes * share));
      if (fits(text)) return [text];
    }
    return [];
  };
  const { body } = route;
  return [
    ...filled((size) => dearestBody(body, size)),
    ...filled((size) => spoilt(dearestBody(body, size))),
    `[${"1,".repeat(most - 2)}1]`,
    `{"text":"${"\\u0041".repeat(Math.floor(bytes / 6) - 8)}"}`,
    `[${" ".repeat(bytes - 4)}]`,
  ];
}

/** Separators and brackets outside of texts. */
function marks(text: string): number {
  return text.replace(/"(?:[^"\\]|\\.)*"/g, "").match(/[[{:,]/g)?.length ?? 0;
}

/** The same shape with everything in it wrong: as many complaints as there can be. */
function spoilt(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(spoilt);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries([...Object.entries(value).map(([key, child]) => [key, spoilt(child)]), ["unknown", 1]]);
  return typeof value === "string" ? 7 : "x";
}
