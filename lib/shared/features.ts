/** An operator can withhold these from an API key. */
export const features = ['advancedWebhooks'] as const;
export type Feature = (typeof features)[number];
