export const limitClasses = ['read', 'write', 'expensive'] as const;
/** `expensive` calls cost far more than other reads and writes. */
export type LimitClass = (typeof limitClasses)[number];

export interface Work {
  readonly items: number;
  readonly events?: number;
}
