export { answer } from "./answer.ts";
export { type Listener, listener } from "./listen.ts";
