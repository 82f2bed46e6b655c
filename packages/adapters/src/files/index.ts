export { diskOf, type FileAside, fileStamp, listFiles, makeDirectory, readBytes, readText, writeAside } from "./files.ts";
