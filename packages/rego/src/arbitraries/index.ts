/** What property tests of policies need: modules with an input, texts that are almost Rego, and documents. Needs fast-check. */
export { dataPaths, documents, slowWithValue } from "./documents.ts";
export { type GeneratedPolicy, policies } from "./policies.ts";
export {
  type GeneratedRow,
  type GeneratedRowPolicy,
  generatedRows,
  ROW_COLUMNS,
  rowJson,
  rowPolicies,
} from "./row-policies.ts";
export { damagedPolicies, tokenTexts } from "./texts.ts";
