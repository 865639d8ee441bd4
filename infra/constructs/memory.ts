/** The default memory of a function behind the API in MB. Its decision has the arithmetic. */
export const API_MEMORY_MB = 1_024;

/** The memory of a worker in MB. Workers mostly wait for receivers and for the table. */
export const WORKER_MEMORY_MB = 512;
