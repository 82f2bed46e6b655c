import type { Command, CommandKind } from "../command.ts";
import { type Rejection, reject } from "../errors.ts";

/** What a part of a command must be for its handler to read it: text, a number, a list whose items have a shape, an object with members. */
type Shape = "text" | "number" | readonly [Shape] | { readonly [member: string]: Shape };

const SHAPES: Readonly<Record<CommandKind, Shape>> = {
  "tenant.create": { tenant: "text", settings: {} },
  "tenant.update": { tenant: "text", settings: {} },
  "tenant.delete": { tenant: "text" },
  "system.update": {},
  "node.register": { node: "text", inventory: { group: "text", datasets: ["text"] } },
  "node.operate": { node: "text", verb: "text" },
  "node.heartbeats": { beats: [{ 0: "text", 1: "number" }] },
  "node.claim": { node: "text", tenant: "text" },
  "node.release": { node: "text" },
  "allocation.submit": {
    allocation: "text",
    request: {
      tenant: "text",
      user: "text",
      vcluster: "text",
      entrypoint: "text",
      nodes: "number",
      datasets: ["text"],
      labels: {},
    },
  },
  "allocation.assign": { allocation: "text", nodes: ["text"], to: "text", expected: {} },
  "allocation.scale": { allocation: "text", nodes: "number" },
  "allocation.grow": { allocation: "text", nodes: ["text"], expected: {} },
  "allocation.move": { allocation: "text", to: "text" },
  "allocation.reasons": { reasons: [{ 0: "text" }] },
  "allocation.preempt": { victims: [{ allocation: "text", version: "number" }], for: "text" },
  "allocation.prune": { allocations: ["text"] },
  "budget.record": { crossings: [{ tenant: "text", metric: "text", level: "text" }] },
  "event.delivered": { through: "number" },
  "accounting.record": { answers: [{ tenant: "text" }] },
  "audit.archive": { through: "number" },
  "answer.keep": { answer: {} },
  "state.restore": { backup: "text", part: "number", parts: "number", text: "text" },
};

/** Refuses a command that lacks a part, as only a damaged or foreign log entry does: every replica refuses it alike. */
export function checkShape(command: Command): Rejection | undefined {
  if (!Object.hasOwn(SHAPES, command.kind)) return undefined;
  const wrong = wrongPart(command, SHAPES[command.kind], "");
  return wrong === undefined ? undefined : reject("invalid_argument", `the command has no ${wrong}`, { part: wrong });
}

function wrongPart(value: unknown, shape: Shape, name: string): string | undefined {
  if (shape === "text") return typeof value === "string" ? undefined : name;
  if (shape === "number") return typeof value === "number" ? undefined : name;
  if (typeof value !== "object" || value === null) return name;
  if (isList(shape)) {
    if (!Array.isArray(value)) return name;
    for (let i = 0; i < value.length; i++) {
      const wrong = wrongPart(value[i], shape[0], `${name}[${i}]`);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }
  for (const member in shape) {
    const part = (value as Readonly<Record<string, unknown>>)[member];
    const wrong = wrongPart(part, shape[member] as Shape, name === "" ? member : `${name}.${member}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function isList(shape: Exclude<Shape, string>): shape is readonly [Shape] {
  return Array.isArray(shape);
}
