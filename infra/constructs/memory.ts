export const API_MEMORY_MB = 1_024;

/** Workers mostly wait for other services, so they need less CPU than endpoints. */
export const WORKER_MEMORY_MB = 512;
