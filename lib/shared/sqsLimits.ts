/** The longest that SQS hides a message when it is sent; what is due later has to wait elsewhere. */
export const LONGEST_DELAY_SECONDS = 900;
