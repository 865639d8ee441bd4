/** A position in a listing that goes both ways, and which way it is read from there. */
export interface ListPosition {
  readonly direction: 'after' | 'before';
  /** A sort key; what is read does not contain it. */
  readonly key: string;
}
