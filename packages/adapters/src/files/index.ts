export { diskOf, type FileAside, fileStamp, listFiles, makeDirectory, readBytes, readText, roomAt, writeAside } from "./files.ts";
