/** The longest delay that SQS allows for a message. */
export const LONGEST_DELAY_SECONDS = 900;
