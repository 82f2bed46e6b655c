/** What property tests of adapters need: commits, index values and JSON, with the order that a store must keep. Needs fast-check. */

export { compareIndexKeys, compareIndexValues } from "../testing/compare-index-values.ts";
export { jsonObjects } from "./json.ts";
export { commitHistory, indexValues } from "./store.ts";
