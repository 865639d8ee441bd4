/** The longest delay of an SQS message. */
export const LONGEST_DELAY_SECONDS = 900;
