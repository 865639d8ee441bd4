export const MAX_DELAY_SECONDS = 900;
