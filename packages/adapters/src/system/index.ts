export { nextTurn } from "./next-turn.ts";
export { systemClock } from "./system-clock.ts";
export { systemRandom } from "./system-random.ts";
