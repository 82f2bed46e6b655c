export { type HttpCase, httpCases, requestBytes } from "./http-cases.ts";
export { type HttpSuiteRunner, httpSuite, parseResponse, type RawResponse } from "./http-suite.ts";
export { sampleContract, sampleErrors, sampleService, unwatched } from "./sample-service.ts";
