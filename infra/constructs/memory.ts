export const API_MEMORY_MB = 1_024;

/** Workers mostly wait for receivers and for the table. */
export const WORKER_MEMORY_MB = 512;
