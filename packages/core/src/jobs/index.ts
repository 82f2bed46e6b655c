export { isOver, type Job, type JobEvent, type JobState, newJob, overStates, stepJob } from "./job.ts";
export { judgeLease, type LeaseJudgement, type LeaseMemory, type LeaseRecord } from "./lease.ts";
