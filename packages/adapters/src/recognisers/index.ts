export { type HttpRecogniserOptions, openHttpRecogniser } from "./open-http-recogniser.ts";
