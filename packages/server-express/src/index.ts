export { middleware, serve } from "./serve.ts";
