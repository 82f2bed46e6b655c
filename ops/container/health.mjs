// Ends with 0 when HEALTH_URL answers 200. It asks this very container, so whose certificate it is does not matter.
import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";

const url = new URL(process.env.HEALTH_URL ?? "https://127.0.0.1:8443/live");
const get = url.protocol === "https:" ? getHttps : getHttp;
const request = get(url, { rejectUnauthorized: false, timeout: 4000 }, (response) => {
  response.resume();
  process.exitCode = response.statusCode === 200 ? 0 : 1;
});
request.on("timeout", () => request.destroy(new Error("no answer")));
request.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
