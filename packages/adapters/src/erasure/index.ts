export { createReedSolomon, type ReedSolomon } from "./reed-solomon.ts";
