/** The builtins that need nothing but this package and its hashes. */
export { awsBuiltins } from "./aws.ts";
export { collectionBuiltins } from "./collections.ts";
export { coreBuiltins } from "./core.ts";
export { documentBuiltins } from "./documents.ts";
export { encodingBuiltins } from "./encoding.ts";
export { globBuiltins } from "./glob.ts";
export { hashBuiltins } from "./hashes.ts";
export { miscBuiltins } from "./misc.ts";
export { networkBuiltins } from "./network.ts";
export { specialBuiltins } from "./special.ts";
export { stringBuiltins } from "./strings.ts";
export { timeBuiltins } from "./time.ts";
