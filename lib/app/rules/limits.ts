export const limitClasses = ['read', 'write', 'expensive'] as const;
export type LimitClass = (typeof limitClasses)[number];

export interface Work {
  readonly items: number;
  readonly events?: number;
}
