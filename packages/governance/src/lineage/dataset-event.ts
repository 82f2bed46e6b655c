import { checkOptions } from "@seneschal/kernel";
import { facetsOf, SPEC } from "./lineage-run.ts";

/** What happened to a data set, without any job. */
export interface DatasetChange {
  /** URI of the program that tells. */
  readonly producer: string;
  readonly namespace: string;
  readonly name: string;
  readonly change: "CREATE" | "ALTER" | "DROP";
  /** What it has from now on. */
  readonly fields: readonly { readonly name: string; readonly type?: string }[];
}

/**
 * An OpenLineage DatasetEvent, valid under 2-0-2, of a data set that came, changed its columns or went. `time` is in milliseconds.
 *
 * @example
 * ```ts
 * import { datasetEvent } from "@seneschal/governance";
 * const table = { namespace: "postgres://db:5432", name: "shop.public.orders", fields: [{ name: "id", type: "bigint" }] };
 * const event = datasetEvent({ producer: "https://example.com/scan", change: "CREATE", ...table }, Date.UTC(2026, 0, 1));
 * console.log(event.dataset.name, event.eventTime); // shop.public.orders 2026-01-01T00:00:00.000Z
 * ```
 */
export function datasetEvent(given: DatasetChange, time: number) {
  checkOptions("given", given, {
    producer: "string",
    namespace: "string",
    name: "string",
    change: ["CREATE", "ALTER", "DROP"],
    fields: "array",
  });
  const { producer, namespace, name, change, fields } = given;
  const facet = facetsOf(producer);
  return {
    eventTime: new Date(time).toISOString(),
    producer,
    schemaURL: `${SPEC}/2-0-2/OpenLineage.json#/$defs/DatasetEvent`,
    dataset: {
      namespace,
      name,
      facets: {
        schema: facet("1-2-0/SchemaDatasetFacet.json", { fields: fields.map((field) => ({ ...field })) }),
        lifecycleStateChange: facet("1-0-1/LifecycleStateChangeDatasetFacet.json", { lifecycleStateChange: change }),
      },
    },
  };
}
