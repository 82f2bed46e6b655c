import { serveTasks } from "@seneschal/adapters/worker-pool";
import { doChunkTask } from "./chunk-work.ts";

serveTasks(doChunkTask);
