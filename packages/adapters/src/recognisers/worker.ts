import { serveTasks, workerSettings } from "../worker-pool/index.ts";
import { openTokenClassifier, type TokenClassifierFiles } from "./token-classifier.ts";

const classify = await openTokenClassifier(workerSettings<TokenClassifierFiles>());

serveTasks((text: string) => classify(text));
