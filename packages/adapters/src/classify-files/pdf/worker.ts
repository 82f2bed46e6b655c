import { serveTasks, workerSettings } from "../../worker-pool/index.ts";
import { type PdfLimits, readPdf, remarksOf } from "./read-pdf.ts";

const limits = workerSettings<PdfLimits>();
const remarks = remarksOf(console);

serveTasks((bytes: Uint8Array) => readPdf(bytes, limits, remarks));
