export { type HttpRecogniserOptions, openHttpRecogniser } from "./open-http-recogniser.ts";
export { type OnnxRecogniserOptions, openOnnxRecogniser, type RecogniserErrorCode } from "./open-onnx-recogniser.ts";
export type { TokenClassifierFiles } from "./token-classifier.ts";
