/** The longest delay that SQS allows for a message, in seconds. */
export const MAX_DELAY_SECONDS = 900;
