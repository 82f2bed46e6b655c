import protoLoader from "@grpc/proto-loader";
import { CLUSTER_PROTO, STORAGE_PROTO } from "@seneschal/adapters/grpc-storage";
import type { Route } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import * as z from "zod";

/** A field of a message between nodes: its number and its type stay, its name is ours. */
interface NodeField {
  readonly number: number;
  readonly type: string;
  readonly label: string;
}

/** The shapes of what instances send each other. */
export interface Messages {
  /** By the operations that gateways of partners call: JSON Schema, without what is said to people. */
  readonly partners: Readonly<Record<string, { readonly route: string; readonly body: unknown; readonly reply: unknown }>>;
  /** Between the nodes of a storage cluster: fields by message and name. */
  readonly messages: Readonly<Record<string, Readonly<Record<string, NodeField>>>>;
  /** Their calls, by path: request and reply, `stream` before the one that is one. */
  readonly calls: Readonly<Record<string, string>>;
}

const said = new Set(["description", "title", "examples", "id", "$schema"]);

/** A schema without what is said to people; members that are named like those words stay. */
function bare(value: unknown, members = false): unknown {
  if (Array.isArray(value)) return value.map((item) => bare(item));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([word]) => members || !said.has(word));
  return Object.fromEntries(
    kept.map(([word, inner]) => [word, bare(inner, !members && (word === "properties" || word === "$defs"))]),
  );
}

const shapeOf = (schema: z.ZodType | undefined, io: "input" | "output"): unknown =>
  schema === undefined ? null : bare(z.toJSONSchema(schema, { io, unrepresentable: "any" }));

/** The shapes as they are today. */
export function messagesOfToday(): Messages {
  const partners = Object.entries(gatewayContract as Readonly<Record<string, Route>>)
    .filter(([, { action }]) => action === "federation:peer" || action === "message:deliver")
    .map(([id, { method, path, body, reply }]) => [
      id,
      { route: `${method} ${path}`, body: shapeOf(body, "input"), reply: shapeOf(reply as z.ZodType | undefined, "output") },
    ]);
  const messages: Record<string, Record<string, NodeField>> = {};
  const calls: Record<string, string> = {};
  for (const [name, found] of Object.entries(protoLoader.loadSync([STORAGE_PROTO, CLUSTER_PROTO], { keepCase: true }))) {
    if ("format" in found) {
      const { field } = found.type as { readonly field?: readonly Record<"name" | "type" | "label" | "typeName", string>[] };
      messages[name] = Object.fromEntries(
        (field ?? []).map((one) => [
          one.name,
          {
            number: Number((one as unknown as { number: number }).number),
            type: [one.type, one.typeName].filter((text) => text !== undefined && text !== "").join(" "),
            label: one.label,
          },
        ]),
      );
      continue;
    }
    for (const { path, requestType, responseType, requestStream, responseStream } of Object.values(found)) {
      const named = (type: unknown, stream: boolean) =>
        `${stream ? "stream " : ""}${(type as { type: { name: string } }).type.name}`;
      calls[path] = `${named(requestType, requestStream)} -> ${named(responseType, responseStream)}`;
    }
  }
  return { partners: Object.fromEntries(partners), messages, calls };
}
