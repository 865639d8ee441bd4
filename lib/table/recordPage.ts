/** `key` is the sort key. If a page ends with this record, the next page starts after the key. */
export interface ListedRecord<V> {
  readonly key: string;
  readonly value: V;
}

/** A page of matching records. It can be empty although more pages follow. */
export interface RecordPage<V> {
  readonly records: readonly ListedRecord<V>[];
  /** The sort key after which the next page starts. Undefined on the last page. */
  readonly next: string | undefined;
  readonly bytes: number;
}
