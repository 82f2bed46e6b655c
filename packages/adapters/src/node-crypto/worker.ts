import { argon2id } from "hash-wasm";
import { serveTasks } from "../worker-pool/index.ts";
import type { Argon2Task } from "./argon2.ts";

serveTasks(({ password, salt, params: { time, memoryKiB, parallelism }, length }: Argon2Task) =>
  argon2id({ password, salt, parallelism, iterations: time, memorySize: memoryKiB, hashLength: length, outputType: "binary" }),
);
