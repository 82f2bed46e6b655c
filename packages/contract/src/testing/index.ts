export { type HttpCase, httpCases, requestBytes } from "./http-cases.ts";
export { type HttpSuiteRunner, httpSuite, parseResponse, type RawResponse } from "./http-suite.ts";
export { sampleContract, sampleErrors, sampleService } from "./sample-service.ts";
