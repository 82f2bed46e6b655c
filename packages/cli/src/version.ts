/** The version that the services report. */
export const version = "0.0.0";
