export { type AssetReply, type AssetSource, type Assets, openAssets } from "./open-assets.ts";
