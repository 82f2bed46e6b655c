export { plugin, serve } from "./serve.ts";
