import type { DataSource } from "@seneschal/adapters/sources";
import type { SampledColumn } from "@seneschal/governance";
import { CodedError } from "@seneschal/kernel";

/** A source in memory; `fails` of a table or of the whole is why it cannot be read. */
export function memorySource() {
  const tables = new Map<string, { columns: readonly SampledColumn[]; fails?: unknown; revision?: string }>();
  const state = {
    fails: undefined as string | undefined,
    opened: 0,
    closed: 0,
    sampled: 0,
    held: undefined as Promise<void> | undefined,
    /** Whether it still answers, once a table failed. */
    answers: true,
  };
  const open = async (): Promise<DataSource> => {
    state.opened++;
    return {
      namespace: "postgres://db:5432",
      async probe() {
        if (!state.answers) throw new CodedError("source_unavailable", "no connection");
      },
      async list() {
        if (state.fails !== undefined) throw new CodedError("source_unavailable", state.fails);
        const assets = [...tables].map(([name, { revision }]) => ({
          name: `shop.public.${name}`,
          kind: "table" as const,
          ...(revision === undefined ? {} : { revision }),
        }));
        return { assets, skipped: 0, truncated: false };
      },
      async sample({ name }) {
        await state.held;
        state.sampled++;
        const table = tables.get(name.split(".").at(-1) ?? "");
        if (typeof table?.fails === "string") throw new CodedError("asset_unreadable", table.fails);
        if (table?.fails !== undefined) throw table.fails;
        return table?.columns ?? [];
      },
      async close() {
        state.closed++;
      },
    };
  };
  return { tables, state, open };
}

export const column = (name: string, type: string, ...values: readonly string[]) => ({ name, type, values });
