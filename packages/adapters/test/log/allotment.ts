import { createHash } from "node:crypto";
import type { Json } from "@seneschal/kernel";
import { type Machine, rememberCommands } from "@seneschal/kernel/log";

/** A hard quota in small: tenants take and give back parts of their limit. */
export interface AllotmentState {
  readonly limit: number;
  readonly used: Readonly<Record<string, number>>;
}

export type AllotmentCommand =
  | { readonly id: string; readonly kind: "take"; readonly tenant: string; readonly amount: number }
  | { readonly id: string; readonly kind: "give"; readonly tenant: string; readonly amount: number }
  | { readonly id: string; readonly kind: "limit"; readonly limit: number };

export const bareAllotment: Machine<AllotmentState, AllotmentCommand, Json> = {
  initial: { limit: 10, used: {} },
  apply(state, command) {
    switch (command.kind) {
      case "limit":
        return { state: { ...state, limit: command.limit }, result: "ok" };
      case "give":
      case "take": {
        const current = state.used[command.tenant] ?? 0;
        const next = current + (command.kind === "take" ? command.amount : -command.amount);
        if (next < 0) return { state, result: `rejected: ${current} held` };
        if (command.kind === "take" && next > state.limit)
          return { state, result: `rejected: current ${current} requested ${command.amount} limit ${state.limit}` };
        return { state: { ...state, used: { ...state.used, [command.tenant]: next } }, result: "ok" };
      }
      default:
        throw new Error(`unknown command ${JSON.stringify(command satisfies never)}`);
    }
  },
  encode: (state) => [Buffer.from(JSON.stringify(state))],
  decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as AllotmentState,
  hash: (state) =>
    createHash("sha256")
      .update(JSON.stringify([state.limit, Object.entries(state.used).sort()]))
      .digest("hex"),
};

export const allotment = rememberCommands(bareAllotment);

export const take = (id: string, tenant: string, amount: number): AllotmentCommand => ({ id, kind: "take", tenant, amount });
export const give = (id: string, tenant: string, amount: number): AllotmentCommand => ({ id, kind: "give", tenant, amount });
