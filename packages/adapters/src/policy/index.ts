export { type EmbeddedPolicyOptions, embeddedPolicyEngine } from "./embedded.ts";
export { type MemoryPolicyOptions, memoryPolicyEngine } from "./memory.ts";
export { type OpaServerOptions, opaServerPolicyEngine } from "./opa-server.ts";
export { type OpaWasmOptions, opaBuild, opaWasmPolicyEngine } from "./opa-wasm.ts";
