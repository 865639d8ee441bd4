/** The longest delay that SQS allows for a message. */
export const MAX_DELAY_SECONDS = 900;
