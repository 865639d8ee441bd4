/** An operator can withhold these features from an API key. */
export const features = ['advancedWebhooks'] as const;
export type Feature = (typeof features)[number];
