export { type ModelReply, type ModelUpstream, type ModelUpstreamOptions, openModelUpstream } from "./open-model-upstream.ts";
export { serverSentEvents } from "./server-sent-events.ts";
