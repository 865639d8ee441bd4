/**
 * Node tries the addresses of a name one after the other, and gives up each but the last after 250 ms. The last is
 * often IPv6, to which Lambda functions cannot connect. In 2 s, a host on another continent answers, even if the first
 * packet was lost.
 */
export const addressAttempts = { autoSelectFamilyAttemptTimeout: 2_000 } as const;
