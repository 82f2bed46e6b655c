/** What property tests of adapters and of the domain need: commits, index values, JSON, people, and inputs of the state machines. Needs fast-check. */

export { compareIndexKeys, compareIndexValues } from "../testing/compare-index-values.ts";
export { clusterCommands, joinOf } from "./cluster.ts";
export { jsonObjects } from "./json.ts";
export { emergencyInputs, people, workspaceInputs } from "./keys.ts";
export { commitHistory, indexValues } from "./store.ts";
