export { type LocalRunner, type LocalRunnerOptions, localRunner, type RunnerLine } from "./local-runner.ts";
