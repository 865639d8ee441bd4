/**
 * The options of connections to hosts that can be far away. Node tries the addresses of a name one after the other, and
 * by default gives up each but the last after 250 ms. A host on another continent needs longer to answer. The last
 * address is often an IPv6 address, to which Lambda functions cannot connect. In 2 s, a host can also answer if the first
 * packet was lost.
 */
export const addressAttempts = { autoSelectFamilyAttemptTimeout: 2_000 } as const;
