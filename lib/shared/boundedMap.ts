/** A set moves an entry to the end. If the map has more than `most` entries, it drops the first one. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    const [first] = this.keys();
    if (this.size > this.#most) this.delete(first as K);
    return this;
  }
}
