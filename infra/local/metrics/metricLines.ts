const NEWLINE = 0x0a;
const MARK = '"_aws"';
/** CloudWatch takes no longer events. */
const MOST_BYTES = 1024 * 1024;

/**
 * Finds the metrics in what a function writes: lines of JSON in CloudWatch's embedded metric format. Chunks may end anywhere in a
 * line. Nearly everything written is something else, so only lines that can hold metrics are parsed.
 */
export class MetricLines {
  readonly #take: (line: Readonly<Record<string, unknown>>) => void;
  #rest = Buffer.alloc(0);

  constructor(take: (line: Readonly<Record<string, unknown>>) => void) {
    this.#take = take;
  }

  write(chunk: Buffer): void {
    if (this.#rest.length === 0 && chunk.at(-1) === NEWLINE && !chunk.includes(MARK)) return;
    const text = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, start)) {
      this.#look(text.subarray(start, end));
      start = end + 1;
    }
    const rest = text.subarray(start);
    this.#rest = rest.length > MOST_BYTES ? Buffer.alloc(0) : Buffer.from(rest);
  }

  #look(line: Buffer): void {
    if (!line.includes(MARK)) return;
    let value: unknown;
    try {
      value = JSON.parse(line.toString());
    } catch {
      // A text that only mentions it.
      return;
    }
    if (typeof value === 'object' && value !== null && '_aws' in value) this.#take(value as Record<string, unknown>);
  }
}
